"""`poker-solver chart | lines | range | diff` on a tiny exported blueprint, as a person types them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import rc_context
from omegaconf import OmegaConf
from typer.testing import CliRunner

from abstractions.cards import CLASS_NAMES, CLASS_OF_COMBO, COMBO_CARDS, parse_combo
from abstractions.ranges import class_weights, parse_range
from artifacts import BlueprintBundle, open_blueprint
from artifacts.bundle_store import BundleStore
from pipelines.commands.chart_rows import NET, _errors
from pipelines.config.named_games import named_games
from pipelines.figures.charts import DASH
from pipelines.poker_solver import app
from pipelines.run.bundle_source import RunNote, note_run, source_of
from pipelines.run.errors import UserError
from solver.betting.lines import without_prefix

FLOP = "QsJh2h"
#: The small blind faces a raise all-in here; it always folds 72o and always raises AA first in.
LINE = "b250A"


@pytest.fixture(scope="module")
def bundle(exported: Path) -> BlueprintBundle:
    return open_blueprint(exported)


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None:
        raise done.exception
    return done.stdout


def test_a_chart_names_what_each_hand_does_most(exported: Path) -> None:
    text = run("chart", exported)
    assert "first in: sb to act" in text
    assert "AA r100" in text
    assert "72of100" in text
    assert "r = open 250" in text


def test_off_path_hands_are_dashed_with_the_reason_below(exported: Path, bundle: BlueprintBundle) -> None:
    text = run("chart", exported, LINE)
    assert f"72o {DASH}" in text
    legend = next(
        line for line in text.splitlines() if line.startswith(f"{DASH} folded earlier on this line")
    )
    named = class_weights(parse_range(legend.rpartition(": ")[2]))
    assert named.tolist() == [float(reason == "folded") for reason in bundle.preflop(LINE).reasons]
    assert named[CLASS_NAMES.index("72o")] == 1
    assert DASH not in run("chart", exported, LINE, "--raw")


def test_chart_data_are_the_cleaned_rows_or_the_raw_ones(exported: Path, bundle: BlueprintBundle) -> None:
    for flags, clean in (([], True), (["--raw"], False)):
        data = json.loads(run("chart", exported, f"||p|{LINE}", "--json", *flags))
        table = bundle.strategy_table(clean=clean)[f"||p|{LINE}"]
        assert {hand: row["strategy"] for hand, row in data["hands"].items()} == table
        assert data["hands"]["72o"]["reason"] == "folded"
        assert data["hands"]["72o"]["reach"] == 0
        assert data["player"] == "sb"


def test_a_chart_is_written_as_picture_and_page(exported: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("chart.png", "chart.svg", "chart.html")]
    text = run("chart", exported, LINE, *(part for file in files for part in (f"--{file.suffix[1:]}", file)))
    assert all(f"written: {file}" in text for file in files)
    assert files[0].read_bytes().startswith(b"\x89PNG")
    assert "<svg" in files[1].read_text()
    page = files[2].read_text(encoding="utf-8")
    assert f'title="72o {DASH} not in range on this line (folded earlier on this line)"' in page
    assert page.count("<td") == 169
    assert "linear-gradient" in page


def test_a_chart_says_how_exact_its_values_are(bundle: BlueprintBundle) -> None:
    rows = bundle.preflop(LINE)
    sampled = replace(rows, ev_se=np.where(np.arange(169)[:, None] == 5, 3.0, 1.0) * np.ones(rows.ev.shape))
    meaning, errors = _errors(sampled, rows.raw_probability, 100)
    assert meaning.endswith("; standard error at most 0.03")
    np.testing.assert_allclose(errors, sampled.ev_se / 100)
    # Bundles that were written before errors were measured.
    unknown = replace(rows, ev_se=np.full(rows.ev.shape, np.nan))
    assert _errors(unknown, rows.raw_probability, 100) == (NET, None)


def test_a_chart_says_what_hands_win(exported: Path, bundle: BlueprintBundle, tmp_path: Path) -> None:
    rows = bundle.preflop(LINE)
    data = json.loads(run("chart", exported, LINE, "--ev", "--json"))
    aces = CLASS_NAMES.index("AA")
    expected = dict(zip(rows.actions, (rows.ev[aces] / 100).tolist()))
    assert data["hands"]["AA"]["action_ev"] == expected
    shares = data["hands"]["AA"]["strategy"]
    mean = sum(shares[action] * value for action, value in expected.items())
    assert data["hands"]["AA"]["ev"] == pytest.approx(mean)
    # The small game of typical boards is evaluated exactly.
    assert data["hands"]["AA"]["ev_se"] == 0
    assert data["hands"]["AA"]["action_ev_se"] == dict.fromkeys(rows.actions, 0)
    assert data["ev"].endswith("standard error 0")
    assert not {"ev", "ev_se"} & json.loads(run("chart", exported, LINE, "--json"))["hands"]["AA"].keys()
    page = tmp_path / "chart.html"
    text = run("chart", exported, LINE, "--ev", "--html", page)
    assert f"{mean:+.2f}" in text.splitlines()[3]  # behind title, caption and names
    assert "EV in bb, net of everything since the start of the hand" in text
    assert f"EV {mean:+.3f} bb (" in page.read_text(encoding="utf-8")


def test_a_chart_after_the_flop_is_the_mean_of_its_combos(exported: Path, bundle: BlueprintBundle) -> None:
    line, board = "b250c/xx/x", "QsJh2h8d"
    data = json.loads(run("chart", exported, line, "--board", board, "--json"))
    assert (data["line"], data["board"], data["player"], data["street"]) == (line, board, "sb", "turn")
    combos = data["combos"]
    assert len(combos) == 1128
    weights = bundle.range(line, "sb", board)
    view = bundle.per_history_strategy_view(board, line)
    for name, row in combos.items():
        assert row["reach"] == weights[parse_combo(name)]
        hole = name[2:] + name[:2]
        assert list(row["strategy"].values()) == pytest.approx(view[f"{hole}|2h8dJhQs|t|xx/x"])
    for hand in ("AA", "KTs", "T9o", "QQ"):
        held = [
            row
            for name, row in combos.items()
            if CLASS_NAMES[CLASS_OF_COMBO[parse_combo(name)]] == hand
            and row["reason"] in (None, "rarely_reached")
        ]
        total = sum(row["reach"] for row in held)
        for action, share in data["hands"][hand]["strategy"].items():
            mean = sum(row["reach"] * row["strategy"][action] for row in held) / total
            assert share == pytest.approx(mean)
    assert data["hands"]["72o"]["reason"] == "low_reach_same_street"
    text = run("chart", exported, line, "--board", board)
    assert f"72o {DASH}" in text
    assert "b250c/xx/x: sb to act on QsJh2h8d" in text
    assert "x = check" in text


def test_values_after_the_flop_are_those_of_the_actions(exported: Path, bundle: BlueprintBundle) -> None:
    line, board = "b250c/xx/xx/b250", "QsJh2h8d3c"
    data = json.loads(run("chart", exported, line, "--board", board, "--ev", "--json"))
    whole = bundle.continuation_value(line, board)
    seen = 0
    for name, row in data["combos"].items():
        assert row["action_ev"]["fold"] == -2.5
        if row["reason"] is None:
            assert row["ev"] == pytest.approx(whole[parse_combo(name)] / 100, abs=1e-4)
            seen += 1
    assert seen > 100
    # A straight beats all that the big blind may hold; a call wins 5 from before and the bet.
    nuts = data["combos"]["Td9d"]
    assert nuts["action_ev"]["call"] == pytest.approx(5.0, abs=0.01)
    assert nuts["action_ev"]["all_in"] >= nuts["action_ev"]["call"] - 1e-6


def test_without_a_path_the_newest_exported_bundle_of_the_store_is_read(exported: Path) -> None:
    assert run("chart", LINE, "--store", exported.parent) == run("chart", exported, LINE)
    assert json.loads(run("lines", "--store", exported.parent, "--json"))["lines"][0]["line"] == ""


def of_game(exported: Path, root: Path, game: str, key: str) -> Path:
    """A copy of a bundle whose configuration names another game."""
    bundle = open_blueprint(exported)
    record: Any = OmegaConf.to_container(OmegaConf.create(bundle.text("config.yaml")))
    record["game"] = json.loads(json.dumps(asdict(named_games()[game])))
    copy = BundleStore(root).commit(
        {name: bundle[name].columns() for name in ("lines", "preflop")},
        texts={"config.yaml": OmegaConf.to_yaml(OmegaConf.create(record))},
        stage="export",
        key=key,
        code="",
        config=bundle.config,
        inputs={},
        metrics={"exploitability_raw": 556.36},
    )
    return copy.path


def test_the_newest_bundle_is_that_of_the_game_asked_for(exported: Path, tmp_path: Path) -> None:
    for order, (game, key) in enumerate((("hu25", "old"), ("hu25", "young"), ("hu100", "last"))):
        os.utime(of_game(exported, tmp_path, game, key), (order, order))
    for words, key in (([], "last"), (["--game", "hu25"], "young"), (["--game", "hu100"], "last")):
        for command in ("chart", "lines", "range"):
            done = CliRunner().invoke(app, [command, *words, "--json", "--store", str(tmp_path)])
            assert json.loads(done.stdout)["source"]["key"] == key
            # The full path, so that it can be named from now on.
            assert done.stderr.startswith("the newest blueprint")
            assert done.stderr.endswith(f"/export-{key}\n")


CAPTION = "custom game, 10 bb · export-global · exploitability "


@pytest.mark.parametrize(
    "words", [["chart", LINE], ["lines", "--street", "preflop"], ["range", "b250"], ["diff", "{bundle}"]]
)
def test_every_output_says_what_it_shows(exported: Path, bundle: BlueprintBundle, words: list[str]) -> None:
    command, *rest = [word.replace("{bundle}", str(exported)) for word in words]
    text = run(command, exported, *rest)
    assert sum(CAPTION in line for line in text.splitlines()) == (2 if command == "diff" else 1)
    source = json.loads(run(command, exported, *rest, "--json"))["source"]
    for found in source.values() if command == "diff" else [source]:
        assert found == {
            "bundle": str(exported),
            "key": "global",
            "game": "custom game",
            "stacks": [1000, 1000],
            "stacks_bb": [10.0, 10.0],
            "exploitability_mbb": bundle.metrics["exploitability_raw"],
            "tier": "small",
            "preset": None,
            "run": None,
        }


def test_pictures_and_pages_of_a_chart_have_the_caption(exported: Path, tmp_path: Path) -> None:
    with rc_context({"svg.fonttype": "none"}):  # letters stay letters, so that they can be looked for
        run("chart", exported, "--svg", tmp_path / "chart.svg", "--html", tmp_path / "chart.html")
    assert f'<p class="caption">{CAPTION}' in (tmp_path / "chart.html").read_text(encoding="utf-8")
    assert CAPTION in (tmp_path / "chart.svg").read_text(encoding="utf-8")


def test_the_run_that_made_a_bundle_is_named(exported: Path, tmp_path: Path) -> None:
    bundle = open_blueprint(of_game(exported, tmp_path, "hu25", "1a2b3c4d5e"))
    note_run(BundleStore(tmp_path), bundle.manifest.name, RunNote("fast", "0123456789abcdef"))
    expected = "hu25, 25 bb · export-1a2b3c · preset fast, run 01234567 · exploitability 556 mbb/hand"
    assert source_of(bundle).caption == expected
    assert expected in run("lines", bundle.path, "--prefix", "b250")
    data = json.loads(run("chart", bundle.path, "--json"))["source"]
    assert (data["preset"], data["run"]) == ("fast", "0123456789abcdef")


def test_a_chart_and_the_list_of_lines_have_the_same_frequencies(exported: Path) -> None:
    listed = json.loads(run("lines", exported, "--street", "preflop", "--json"))["lines"]
    for entry in listed:
        for flags in ([], ["--raw"]):
            chart = json.loads(run("chart", exported, entry["line"], "--json", *flags))
            assert chart["frequencies"] == entry["frequencies"]
    facing = next(entry for entry in listed if entry["line"] == LINE)
    assert f"c = call {facing['frequencies']['call']:.1%}" in run("chart", exported, LINE)
    # With card removal: the cards of a hand are not in the range that it meets.
    bundle = open_blueprint(exported)
    own, other = (bundle.range(LINE, seat)[CLASS_OF_COMBO] for seat in ("sb", "bb"))
    disjoint = ~(COMBO_CARDS[:, None, :, None] == COMBO_CARDS[None, :, None, :]).any(axis=(2, 3))
    calls = bundle.preflop(LINE).raw_probability[CLASS_OF_COMBO, 1]
    expected = (own * calls) @ disjoint @ other / (own @ disjoint @ other)
    assert facing["frequencies"]["call"] == pytest.approx(expected)
    assert facing["frequencies"]["call"] != pytest.approx(own @ calls / own.sum(), rel=1e-4)


def test_lines_are_printed_without_prefix_and_read_with_it(exported: Path, tmp_path: Path) -> None:
    other = altered(exported, tmp_path, "AA")
    for words in (
        ["chart", exported, f"||p|{LINE}"],
        ["lines", exported, "--prefix", "||p|b250"],
        ["range", exported, "||p|b250"],
        ["diff", exported, other, "--prefix", "||p|"],
    ):
        for flags in ([], ["--json"]):
            assert "||p|" not in run(*words, *flags)
    assert json.loads(run("range", exported, "||p|b250", "--json"))["line"] == "b250"


def test_lines_say_who_acts_and_how_often(exported: Path, bundle: BlueprintBundle) -> None:
    data = json.loads(run("lines", exported, "--street", "preflop", "--json"))["lines"]
    by_line = {entry["line"]: entry for entry in data}
    assert list(by_line) == [without_prefix(line) for line in bundle.lines("preflop")]
    first = by_line[""]
    assert (first["player"], first["reach"]) == ("sb", pytest.approx(1))
    assert sum(first["frequencies"].values()) == pytest.approx(1)
    limped = by_line["c"]
    assert limped["reach"] == pytest.approx(first["frequencies"]["call"])
    # Of the deals that see the big blind act, those that go on are the next line's.
    reached = limped["reach"] * limped["frequencies"]["open_250"]
    assert by_line["cb250"]["reach"] == pytest.approx(reached)
    assert "b250A" in run("lines", exported, "--prefix", "b250")


def test_lines_after_the_flop_have_frequencies_on_a_board(exported: Path) -> None:
    data = json.loads(run("lines", exported, "--board", FLOP, "--prefix", "b250c/", "--json"))["lines"]
    by_line = {entry["line"]: entry for entry in data}
    assert {entry["street"] for entry in data} == {"flop"}
    root = by_line["b250c/"]
    assert by_line["b250c/x"]["reach"] == pytest.approx(root["reach"] * root["frequencies"]["check"])
    assert "frequencies" not in json.loads(run("lines", exported, "--street", "flop", "--json"))["lines"][0]


def test_a_range_is_printed_as_text_that_can_be_read_back(exported: Path, bundle: BlueprintBundle) -> None:
    for words, player, board in (("b250", "sb", ""), ("b250c/x", "bb", FLOP)):
        data = json.loads(run("range", exported, words, "--player", player, "--board", board, "--json"))
        weights = bundle.range(words, player, board)
        if not board:
            weights = weights[CLASS_OF_COMBO]
        assert parse_range(data["range"]) == pytest.approx(weights, abs=0.0006)
    text = run("range", exported, "b250", "--player", "sb")
    assert "AA 100" in text
    assert "72o0" in text


def altered(exported: Path, root: Path, hand: str) -> Path:
    """A copy of a bundle in which the small blind always limps one hand."""
    bundle = open_blueprint(exported)
    tables = {name: bundle[name].columns() for name in bundle.tables}
    preflop = {name: np.array(tables["preflop"][name]) for name in ("probability", "raw_probability")}
    count = len(bundle.preflop("").actions)
    start = CLASS_NAMES.index(hand) * count
    limp = [float(action == "call") for action in bundle.preflop("").actions]
    for column in preflop.values():
        column[start : start + count] = limp
    tables["preflop"] = tables["preflop"] | preflop
    manifest = bundle.manifest
    return (
        BundleStore(root)
        .commit(
            tables,
            texts={"config.yaml": bundle.text("config.yaml")},
            stage="export",
            key="altered",
            code=manifest.code,
            config=manifest.config,
            inputs=manifest.inputs,
            metrics=manifest.metrics,
        )
        .path
    )


def test_a_difference_is_where_one_hand_was_changed(exported: Path, tmp_path: Path) -> None:
    other = altered(exported, tmp_path, "AA")
    data = json.loads(run("diff", exported, other, "--json"))
    top = data["hands"][0]
    assert (top["line"], top["hand"]) == ("", "AA")
    assert top["distance"] == pytest.approx(1)
    assert top["reach"] == pytest.approx(6 / 1326)
    assert top["first"]["open_250"] == top["second"]["call"] == 1
    assert len(data["hands"]) == 1
    assert data["weighted"] == pytest.approx(6 / 1326)
    assert data["lines"][0]["line"] == ""
    text = run("diff", exported, other, "--top", 1)
    assert "open_250 100.0%" in text
    assert json.loads(run("diff", exported, exported, "--json"))["weighted"] == 0


def test_postflop_differences_are_by_combo_on_a_board(export_tiny: Callable[..., Path]) -> None:
    pair = export_tiny("global"), export_tiny("texture")
    assert json.loads(run("diff", *pair, "--json"))["weighted"] == 0
    data = json.loads(run("diff", *pair, "--board", FLOP, "--prefix", "b250c/", "--top", 5, "--json"))
    assert data["weighted"] > 0
    weighted = [hand["weighted"] for hand in data["hands"]]
    assert weighted == sorted(weighted, reverse=True)
    for hand in data["hands"]:
        moved = sum(abs(hand["first"][action] - hand["second"][action]) for action in hand["first"])
        assert hand["distance"] == pytest.approx(moved / 2)
        assert not {hand["hand"][:2], hand["hand"][2:]} & {"Qs", "Jh", "2h"}


def test_a_chained_solve_takes_its_preflop_from_a_bundle(exported: Path) -> None:
    words = ["--hero-range", "AA,KQs", "--villain-range", "QQ,T9s", "--board", FLOP, "--line", "b250c"]
    words += ["--target", 20, "--raise", "a"]
    data = json.loads(run("chained", "--bundle", exported, *words, "--json"))
    assert data["preflop"]["source"] == str(exported)
    assert data["preflop"]["strategy"]["||p|"]["AA"]["open_250"] == 1
    assert (data["streets"][0]["pot"], data["streets"][0]["stack"]) == (500, 750)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["chart", "nowhere"], "nowhere: no bundle"),
        (["chart", "{store}/textures-global"], "a bundle of stage textures"),
        (["chart", "{bundle}", "b999"], "'b999' is not possible after the start; accepted: f c b250"),
        (["chart", "{bundle}", "b250c/"], "is not a preflop decision"),
        (["chart", "{bundle}", "b250c/"], "--board QsJh2h"),
        (["chart", "{bundle}", "b250", "--board", FLOP], "is before the flop"),
        (["chart", "{bundle}", "b250c/x", "--board", "QsJh2h8d"], "has 4 cards"),
        (["chart", "{bundle}", "b250c/x", "--board", "QsJh2"], "card '2'"),
        (["chart", "{bundle}", "b250", "c"], "one word too many"),
        (["chart", "{bundle}", "--png", "none/chart.png"], "its folder does not exist"),
        (["chart", "--store", "nowhere"], "no exported bundle in this store"),
        (["chart", "--game", "hu7"], "--game: 'hu7' is not accepted: one of hu100, hu200, hu25"),
        (["chart", "{bundle}", "--game", "hu25"], "--game: the game is that of the bundle"),
        (
            ["range", "--game", "hu25", "--store", "{store}"],
            "no blueprint of hu25 in {store}; it has custom game",
        ),
        (["chart", "b999", "--store", "{store}"], "{bundle}: line 'b999': 'b999' is not possible"),
        (["compare", "--store", "a", "store.root=b"], "--store: store.root is given too"),
        (["compare", "--store", "no [w]here"], "sqlite:///no [w]here/mlflow.db does not exist"),
        (["lines", "{bundle}", "--prefix", "b7"], "prefix 'b7': no line begins with it"),
        (["lines", "{bundle}", "--board", "QsQs2h"], "appears twice"),
        (["range", "{bundle}", "b250c/"], "needs 3"),
        (["range", "{bundle}", "b250", "--board", FLOP], "needs 0"),
        (["range", "{bundle}", "zz"], "no token at 'zz'"),
        (["diff", "{bundle}", "nowhere"], "nowhere: no bundle"),
        (["diff", "{bundle}", "{bundle}", "--prefix", "b7"], "prefix 'b7'"),
    ],
)
def test_a_mistake_is_one_line(exported: Path, words: list[str], message: str) -> None:
    names = {"{bundle}": str(exported), "{store}": str(exported.parent)}
    for name, value in names.items():
        words = [word.replace(name, value) for word in words]
        message = message.replace(name, value)
    with pytest.raises(UserError) as error:
        run(*words)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_bundles_of_different_games_are_not_compared(exported: Path, tmp_path: Path) -> None:
    bundle = open_blueprint(exported)
    text = bundle.text("config.yaml").replace("- 1000", "- 2000")
    assert text != bundle.text("config.yaml")
    manifest = bundle.manifest
    other = BundleStore(tmp_path).commit(
        {name: bundle[name].columns() for name in ("lines", "preflop")},
        texts={"config.yaml": text},
        stage="export",
        key="other",
        code="",
        config=manifest.config,
        inputs={},
        metrics={},
    )
    with pytest.raises(
        UserError, match=r"another game than .*: stacks is \(2000, 2000\), not \(1000, 1000\)"
    ):
        run("diff", exported, other.path)


def test_every_command_explains_itself_with_examples_and_has_json() -> None:
    names = {command.name or command.callback.__name__ for command in app.registered_commands}
    blueprints = {"chart", "lines", "range", "compare", "chained", "diff", "subgame"}
    expected = blueprints | {"tree", "equity", "preflop", "solve", "explore"}
    assert names == expected
    for name in names:
        text = run(name, "--help")
        assert f"poker-solver {name}" in text.partition("Examples:")[2], name
        # The explorer answers in JSON at its own address.
        assert ("--json" in text) == (name != "explore"), name


def test_a_shell_completes_commands(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("poker-solver")
    words = {"COMP_WORDS": "poker-solver ch", "COMP_CWORD": "1", "_POKER_SOLVER_COMPLETE": "complete_bash"}
    done = subprocess.run([script], env=os.environ | words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.split() == ["chart", "chained"]
