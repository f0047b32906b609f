"""Boards over which blueprints are evaluated, and the evaluation of a blueprint spread over the cluster.

A tier is a fixed sample of real flops (`pipelines.training.tier_flops`). All runs are measured on the same boards,
whatever their textures.

The flops of `real` and `real_small` have all their run-outs, so that the responder knows no more than in hold'em once
the flop is dealt: what is left of chance is the choice of the flops, and the standard error says how much. Before the
flop the responder still chooses on these flops alone. Of the 1,316 mbb/hand that it wins on `real` from the blueprint
of preset `fast`, about 34 come from that by the jackknife; 1,235 are left when it plays each flop by a choice made on
the others. Every evaluation says what is left then (`exploitability_held_out`). Where it is known what the blueprint's
own play wins over all flops, the luck of the sampled flops can be taken off (`value_over_all_flops`). That is the best
estimate of the figure over all flops.

In the other tiers a flop has a few turns with a few rivers each, dealt from fixed seeds. Their best responder plays the
game that deals only these boards: on the flop it may foresee which turns can come, on the turn which rivers. With few
run-outs it therefore wins more than against the same blueprint in hold'em, and such a tier is to be compared with
itself only. The medoid game has no such surplus: its few boards are the game.

How much more: the blueprint of preset `accurate`, on 6 flops with n turns of n rivers each:

    n                5      8     16    all
    mbb/hand     1,245  1,129  1,008    956
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from abstractions.buckets import BucketSource
from abstractions.cards import parse_board
from abstractions.isomorphism import board_index
from abstractions.textures import Textures, medoid_boards
from pipelines.run.cluster import Cluster, OnDemand, unlocked
from pipelines.training.flop_draw import balanced_features
from pipelines.training.tier_flops import ALL_RUN_OUTS, TIER_FLOPS, TIER_LABELS
from solver.blueprint.boards import BatchBuckets, street_buckets
from solver.blueprint.evaluation import (
    BlueprintValue,
    Evaluation,
    gain_error,
    gain_responses,
    held_out_gain,
    mean_gain,
    without_flop_luck,
)
from solver.blueprint.flop_values import FlopBoards, FlopEvaluator, Response, group_boards
from solver.blueprint.pot_types import PotTypes
from solver.blueprint.run_outs import NUM_RIVERS, NUM_TURNS, all_run_outs
from solver.blueprint.strategy import Blueprint
from solver.blueprint.tables import TableLayout
from solver.blueprint.trunk import Floats

_SEED = 7_041_776
_TASKS_PER_CORE = 4
#: A flop with more boards is a task of its own.
_BOARDS_PER_TASK = 500
#: With fewer flops, no slopes of features can be told.
_FLOPS_TO_BALANCE = 20


@dataclass(frozen=True)
class Tier:
    """How many boards are dealt.

    Attributes
    ----------
    flops
        The flops, suits as in `canonical_boards`.
    turns, rivers
        Turn cards of each flop, river cards of each turn.
    weights
        Of the flops; None: all alike.
    """

    flops: Sequence[str]
    turns: int
    rivers: int
    weights: Sequence[float] | None = None

    @property
    def boards(self) -> int:
        """Full boards of the tier."""
        return len(self.flops) * self.turns * self.rivers

    @property
    def complete(self) -> bool:
        """Whether every flop has all its run-outs."""
        return (self.turns, self.rivers) == ALL_RUN_OUTS

    @property
    def cards(self) -> NDArray[np.uint8]:
        """The flops as cards, ``[flop, 3]``."""
        return np.stack([parse_board(flop) for flop in self.flops])

    @property
    def flop_weights(self) -> NDArray[np.float64]:
        """Weights of the flops."""
        return np.ones(len(self.flops)) if self.weights is None else np.array(self.weights, dtype=np.float64)


TIERS = {name: Tier(*parts) for name, parts in TIER_FLOPS.items()}
#: Metadata of a config field that names a tier: a stage's key has the flops and run-outs of that tier.
TIER_NAME = {"content": TIERS.get}


def tier_label(name: str) -> str:
    """Name under which the figures of a tier are recorded and compared."""
    return TIER_LABELS.get(name, name)


Boards = tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.int16]]


def tier_boards(textures: Textures, tier: Tier) -> Boards:
    """Sampled boards of a tier, their weights and their textures."""
    flops = tier.cards
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
    distinct, first, same = np.unique(boards, axis=0, return_index=True, return_inverse=True)
    weights = np.zeros(len(distinct))
    np.add.at(weights, same.ravel(), np.repeat(tier.flop_weights, tier.turns * tier.rivers))
    return distinct, weights, owners[first].astype(np.int16)


def tier_flops(textures: Textures, tier: Tier) -> list[FlopBoards]:
    """Boards of a tier by flop. With all run-outs, a board stands for those that are equal up to suits."""
    if not tier.complete:
        return group_boards(*tier_boards(textures, tier))
    flops = tier.cards
    numbers, _ = board_index(flops)
    found = []
    shares = tier.flop_weights / tier.flop_weights.sum()
    for flop, share, texture in zip(flops, shares, textures.texture_of_flop[numbers]):
        boards, counts = all_run_outs(flop)
        found.append(FlopBoards(boards, share * counts / counts.sum(), int(texture), symmetric=True))
    return found


def swept_boards(tier: Tier) -> int:
    """Full boards that an evaluation of a tier goes through."""
    return sum(len(all_run_outs(flop)[0]) for flop in tier.cards) if tier.complete else tier.boards


@dataclass(frozen=True, eq=False)
class EvaluationBoards:
    """Full boards by flop, and where the buckets of their hands are found.

    Attributes
    ----------
    balanced
        Features of the flops that the weights balance, ``[flop, feature]``, for the standard error; None where the
        boards are the whole game.
    """

    flops: tuple[FlopBoards, ...]
    source: BucketSource
    balanced: NDArray[np.float64] | None = None

    @classmethod
    def build(
        cls, flops: Sequence[FlopBoards], source: BucketSource, balanced: NDArray[np.float64] | None = None
    ) -> EvaluationBoards:
        """Boards in memory; buckets are looked up when a flop is evaluated."""
        return cls(tuple(flops), source, balanced)

    @property
    def num_boards(self) -> int:
        """Full boards in all."""
        return sum(NUM_TURNS * NUM_RIVERS if flop.symmetric else len(flop.boards) for flop in self.flops)

    @property
    def flop_weights(self) -> NDArray[np.float64]:
        """Weight of each flop."""
        return np.array([flop.weights.sum() for flop in self.flops])


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
    return tier_flops(textures, TIERS[name])


def evaluation_boards(name: str, textures: Textures, source: BucketSource, covered: str) -> EvaluationBoards:
    """`evaluation_flops` with their buckets."""
    flops = evaluation_flops(name, textures, covered)
    balanced = None if "medoids" in (name, covered) else _balanced(TIERS[name], flops)
    return EvaluationBoards.build(flops, source, balanced)


def _balanced(tier: Tier, flops: Sequence[FlopBoards]) -> NDArray[np.float64]:
    """What the weights of a tier balance: nothing but their sum where flops count alike or are too few."""
    if tier.weights is None or len(flops) < _FLOPS_TO_BALANCE:
        return np.ones((len(flops), 1))
    return balanced_features(np.stack([flop.boards[0, :3] for flop in flops]))


@dataclass(frozen=True, eq=False)
class _Postflop:
    """What the tasks of one evaluation share."""

    layout: TableLayout
    pots: PotTypes
    table: NDArray[np.float32]
    reach: tuple[Floats, Floats]
    responses: tuple[Response, ...]


_Flops = Sequence[tuple[FlopBoards, NDArray[np.uint16]]]


def _tasks(boards: EvaluationBoards, num_cpus: int) -> OnDemand[_Flops]:
    """Flops with their buckets, so many to a task."""
    many = max((len(flop.boards) for flop in boards.flops), default=0) > _BOARDS_PER_TASK
    size = 1 if many else max(1, len(boards.flops) // (_TASKS_PER_CORE * num_cpus))

    def task(position: int) -> _Flops:
        flops = boards.flops[position * size : (position + 1) * size]
        return [(flop, street_buckets(boards.source, flop.boards)) for flop in flops]

    return OnDemand(-(-len(boards.flops) // size), task)


def _flop_values(flops: _Flops, shared: _Postflop) -> Floats:
    """Values of every flop line on some flops, ``[flop, seat, response, line, class]``."""
    # What Ray delivers is read-only, for which the kernels would be compiled once more.
    layout, reach = copy.deepcopy((shared.layout, shared.reach))
    table = unlocked(shared.table)
    bucketing = BatchBuckets(layout.num_buckets)
    evaluator = FlopEvaluator(layout, shared.pots, bucketing, table.dtype)
    values = []
    for flop, buckets in flops:
        here = flop.copy()
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
    values = flop_line_values(blueprint, tuple(evaluation.responses), boards, cluster, progress)
    return sampled_value(evaluation, boards, values)


def sampled_value(evaluation: Evaluation, boards: EvaluationBoards, values: Floats) -> BlueprintValue:
    """The result of an evaluation from its values on each flop, with what follows from the flops being a sample."""
    result = evaluation.result(_in_order(values))
    if boards.balanced is None:
        return result
    game, preflop, weights = evaluation.blueprint.game, evaluation.blueprint.preflop, boards.flop_weights
    return replace(
        result,
        standard_error=gain_error(game, preflop, values, weights, boards.balanced),
        held_out=held_out_gain(game, preflop, values, weights) if len(weights) > 1 else None,
    )


def value_over_all_flops(
    evaluation: Evaluation, boards: EvaluationBoards, values: Floats, own_play: Floats, all_flops: Floats
) -> BlueprintValue:
    """As `sampled_value`, with the luck of the sampled flops taken off.

    Parameters
    ----------
    values
        On each flop: ``[flop, seat, response, line, class]``.
    own_play, all_flops
        What the blueprint against itself wins on the same boards and over all flops, as in `without_flop_luck`.
    """
    even = without_flop_luck(values, own_play, boards.flop_weights, all_flops)
    return sampled_value(evaluation, boards, even)


def exploitability(
    blueprint: Blueprint, boards: EvaluationBoards, cluster: Cluster, progress: Progress | None = None
) -> float:
    """Exploitability of a blueprint over boards in mbb/hand, as cheaply as possible."""
    values = flop_line_values(blueprint, gain_responses(blueprint.game), boards, cluster, progress)
    return mean_gain(blueprint.game, blueprint.preflop, _in_order(values))


def flop_line_values(
    blueprint: Blueprint,
    responses: tuple[Response, ...],
    boards: EvaluationBoards,
    cluster: Cluster,
    progress: Progress | None = None,
) -> Floats:
    """Values of every flop line on each flop, ``[flop, seat, response, line, class]``."""
    game = blueprint.game
    reach = game.reach(blueprint.preflop, 0), game.reach(blueprint.preflop, 1)
    shared = _Postflop(blueprint.layout, blueprint.pots, blueprint.table, reach, responses)
    items = _tasks(boards, cluster.num_cpus)
    parts: list[Floats] = [np.empty(0)] * len(items)
    for done, (position, part) in enumerate(cluster.stream(_flop_values, items, shared=shared)):
        parts[position] = part
        if progress is not None:
            progress(done + 1, len(items))
    return np.concatenate(parts)


def _in_order(values: Floats) -> Floats:
    """The sum over flops, added one by one so that it does not depend on how numpy adds."""
    total = values[0]
    for flop in values[1:]:
        total = total + flop
    return total
