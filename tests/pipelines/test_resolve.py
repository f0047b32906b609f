"""`python -m pipelines.resolve` on a tiny exported blueprint, in this process."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from abstractions.cards import parse_board
from artifacts.bundle import open_bundle
from artifacts.bundle_store import BundleStore
from pipelines import resolve
from pipelines.run.errors import UserError
from pipelines.run.recorded_runs import recorded_runs
from pipelines.run.tracking import Tracker
from pipelines.training.evaluation_boards import EvaluationBoards
from solver.blueprint.flop_values import group_boards
from tests.conftest import TINY_TURN

LAST_LINE = re.compile(
    r"exploitability: ([\d.]+) mbb/hand \(blueprint alone ([\d.]+)\) on small, re-solved from (flop|turn|river)"
)


@pytest.fixture
def few_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tier deals three rivers of the tiny blueprint's turn."""

    def boards(_tier: str, _textures: Any, source: Any, _covered: str) -> EvaluationBoards:
        full = np.stack([parse_board(TINY_TURN + river) for river in ("3c", "Ah", "8s")])
        return EvaluationBoards.build(group_boards(full, np.ones(3), np.zeros(3, dtype=int)), source)

    monkeypatch.setattr(resolve, "evaluation_boards", boards)


def request(bundle: Path, folder: Path, *words: str) -> resolve.Request:
    return resolve.read_request(
        [f"bundle={bundle}", f"store.root={folder}/store", "cluster=inprocess", *words]
    )


def figures(text: str) -> tuple[float, float, str]:
    found = LAST_LINE.fullmatch(text)
    assert found is not None
    return float(found[1]), float(found[2]), found[3]


@pytest.mark.usefixtures("few_boards")
@pytest.mark.parametrize("scope", ["global", "texture"])
def test_a_blueprint_that_solves_again_from_the_flop_loses_less(
    export_tiny: Callable[..., Path], tmp_path: Path, scope: str
) -> None:
    bundle = export_tiny(scope)
    with_flop, alone, street = figures(
        resolve.resolve(request(bundle, tmp_path, "streets=flop", "iterations=60"))
    )
    assert street == "flop"
    assert 0 < with_flop < 0.6 * alone


@pytest.mark.usefixtures("few_boards")
@pytest.mark.parametrize("street", ["turn", "river"])
def test_safe_solves_of_later_streets_are_no_worse_than_the_blueprint(
    exported: Path, tmp_path: Path, street: str
) -> None:
    asked = request(exported, tmp_path, f"streets={street}", "iterations=80")
    assert asked.resolving.safety == "resolve"
    solved, alone, _ = figures(resolve.resolve(asked))
    assert 0 < solved < 1.01 * alone
    with_gifts = request(exported, tmp_path, f"streets={street}", "iterations=80", "safety=reach")
    assert 0 < figures(resolve.resolve(with_gifts))[0] < 1.01 * alone


@pytest.mark.usefixtures("few_boards")
def test_solved_flops_are_kept_and_compare_shows_the_figure(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = request(exported, tmp_path, "streets=river", "iterations=30")
    first = resolve.resolve(asked)
    (even,) = re.findall(r"taken off: ([\d.]+) mbb/hand", capsys.readouterr().out)
    (kept,) = (m for m in BundleStore(tmp_path / "store").bundles() if m.stage == "resolved_flop")
    assert kept.config["iterations"] == 30

    def solved_again(*_: object) -> None:
        raise AssertionError("a kept flop was solved again")

    monkeypatch.setattr("pipelines.training.resolved_flops.resolved_values", solved_again)
    assert resolve.resolve(asked) == first
    key = open_bundle(exported).key
    tracker = Tracker(asked.config.tracking, tmp_path / "store" / ".tracking", print)
    tracker.start("fast-hu100", {"preset": "fast", "key.export": key}, {})
    tracker.finish("FINISHED")
    tracker.close()
    (row,) = recorded_runs(asked.config.tracking)
    assert row.resolved == {
        "river on small": pytest.approx(figures(first)[0], abs=0.05),
        "river on small, over all flops": pytest.approx(float(even), abs=0.05),
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["streets=preflop"], "streets: 'preflop' is not accepted: one of flop, turn, river"),
        (["tier=real"], "tier: 'real' is not accepted: one of small, full, huge"),
        (
            ["safety=maxmargin", "streets=turn"],
            "safety: 'maxmargin' is not accepted: one of reach, resolve, unsafe",
        ),
        (["flops=-1"], "flops: '-1' is not accepted: a whole number from 0 to 24"),
        (["iterations=0"], "iterations: '0' is not accepted: a whole number from 1 to 1,000,000"),
        (["bundle="], "bundle: give the folder of an exported blueprint, bundle=STORE/export-KEY"),
        (["bundle=nowhere"], "bundle: nowhere is no bundle, it has no manifest.json"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    exported: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    with pytest.raises(UserError) as error:
        resolve.resolve(request(exported, tmp_path, *words))
    assert str(error.value) == message
    assert not (tmp_path / "store").exists()


def test_another_stage_is_no_blueprint(exported: Path, tmp_path: Path) -> None:
    other = next(path for path in exported.parent.iterdir() if path.name.startswith("textures-"))
    with pytest.raises(UserError, match="is of stage textures; expected one of stage export"):
        resolve.resolve(request(other, tmp_path))


def test_some_flops_of_a_tier_weigh_one_together(exported: Path) -> None:
    bundle = resolve.open_source(exported)
    boards = resolve.chosen_boards(bundle, "small", 5)
    assert len(boards.flops) == 5
    assert boards.flop_weights.sum() == pytest.approx(1.0)
    assert len(resolve.chosen_boards(bundle, "small", 0).flops) == 24
