"""Stage `preflop_ev`: boards are dealt until the error is small enough, wherever they are measured."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from abstractions.cards import CLASS_COMBOS, NUM_CLASSES
from abstractions.equity import preflop_table
from artifacts import open_blueprint
from pipelines.run.cluster import Cluster, InProcess
from pipelines.run.engine import StageRun
from pipelines.run.progress import Reporter
from pipelines.stages.preflop_ev import TASK_BOARDS, PreflopEvConfig, _sampled, flop_line_table
from solver.blueprint.plan import LanePlan
from solver.blueprint.pot_types import pot_types
from solver.blueprint.preflop_values import PreflopValues
from solver.blueprint.strategy import Blueprint
from solver.blueprint.tables import TableLayout
from solver.blueprint.trunk import TrunkGame
from tests.pipelines.stages.hand_buckets import BUCKETS, TINY, Everywhere, source


@cache
def blueprint() -> Blueprint:
    """A strategy of a tiny game: anything before the flop, at random after it."""
    game = TrunkGame.build(TINY, preflop_table())
    pots = pot_types(game)
    layout = TableLayout(LanePlan.build(game.tree, pots.templates), BUCKETS)
    table = np.random.default_rng(5).random(layout.size).astype(np.float32)
    return Blueprint(game, game.uniform(), layout, table, Everywhere(), pots)


class Backwards:
    """A cluster of three cores that finishes its last task first."""

    num_cpus = 3

    def stream(
        self, function: Callable, items: Sequence, *, shared: object = None
    ) -> Iterator[tuple[int, Any]]:
        for position in reversed(range(len(items))):
            yield position, function(items[position], shared)


def sample(tmp_path: Path, cluster: Cluster, **settings: Any) -> PreflopValues:
    config = PreflopEvConfig(**{"error": 0.03, "max_boards": 100_000, "seed": 11} | settings)
    run = StageRun(cluster, tmp_path, Reporter(Console(quiet=True)))
    return _sampled(blueprint(), np.zeros(1755, dtype=np.int16), config, source(), run)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> PreflopValues:
    return sample(tmp_path_factory.mktemp("run"), InProcess())


def test_boards_are_dealt_until_the_error_is_small_enough(found: PreflopValues, tmp_path: Path) -> None:
    game = blueprint().game
    assert found.first_error(game) <= 0.03
    assert found.num_boards % TASK_BOARDS == 0
    # A stricter target: at least as many boards as the error calls for.
    finer = sample(tmp_path, InProcess(), error=found.first_error(game) / 1.4)
    assert finer.num_boards > found.num_boards
    assert finer.first_error(game) <= found.first_error(game) / 1.4
    # Both estimate the same.
    distance = (finer.values - found.values)[0, 0] / np.hypot(finer.errors, found.errors)[0, 0]
    assert np.abs(distance).max() < 5


def test_the_result_does_not_depend_on_workers(found: PreflopValues, tmp_path: Path) -> None:
    again = sample(tmp_path, Backwards())
    for field in dataclasses.fields(PreflopValues):
        one, other = getattr(found, field.name), getattr(again, field.name)
        np.testing.assert_array_equal(one, other)


def test_no_more_boards_than_allowed(tmp_path: Path) -> None:
    capped = sample(tmp_path, InProcess(), max_boards=2 * TASK_BOARDS + 5, error=0.001)
    assert capped.num_boards == 2 * TASK_BOARDS
    assert capped.first_error(blueprint().game) > 0.001


def test_seats_win_what_the_other_loses_within_the_error(found: PreflopValues) -> None:
    assert abs(sum(found.expected)) < 5 * np.hypot(*found.expected_errors)
    assert 0 < found.expected_errors[0] < 30


def test_the_small_game_of_typical_boards_is_exact(exported: Path) -> None:
    bundle = open_blueprint(exported)
    assert bundle.metrics["ev_error"] == bundle.metrics["ev_error_missed"] == 0
    assert bundle.metrics["ev_sb"] + bundle.metrics["ev_bb"] == pytest.approx(0, abs=1e-2)
    first = bundle.preflop("||p|")
    assert first.ev.shape == first.ev_se.shape == (NUM_CLASSES, len(first.actions))
    assert not first.ev_se.any()
    won = (first.raw_probability * first.ev).sum(axis=1)
    assert won @ CLASS_COMBOS / 1326 * 10 == pytest.approx(bundle.metrics["ev_sb"])


def test_the_values_of_flop_lines_are_those_that_the_evs_rest_on(found: PreflopValues) -> None:
    game = blueprint().game
    lines = found.flop_lines(game)
    assert lines.shape == (2, len(game.lines), NUM_CLASSES)
    for seat in range(2):
        assert game.values(blueprint().preflop, seat, lines[seat]) == pytest.approx(found.values[seat])
    table = flop_line_table(game, found)
    assert table["line"][: len(game.names)] == list(game.names)
    assert np.array(table["value"]).reshape(lines.shape) == pytest.approx(lines)
