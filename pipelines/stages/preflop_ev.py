"""Stage `preflop_ev`: what each hand wins by each action before the flop, with its standard error.

Both play the blueprint from there on, over boards drawn from all flops, until the standard error of every hand and
action of the first decision is small enough. Where only typical boards have buckets, their small game is
evaluated exactly, and the errors are 0.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstractions.textures import medoid_boards
from artifacts.format.arrow_file import Column
from artifacts.readers import read_textures, read_trained_blueprint
from pipelines.run.cluster import unlocked
from pipelines.run.engine import Inputs, Output, StageRun
from solver.betting.lines import HEADS_UP_SEATS
from solver.betting.public_tree import NodeKind
from solver.betting.tree_text import preflop_key
from solver.blueprint.boards import BatchBuckets, street_buckets
from solver.blueprint.pot_types import PotTypes
from solver.blueprint.preflop_values import (
    BATCH_BOARDS,
    BoardValues,
    PreflopValues,
    SampleSums,
    deal_batch,
    exact_values,
    sampled_values,
    seat_control_means,
)
from solver.blueprint.strategy import Blueprint
from solver.blueprint.tables import TableLayout
from solver.blueprint.trunk import Floats, TrunkGame
from solver.preflop.solver import PreflopStrategy

#: Batches of boards in one task: the same however many workers there are, and an even number.
TASK_BATCHES = 4
TASK_BOARDS = TASK_BATCHES * BATCH_BOARDS
# Tasks until the error is looked at for the first time, and most between two looks.
_FIRST_TASKS, _MOST_TASKS = 8, 64
# Deal a little more than the last error calls for: a look that finds too little costs a round.
_MARGIN = 1.05


@dataclass(frozen=True)
class PreflopEvConfig:
    """How exact the values shall be.

    Attributes
    ----------
    error
        Largest standard error of a hand and action at the first decision, in big blinds.
    max_boards
        No more boards are dealt even if the error is larger.
    seed
        Of the boards.
    """

    error: float
    max_boards: int
    seed: int


def compute(config: PreflopEvConfig, inputs: Inputs, run: StageRun) -> Output:
    """Net chips by preflop line, action and hand, their standard errors, and what the flop lines are worth.

    Inputs: `dcfr`, `textures`, `buckets`, `preflop_equity`.
    """
    buckets = inputs["buckets"]
    blueprint = read_trained_blueprint(inputs["dcfr"], buckets, inputs["preflop_equity"])
    textures = read_textures(inputs["textures"])
    if buckets.config["boards"] == "medoids":
        boards, weights, owners = medoid_boards(textures)
        found = _exact(blueprint, _Boards(boards, owners), weights / weights.sum(), buckets, run)
    else:
        found = _sampled(blueprint, textures.texture_of_flop, config, buckets, run)
    error = found.first_error(blueprint.game)
    metrics = {
        "ev_error": error,
        "ev_boards": float(found.num_boards),
        "ev_error_missed": float(error > config.error),
    }
    for name, value, deviation in zip(HEADS_UP_SEATS, found.expected, found.expected_errors):
        metrics |= {f"ev_{name}": value, f"ev_{name}_se": deviation}
    play = PreflopStrategy(blueprint.game.preflop, blueprint.preflop)
    tables = {
        "preflop_ev": preflop_evs(play, found.values, found.errors),
        "flop_lines": flop_line_table(blueprint.game, found),
    }
    return Output(tables, metrics)


def flop_line_table(game: TrunkGame, found: PreflopValues) -> dict[str, Column]:
    """What each flop line is worth to the classes of each seat, in chips times deals."""
    values = found.flop_lines(game)
    return {
        "seat": np.repeat(np.arange(len(values), dtype=np.int8), values.shape[1]),
        "line": list(game.names) * len(values),
        "value": values.reshape(-1, values.shape[2]),
    }


def preflop_evs(play: PreflopStrategy, values: Floats, errors: Floats) -> dict[str, Column]:
    """Net chips of each hand by preflop line and action, both playing the strategy from there on.

    Parameters
    ----------
    values, errors
        As in `PreflopValues`.
    """
    tree = play.game.tree
    lines: list[str] = []
    actions: list[str] = []
    chips: list[Floats] = []
    deviations: list[Floats] = []
    for node in np.flatnonzero(tree.kind == NodeKind.DECISION):
        line, seat = preflop_key(tree, int(node)), tree.player[node]
        won = play.action_values(line, values[seat])
        lines += [line] * len(won)
        actions += won
        chips += won.values()
        deviations += play.action_values(line, errors[seat]).values()
    return {"line": lines, "action": actions, "ev": np.array(chips), "ev_se": np.array(deviations)}


class _Boards(NamedTuple):
    """Full boards and their textures."""

    boards: NDArray[np.uint8]
    textures: NDArray[Any]


class _Item(NamedTuple):
    """Boards of a task, with the buckets of their hands and, of a whole game, their weights."""

    dealt: _Boards
    buckets: NDArray[np.uint16]
    weights: Floats | None = None


@dataclass(frozen=True, eq=False)
class _Shared:
    """What all tasks need."""

    layout: TableLayout
    pots: PotTypes
    table: NDArray[np.float32]
    reach: tuple[Floats, Floats]
    means: Floats | None = None


def _exact(
    blueprint: Blueprint, dealt: _Boards, weights: Floats, source: Any, run: StageRun
) -> PreflopValues:
    """Values over all boards of a small game, tasks added in a fixed order."""
    items = []
    for start in range(0, len(weights), TASK_BOARDS):
        rows = slice(start, start + TASK_BOARDS)
        some = _Boards(dealt.boards[rows], dealt.textures[rows])
        items.append(_Item(some, street_buckets(source, some.boards), weights[rows]))
    parts = run.map(_whole_game_part, items, shared=_shared(blueprint), status="EVs of typical boards")
    lines = parts[0]
    for part in parts[1:]:
        lines = lines + part
    return exact_values(blueprint.game, blueprint.preflop, lines, len(weights))


def _sampled(
    blueprint: Blueprint, textures: NDArray[Any], config: PreflopEvConfig, source: Any, run: StageRun
) -> PreflopValues:
    """Values over sampled boards, dealt in rounds whose size depends on the errors alone."""
    game = blueprint.game
    shared = _shared(blueprint, sampled=True)
    most = max(1, config.max_boards // TASK_BOARDS)
    stop, wanted, done = min(_FIRST_TASKS, most), min(_FIRST_TASKS, most), 0
    sums: SampleSums | None = None
    run.begin()
    while True:
        items = [_task(config.seed, number, textures, source) for number in range(done, stop)]
        parts: list[Any] = [None] * len(items)
        for finished, (position, part) in enumerate(run.cluster.stream(_sample_part, items, shared=shared)):
            parts[position] = part
            run.progress(done + finished + 1, wanted, "EVs before the flop")
        for part in parts:
            sums = part if sums is None else sums + part
        done = stop
        assert sums is not None
        found = sampled_values(game, blueprint.preflop, sums)
        error = found.first_error(game)
        if error <= config.error or done >= most:
            return found
        wanted = min(most, max(done + 1, math.ceil(done * _MARGIN * (error / config.error) ** 2)))
        # An error from few batches is rough, and the largest of many rough ones is too large.
        stop = min(wanted, 2 * done, done + _MOST_TASKS)


def _task(seed: int, number: int, textures: NDArray[Any], source: Any) -> _Item:
    """The boards of a task."""
    batches = range(number * TASK_BATCHES, (number + 1) * TASK_BATCHES)
    dealt = [deal_batch(seed, batch) for batch in batches]
    boards = np.concatenate([boards for boards, _ in dealt])
    owners = textures[np.concatenate([flops for _, flops in dealt])]
    return _Item(_Boards(boards, owners), street_buckets(source, boards))


def _shared(blueprint: Blueprint, *, sampled: bool = False) -> _Shared:
    game = blueprint.game
    reach = game.reach(blueprint.preflop, 0), game.reach(blueprint.preflop, 1)
    means = seat_control_means(game, reach) if sampled else None
    return _Shared(blueprint.layout, blueprint.pots, blueprint.table, reach, means)


def _measuring(item: _Item, shared: _Shared) -> tuple[BoardValues, NDArray[Any]]:
    """What measures the boards of a task, and the strategy's table."""
    # What Ray delivers is read-only, for which the kernels would be compiled once more.
    layout, reach = copy.deepcopy((shared.layout, shared.reach))
    table = unlocked(shared.table)
    bucketing = BatchBuckets(layout.num_buckets)
    bucketing.load(item.dealt.boards, item.dealt.textures, item.buckets)
    return BoardValues(layout, shared.pots, bucketing, reach, table.dtype), table


def _whole_game_part(item: _Item, shared: _Shared) -> Floats:
    """Values of the flop lines on some boards of a game, ``[seat, line, class]``."""
    assert item.weights is not None
    measure, table = _measuring(item, shared)
    total = np.zeros((2, *shared.reach[0].shape))
    for board, texture, weight in zip(item.dealt.boards.copy(), item.dealt.textures, item.weights):
        total += weight * measure.values(table, measure.deal(board, int(texture)), int(texture))
    return total


def _sample_part(item: _Item, shared: _Shared) -> SampleSums:
    """What is measured on the batches of a task."""
    assert shared.means is not None
    measure, table = _measuring(item, shared)
    values: list[Floats] = []
    controls: list[Floats] = []
    for board, texture in zip(item.dealt.boards.copy(), item.dealt.textures):
        deal = measure.deal(board, int(texture))
        values.append(measure.values(table, deal, int(texture)))
        controls.append(measure.controls(deal) - shared.means)
    shapes = [(TASK_BATCHES, BATCH_BOARDS, *part[0].shape) for part in (values, controls)]
    return SampleSums.of_batches(np.array(values).reshape(shapes[0]), np.array(controls).reshape(shapes[1]))
