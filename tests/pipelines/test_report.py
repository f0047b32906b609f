"""`python -m pipelines.report`: one page about a run, and what changed since the last one of its game."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from artifacts.bundle import open_bundle
from pipelines import report
from pipelines.config.composition import compose_config
from pipelines.config.schema import Config
from pipelines.reports.page import page, table
from pipelines.reports.run_page import RunPictures, run_page
from pipelines.run.errors import UserError
from pipelines.run.recorded_runs import Measured, RunRow, find_run, previous_run
from pipelines.run.tracking import Tracker


def row(run_id: str, started: str, **changes: object) -> RunRow:
    values: dict = {
        "run_id": run_id,
        "name": f"fast-{run_id}",
        "started": started,
        "status": "FINISHED",
        "preset": "fast",
        "game": "hu25-1",
        "tier": "real",
        "exploitability_raw": 300.0,
        "exploitability_cleaned": 301.0,
        "core_hours": 0.5,
        "peak_memory_bytes": 2.0**30,
        "bucket_sd": (0.01, 0.02, 0.03),
        "settings": {"seed": "1", "cluster.num_cpus": "2"},
        "figures": {"exploitability_raw": 300.0, "loss_flop": 120.0},
    }
    return RunRow(**values | changes)


def test_a_page_shows_what_is_known_and_what_changed() -> None:
    before = row("aaaa1111", "2026-01-01 10:00", settings={"seed": "7", "cluster.num_cpus": "8"})
    now = row(
        "bbbb2222",
        "2026-01-02 10:00",
        figures={"exploitability_raw": 280.0, "loss_flop": 120.0},
        resolved={"turn on small": 90.0},
        lbr={"fcpa on turn,river": Measured(150.0, 100.0, 200.0, 5000)},
        matches={"against always-call": Measured(2000.0, 1900.0, 2100.0, 400)},
    )
    text = run_page(now, before, RunPictures(None, {}))
    for words in (
        "re-solved from the turn on small",
        "fcpa on turn,river",
        "100.0 to 200.0",
        "against always-call",
        "a lower bound of exploitability",
        "<td>seed</td><td>7</td><td>1</td>",
        "<td>exploitability_raw</td><td>300</td><td>280</td><td>-20</td>",
        "0.010/0.020/0.030",
    ):
        assert words.lower() in text.lower()
    # How many cores a run had changes nothing in what it computed, and equal figures are no news.
    assert "<td>cluster.num_cpus</td><td>8</td>" not in text
    assert "<td>loss_flop</td>" not in text
    assert "first finished run" in run_page(now, None, RunPictures(None, {}))


def test_a_page_of_three_seats_shows_what_a_responder_gains_in_each() -> None:
    gains = {"gain_SB": 40.0, "gain_SB_low": 30.0, "gain_SB_high": 50.0, "gain_BTN": 20.0}
    now = row("cccc3333", "2026-01-02 10:00", exploitability_raw=None, gain_mean=30.0, figures=gains)
    text = run_page(now, None, RunPictures(None, {}))
    assert "a responder gains, mean of the seats" in text
    assert "40.0 (30.0 to 50.0)" in text
    assert text.index("gain in seat SB") < text.index("gain in seat BTN")
    assert "exploitability, mbb/hand" not in text


def test_runs_are_found_by_id_name_bundle_and_last() -> None:
    rows = [row("aaaa1111", "2026-01-01 10:00", bundle="export-k"), row("bbbb2222", "2026-01-02 10:00")]
    assert find_run(rows, "aaaa") is rows[0]
    assert find_run(rows, "fast-bbbb2222") is rows[1]
    assert find_run(rows, "export-k") is rows[0]
    assert find_run(rows, "last") is rows[1]
    for name in ("aaa", "cccc", ""):
        with pytest.raises(UserError, match="is not recorded; accepted: last, an id"):
            find_run(rows, name)


def test_the_last_run_is_of_the_same_game_and_tier_and_finished() -> None:
    now = row("f", "2026-01-05 10:00")
    others = [
        row("a", "2026-01-01 10:00"),
        row("b", "2026-01-02 10:00"),
        row("c", "2026-01-03 10:00", status="FAILED"),
        row("d", "2026-01-03 10:00", tier="small"),
        row("e", "2026-01-04 10:00", game="hu100-2"),
        row("g", "2026-01-06 10:00"),
    ]
    found = previous_run([*others, now], now)
    assert found is not None
    assert found.run_id == "b"
    assert previous_run([now], now) is None


def test_nothing_in_a_page_can_break_out_of_its_place() -> None:
    assert "<b>" not in table(("a",), [("<b>",)])
    text = page("<script>", "", data={"x": "</script><b>"}, script="0")
    assert text.count("</script>") == 1
    assert "<title>&lt;script&gt;</title>" in text


@pytest.fixture(scope="module")
def recorded(exported: Path, tmp_path_factory: pytest.TempPathFactory) -> Config:
    """A store with the tiny bundle, and a record of the run that made it."""
    store = tmp_path_factory.mktemp("report") / "store"
    store.mkdir()
    (store / exported.name).symlink_to(exported)
    config = compose_config([f"store.root={store}", "cluster=inprocess"])
    tracker = Tracker(config.tracking, store / ".tracking", print)
    tracker.start("fast-tiny", {"preset": "fast", "key.export": open_bundle(exported).key}, {"seed": 3})
    tracker.series({5: {"exploitability": 900.0}, 9: {"exploitability": 800.0, "training_core_hours": 0.1}})
    tracker.metrics({"exploitability_raw": 812.5})
    tracker.finish("FINISHED")
    tracker.close()
    return config


def test_a_report_is_one_file_with_curve_and_charts_and_stands_among_the_artifacts(
    recorded: Config,
) -> None:
    store = Path(recorded.store.root)
    path = report.write_report("last", recorded, None)
    assert path.parent == store / "reports"
    text = path.read_text()
    assert text.count("data:image/png;base64,") > 4
    assert 'alt="exploitability while training"' in text
    assert "812.5" in text
    assert not re.search(r"(src|href)=.?(http|//)", text)
    copies = list(store.rglob(f"artifacts/{report.ARTIFACT}"))
    assert [copy.read_text() for copy in copies] == [text]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["out=x.html"], "run: give one run"),
        (["last", "other"], "run: give one run"),
        (["last", "out=nowhere/x.html"], "out: the folder of nowhere/x.html does not exist"),
        (["nobody"], "run: 'nobody' is not recorded; accepted: last, an id"),
    ],
)
def test_bad_requests_are_refused_in_one_line(
    recorded: Config, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.setattr("sys.argv", ["report", *arguments, f"store.root={recorded.store.root}"])
    with pytest.raises(UserError) as error:
        report.main()
    assert message in str(error.value)
