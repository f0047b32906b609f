"""`python -m pipelines.value_data`: data sets that any Arrow reader opens, made once and resumed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from abstractions.cards import live_combos, parse_board
from artifacts.bundle_store import BundleStore
from pipelines import value_data
from pipelines.run.errors import UserError
from pipelines.run.tracking import Tracker
from pipelines.training import blueprint_states, value_parts
from solver.value_states.labels import ZERO_SUM
from tests.conftest import TINY_TURN

SCRIPT = Path(__file__).parents[2] / "scripts" / "train_value_network.py"


def request(folder: Path, *words: str) -> value_data.Request:
    return value_data.read_request(
        ["stack_high=2", f"store.root={folder}/store", "cluster=inprocess", *words]
    )


@pytest.fixture(scope="module")
def rivers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    asked = request(tmp_path_factory.mktemp("rivers"), "street=river", "samples=120", "part_rows=50")
    return value_data.value_data(asked)


def test_a_data_set_is_parts_and_a_manifest(rivers: Path) -> None:
    assert sorted(path.name for path in rivers.iterdir()) == [
        "manifest.json",
        *(f"part-{part:05d}.arrow" for part in range(3)),
    ]
    rows = pl.read_ipc(f"{rivers}/part-*.arrow")
    assert len(rows) == 120
    for name in ("oop_range", "ip_range", "oop_cfv", "ip_cfv"):
        assert rows.schema[name] == pl.Array(pl.Float32, 1326)
    assert {"board", "pot", "stack", "mask", "game_value", "exploitability"} <= set(rows.columns)


def test_every_row_is_zero_sum_solved_and_empty_off_its_mask(rivers: Path) -> None:
    rows = pl.read_ipc(f"{rivers}/part-*.arrow")
    mask = rows["mask"].to_numpy().astype(bool)
    boards = [parse_board(text) for text in rows["board"]]
    assert np.array_equal(mask, [live_combos(board) for board in boards])
    assert np.array_equal(rows["board_cards"].to_numpy(), boards)
    balance = np.zeros(len(rows))
    for player in ("oop", "ip"):
        weights, values = (rows[f"{player}_{kind}"].to_numpy().astype(float) for kind in ("range", "cfv"))
        assert weights.sum(axis=1) == pytest.approx(1.0, abs=1e-4)
        assert not weights[~mask].any()
        assert not values[~mask].any()
        balance += (weights * values).sum(axis=1)
    assert np.abs(balance).max() <= ZERO_SUM
    assert rows["exploitability"].max() <= 0.5


def test_a_network_learns_from_it_without_our_code(rivers: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(rivers), "32"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    loss, of_nothing = (float(line.split(":")[1]) for line in done.stdout.splitlines())
    assert "Huber loss on 24 held-out rows" in done.stdout
    assert 0.0 < loss < of_nothing


class _Cut(Exception):
    """Somebody ends the batch."""


def test_a_batch_that_is_cut_off_goes_on_and_ends_with_the_same_bytes(
    rivers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "street=river", "samples=120", "part_rows=50"
    made: list[int] = []
    make = value_parts.make_part

    def counted(task: value_parts.PartTask, config: value_parts.ValueDataConfig) -> Any:
        if len(made) == 1 and task.part == 1:
            made.append(-1)
            raise _Cut
        made.append(task.part)
        return make(task, config)

    monkeypatch.setattr(value_data, "make_part", counted)
    monkeypatch.setattr(value_data, "code_version", lambda _: value_data_code(rivers))
    with pytest.raises(_Cut):
        value_data.value_data(request(tmp_path, *words))
    found = value_data.value_data(request(tmp_path, *words))
    assert made == [0, -1, 1, 2]
    assert found.name == rivers.name
    for part in rivers.glob("*.arrow"):
        assert (found / part.name).read_bytes() == part.read_bytes()
    assert value_data.value_data(request(tmp_path, *words)) == found
    assert made == [0, -1, 1, 2]


def value_data_code(path: Path) -> str:
    return BundleStore(path.parent).open("value_data", path.name.removeprefix("value_data-")).manifest.code


def test_turns_bring_rivers_and_copies_with_renamed_suits(tmp_path: Path) -> None:
    words = "street=turn", "samples=2", "part_rows=2", "suit_copies=2", "rivers=3", "stack_high=0.5"
    path = value_data.value_data(request(tmp_path, *words))
    rows = pl.read_ipc(f"{path}/part-*.arrow")
    assert len(rows) == 6
    first = rows[:3]
    assert first["game_value"].n_unique() == 1
    assert first["board"].n_unique() == 3
    ranks = [sorted(text[::2]) for text in first["board"]]
    assert ranks[0] == ranks[1] == ranks[2]
    below = pl.read_ipc(f"{path}/rivers-*.arrow")
    assert len(below) % 3 == 0
    assert set(below["source"]) == {"turn"}
    assert all(len(text) == 10 for text in below["board"])


def test_turns_bring_every_river_that_their_solve_plays_well(tmp_path: Path) -> None:
    words = "street=turn", "samples=3", "part_rows=2", "suit_copies=1", "rivers=all", "river_accuracy=2"
    path = value_data.value_data(request(tmp_path, *words))
    turns = pl.read_ipc(f"{path}/part-*.arrow")
    below = pl.read_ipc(f"{path}/rivers-*.arrow")
    assert len(turns) == 6
    assert (turns["rivers_read"] % 48 == 0).all()
    assert 0 < len(below) <= turns["rivers_read"].sum()
    assert all(len(text) == 10 for text in below["board"])
    assert below["exploitability"].max() <= 2.0
    balance = np.zeros(len(below))
    for player in ("oop", "ip"):
        weights, values = (below[f"{player}_{kind}"].to_numpy().astype(float) for kind in ("range", "cfv"))
        balance += (weights * values).sum(axis=1)
    assert np.abs(balance).max() <= ZERO_SUM
    metrics = BundleStore(path.parent).open("value_data", path.name.removeprefix("value_data-")).metrics
    assert (metrics["rivers_read"], metrics["rivers_rows"]) == (turns["rivers_read"].sum(), len(below))
    assert metrics["rivers_worst_exploitability_pct"] == pytest.approx(below["exploitability"].max())
    assert metrics["rivers_rows_over_accuracy"] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("street=river", "rivers=all"), "rivers: a river has no rivers below"),
        (("street=turn", "rivers=some"), "rivers"),
        (("street=turn", "rivers=3", "river_accuracy=1"), "river_accuracy: goes with rivers=all"),
    ],
)
def test_rivers_that_cannot_be_had_are_refused(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError, match=message):
        request(tmp_path, "samples=1", *words)


def test_ranges_come_from_a_blueprint_at_random_lines(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = np.setdiff1d(np.arange(52), parse_board(TINY_TURN))

    def known_board(cards: int, rng: np.random.Generator) -> tuple[int, ...]:
        assert cards == 5
        return (*(int(card) for card in parse_board(TINY_TURN)), int(rng.choice(rest)))

    monkeypatch.setattr(blueprint_states, "random_board", known_board)
    words = f"bundle={exported}", "street=river", "samples=6", "blueprint_share=1"
    path = value_data.value_data(request(tmp_path, *words))
    rows = pl.read_ipc(f"{path}/part-*.arrow")
    assert set(rows["source"]) == {"blueprint"}
    assert all(text.startswith(TINY_TURN) for text in rows["board"])
    # A game of 10 big blinds: what is not in the pot is behind.
    assert (rows["pot"] + 2 * rows["stack"]).unique().to_list() == [2000]
    manifest = BundleStore(path.parent).open("value_data", path.name.removeprefix("value_data-")).manifest
    assert list(manifest.inputs) == ["export"]


def test_a_run_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, float] = {}
    monkeypatch.setattr(Tracker, "metrics", lambda _self, values, **_: told.update(values))
    value_data.value_data(request(tmp_path, "street=river", "samples=3"))
    assert told["rows"] == 3
    assert told["worst_imbalance"] <= ZERO_SUM
    assert told["seconds"] > 0.0
