"""Boards over which blueprints are evaluated, and the evaluation of a blueprint spread over the cluster.

A tier is a fixed stratified sample of real boards: the flops of `pipelines.training.tier_flops`, and for each a few
turns with a few rivers each, dealt from fixed seeds. All runs are measured on the same boards, whatever their
textures. The best responder of a tier plays the game that deals only these boards: on the flop it may foresee
which turns can come, on the turn which rivers. With few run-outs it therefore wins more than against the same
blueprint in hold'em, and a tier is to be compared with itself only. The medoid game has no such surplus: its
few boards are the game.

How much more: the blueprint of preset `accurate`, on 6 flops with n turns of n rivers each:

    n                5      8     16    all
    mbb/hand     1,245  1,129  1,008    956
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstractions.buckets import BucketSource
from abstractions.cards import parse_board
from abstractions.isomorphism import board_index
from abstractions.textures import Textures, medoid_boards
from pipelines.run.cluster import Cluster, unlocked
from pipelines.training.tier_flops import TIER_FLOPS
from solver.blueprint.boards import BatchBuckets, street_buckets
from solver.blueprint.evaluation import BlueprintValue, Evaluation, gain_responses, mean_gain
from solver.blueprint.flop_values import FlopBoards, FlopEvaluator, Response, group_boards
from solver.blueprint.pot_types import PotTypes
from solver.blueprint.strategy import Blueprint
from solver.blueprint.tables import TableLayout
from solver.blueprint.trunk import Floats

_SEED = 7_041_776
_TASKS_PER_CORE = 4


@dataclass(frozen=True)
class Tier:
    """How many boards are dealt.

    Attributes
    ----------
    flops
        The flops, suits as in `canonical_boards`.
    turns, rivers
        Turn cards of each flop, river cards of each turn.
    """

    flops: Sequence[str]
    turns: int
    rivers: int

    @property
    def boards(self) -> int:
        """Full boards of the tier."""
        return len(self.flops) * self.turns * self.rivers


TIERS = {name: Tier(*parts) for name, parts in TIER_FLOPS.items()}
#: Metadata of a config field that names a tier: a stage's key has the flops and run-outs of that tier.
TIER_NAME = {"content": TIERS.get}

Boards = tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.int16]]


def tier_boards(textures: Textures, tier: Tier) -> Boards:
    """Boards of a tier, their weights (all alike) and their textures."""
    flops = np.stack([parse_board(flop) for flop in tier.flops])
    numbers, _ = board_index(flops)
    boards = np.empty((tier.boards, 5), dtype=np.uint8)
    row = 0
    # A flop that is listed twice gets run-outs of its own each time.
    for position, (number, flop) in enumerate(zip(numbers, flops)):
        deck = np.random.default_rng(np.random.SeedSequence(_SEED, spawn_key=(int(number), position)))
        rest = np.setdiff1d(np.arange(52), flop)
        for turn in deck.choice(rest, tier.turns, replace=False):
            for river in deck.choice(rest[rest != turn], tier.rivers, replace=False):
                boards[row] = [*flop, turn, river]
                row += 1
    owners = np.repeat(textures.texture_of_flop[numbers], tier.turns * tier.rivers)
    # Deals keep their suits: were turns renamed to the first suit that fits, the responder would know it.
    distinct, first, counts = np.unique(boards, axis=0, return_index=True, return_counts=True)
    return distinct, counts.astype(np.float64), owners[first].astype(np.int16)


@dataclass(frozen=True, eq=False)
class EvaluationBoards:
    """Full boards by flop, with the buckets of all hands on flop, turn and river of each."""

    flops: tuple[FlopBoards, ...]
    buckets: tuple[NDArray[np.uint16], ...]

    @classmethod
    def build(cls, flops: Sequence[FlopBoards], source: BucketSource) -> EvaluationBoards:
        """Look up the buckets of boards."""
        return cls(tuple(flops), tuple(street_buckets(source, flop.boards) for flop in flops))

    @property
    def num_boards(self) -> int:
        """Full boards in all."""
        return sum(len(flop.boards) for flop in self.flops)


def evaluation_flops(name: str, textures: Textures, covered: str) -> list[FlopBoards]:
    """The boards of tier `name`, or of the medoid game where the name is ``medoids``, by flop.

    Parameters
    ----------
    covered
        Boards that have buckets: ``all`` or ``medoids``. In the latter case the medoid game is every tier.
    """
    if name not in (*TIERS, "medoids"):
        raise ValueError(f"tier {name!r} is unknown; accepted: {', '.join(TIERS)}, medoids")
    if name == "medoids" or covered == "medoids":
        return group_boards(*medoid_boards(textures))
    return group_boards(*tier_boards(textures, TIERS[name]))


def evaluation_boards(name: str, textures: Textures, source: BucketSource, covered: str) -> EvaluationBoards:
    """`evaluation_flops` with their buckets."""
    return EvaluationBoards.build(evaluation_flops(name, textures, covered), source)


@dataclass(frozen=True, eq=False)
class _Postflop:
    """What the tasks of one evaluation share."""

    layout: TableLayout
    pots: PotTypes
    table: NDArray[np.float32]
    reach: tuple[Floats, Floats]
    responses: tuple[Response, ...]


_Flops = Sequence[tuple[FlopBoards, NDArray[np.uint16]]]


def _flop_values(flops: _Flops, shared: _Postflop) -> Floats:
    """Values of every flop line on some flops, ``[flop, seat, response, line, class]``."""
    # What Ray delivers is read-only, for which the kernels would be compiled once more.
    layout, reach = copy.deepcopy((shared.layout, shared.reach))
    table = unlocked(shared.table)
    bucketing = BatchBuckets(layout.num_buckets)
    evaluator = FlopEvaluator(layout, shared.pots, bucketing, table.dtype)
    values = []
    for flop, buckets in flops:
        here = FlopBoards(flop.boards.copy(), flop.weights.copy(), flop.texture)
        bucketing.load(here.boards, np.full(len(here.boards), here.texture), buckets)
        values.append(evaluator.flop_values(table, here, reach, shared.responses))
    return np.array(values)


Progress = Callable[[int, int], None]


def evaluate_blueprint(
    blueprint: Blueprint,
    boards: EvaluationBoards,
    cluster: Cluster,
    *,
    by_street: bool = False,
    progress: Progress | None = None,
) -> BlueprintValue:
    """Evaluate a blueprint over boards, flops spread over the cluster and added in a fixed order.

    Parameters
    ----------
    by_street
        Whether to split the loss after the flop by street, which doubles the work.
    progress
        Called with the number of finished tasks and of all.
    """
    evaluation = Evaluation(blueprint, by_street=by_street)
    return evaluation.result(_line_values(blueprint, tuple(evaluation.responses), boards, cluster, progress))


def exploitability(blueprint: Blueprint, boards: EvaluationBoards, cluster: Cluster) -> float:
    """Exploitability of a blueprint over boards in mbb/hand, as cheaply as possible."""
    values = _line_values(blueprint, gain_responses(blueprint.game), boards, cluster)
    return mean_gain(blueprint.game, blueprint.preflop, values)


def _line_values(
    blueprint: Blueprint,
    responses: tuple[Response, ...],
    boards: EvaluationBoards,
    cluster: Cluster,
    progress: Progress | None = None,
) -> Floats:
    """Values of every flop line over all flops, ``[seat, response, line, class]``."""
    game = blueprint.game
    reach = game.reach(blueprint.preflop, 0), game.reach(blueprint.preflop, 1)
    shared = _Postflop(blueprint.layout, blueprint.pots, blueprint.table, reach, responses)
    pairs = list(zip(boards.flops, boards.buckets))
    size = max(1, len(pairs) // (_TASKS_PER_CORE * cluster.num_cpus))
    items = [pairs[start : start + size] for start in range(0, len(pairs), size)]
    parts: list[Floats] = [np.empty(0)] * len(items)
    for done, (position, part) in enumerate(cluster.stream(_flop_values, items, shared=shared)):
        parts[position] = part
        if progress is not None:
            progress(done + 1, len(items))
    values = np.concatenate(parts)
    total = values[0]
    for flop in values[1:]:
        total = total + flop
    return total
