"""A blueprint that solves again from a street on, met by an exact best responder on the boards of one flop.

Re-solver and responder are dealt the same run-outs, so this is one proper game. Before the first street that is solved
again, the blueprint plays. The spots do not touch each other, therefore one sweep of all boards solves them all.

Solved without safety, a spot is met with the ranges that the blueprint leaves. A responder that comes with other hands
is not met by such a strategy. Safe solves find each player's strategy in a solve of its own. The opponent's range of
the blueprint comes in any case. All its other hands may come too or stay out, as in `solver.subgame.safety.Resolve`: on
the flop class by class, because that is what is known when the choice is made, later hand by hand.

The solve sees every hand on every board. It is the trainer's shard with hands for buckets; what is played on the
streets before is held at the blueprint's strategy, and safe solves begin with the reach that it leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_OF_COMBO, NUM_CLASSES, live_combos
from solver.betting.public_tree import PublicTree
from solver.blueprint.boards import BoardBatch
from solver.blueprint.every_hand import EveryHand
from solver.blueprint.flop_values import RESPONSES, FlopBoards, FlopEvaluator, Response
from solver.blueprint.plan import LanePlan
from solver.blueprint.pot_types import PotTypes
from solver.blueprint.rows import action_nodes, normalised
from solver.blueprint.shard import Shard
from solver.blueprint.strategy import Blueprint
from solver.blueprint.tables import TableLayout
from solver.blueprint.trunk import TrunkGame
from solver.postflop.automatic_schedule import AUTOMATIC
from solver.preflop.probabilities import seat_reach
from solver.subgame.safety import Resolve
from solver.subgame.street_spots import (
    KnownRows,
    PlayerReach,
    StreetLines,
    blueprint_values,
    board_groups,
    deals_met,
)

Floats = NDArray[np.float64]
#: What `stay_out_values` returns.
StayOut = Sequence[NDArray[np.float32] | Floats]
#: Regrets that hold a strategy: what a sweep adds is lost beside them.
_HELD = 1e15


@dataclass(frozen=True, eq=False)
class ResolvedGame:
    """What the flops of a game share.

    Attributes
    ----------
    tree, pots
        The game's tree and its flop lines.
    reach
        The blueprint's reach of the flop lines, by seat: ``[line, 169]`` each.
    iterations
        Of each solve.
    """

    tree: PublicTree
    pots: PotTypes
    reach: tuple[Floats, Floats]
    iterations: int


def line_gifts(game: TrunkGame, given_up: Floats) -> tuple[Floats, Floats]:
    """What the hands of each seat give up before the flop to come to each flop line, ``[line, 169]``, in chips a deal.

    Parameters
    ----------
    given_up
        Chips that a hand wins less, in a deal that gets there, by the action that leads to a node than by its best one:
        ``[preflop node, 169]``, no less than 0.
    """
    tree = game.preflop.tree
    gifts = np.zeros((2, len(game.leaves), NUM_CLASSES))
    for line, leaf in enumerate(game.leaves):
        node = leaf
        while node > 0:
            parent = int(tree.parent[node])
            gifts[tree.player[parent], line] += given_up[node]
            node = parent
    return gifts[0], gifts[1]


def stay_out_values(
    blueprint: Blueprint, flop: FlopBoards, street: int, gifts: tuple[Floats, Floats] | None = None
) -> StayOut:
    """What the lines of a street must be worth to the hands of a seat to make them come.

    That is what the blueprint's own play is worth to them, and what they gave up before the flop. In chips times deals,
    as if no other flop came.

    Parameters
    ----------
    street
        From which street on spots are solved again, 0 flop .. 2 river.
    gifts
        As `line_gifts` says; None: nothing.

    Returns
    -------
    For each of the flop's `board_groups`, ``[seat, line, 169]`` on the flop and ``[seat, line, 1326]`` later.
    """
    game = blueprint.game
    if street == 0:
        evaluator = FlopEvaluator(
            blueprint.layout, blueprint.pots, blueprint.bucketing, blueprint.table.dtype
        )
        values = evaluator.flop_values(blueprint.table, flop, _class_reach(blueprint), RESPONSES[:1])[:, 0]
        values /= flop.weights.sum()
        if gifts is not None:
            tree = game.preflop.tree
            for seat, found in enumerate(gifts):
                others = seat_reach(tree, blueprint.preflop, 1 - seat)
                values[seat] += found * np.stack([game.preflop.pairs(others[leaf]) for leaf in game.leaves])
        return [values]
    spots = _spots(
        game.tree, blueprint.pots, flop, known_rows(blueprint, flop, street), _class_reach(blueprint)
    )
    worth = blueprint_values(blueprint, spots.lines, flop, spots.reach)
    if gifts is not None:
        for here, group, reach in zip(worth, spots.groups, spots.reach):
            for seat in range(2):
                chips = gifts[seat][spots.lines.flop_lines][:, CLASS_OF_COMBO]
                here[seat] += chips * deals_met(group, reach[1 - seat])
    return worth


def known_rows(blueprint: Blueprint, flop: FlopBoards, street: int) -> KnownRows:
    """The blueprint's strategy by hand on the streets before `street` (0 flop .. 2 river) on a flop's boards."""
    tree, layout, slot = blueprint.game.tree, blueprint.layout, blueprint.slot(flop.texture)
    hands = EveryHand(flop.boards)
    rows: dict[tuple[int, int], NDArray[np.float32]] = {}
    for before in range(street):
        # Blocked combos may hold any bucket.
        buckets = [
            np.where(live_combos(board), blueprint.bucketing.buckets(board, flop.texture), 0)
            for board in hands.boards(before)
        ]
        for pot_type, template in enumerate(blueprint.pots.templates):
            sums = layout.rows(blueprint.table, pot_type, before, slot).astype(np.float64)
            shares = normalised(tree, action_nodes(tree, template, before), sums)
            rows[pot_type, before] = shares[:, np.concatenate(buckets)].astype(np.float32)
    return rows


def _class_reach(blueprint: Blueprint) -> list[Floats]:
    """Both seats' reach of the flop lines, by class."""
    return [blueprint.game.reach(blueprint.preflop, seat) for seat in range(2)]


@dataclass(frozen=True, eq=False)
class _Spots:
    """The spots of a street on a flop's boards, in groups that share the public cards; reach by class or combo."""

    lines: StreetLines
    groups: list[BoardBatch]
    reach: list[PlayerReach]


def _spots(
    tree: PublicTree, pots: PotTypes, flop: FlopBoards, known: KnownRows, flop_reach: Sequence[Floats]
) -> _Spots:
    """The spots of the first street that `known` leaves open."""
    street = len({street for _, street in known})
    lines, groups = StreetLines.of(tree, pots, street), board_groups(flop, street)
    if street == 0:
        return _Spots(lines, groups, [(flop_reach[0], flop_reach[1])])
    hands = EveryHand(flop.boards)
    publics = [group.boards[0, : 3 + street] for group in groups]
    return _Spots(lines, groups, [lines.reach(tree, known, hands, public, flop_reach) for public in publics])


def table_bytes(blueprint: Blueprint, flop: FlopBoards, *, safe: bool = False) -> int:
    """Bytes of the tables that `resolved_values` fills."""
    layout = TableLayout(blueprint.layout.plan, EveryHand(flop.boards).num_buckets)
    return (3 if safe else 2) * layout.size * np.dtype(np.float32).itemsize


def solve_again(
    game: ResolvedGame, flop: FlopBoards, known: KnownRows, stay_out: StayOut | None = None
) -> tuple[TableLayout, NDArray[np.float32]]:
    """Solve all spots of a flop's boards that `known` leaves open; returns the average strategies of the whole flop.

    Parameters
    ----------
    stay_out
        As `stay_out_values` says, for safe solves; None: without safety.
    """
    if stay_out is None:
        return _solve_for_ranges(game, flop, known)
    spots = _spots(game.tree, game.pots, flop, known, game.reach)
    if len(stay_out) != len(spots.groups) or stay_out[0].shape[1] != spots.lines.num_lines:
        raise ValueError("stay_out: made for another street than the first one that is solved again")
    # One after the other: only the averages of the first solve stay.
    solves = [
        _protected(game, flop, spots, own, [values[1 - own] for values in stay_out]) for own in range(2)
    ]
    return _put_together(game, flop, known, spots.lines, solves)


def _solve_for_ranges(
    game: ResolvedGame, flop: FlopBoards, known: KnownRows
) -> tuple[TableLayout, NDArray[np.float32]]:
    shard = _shard(game.tree, game.pots, flop)
    (batch,) = board_groups(flop, 0)
    for iteration in range(1, game.iterations + 1):
        for own in range(2):
            _hold(shard.layout, shard.regret, known, _HELD)
            shard.sweep(own, batch, game.reach[1 - own].astype(np.float32), iteration)
    # Every iteration sweeps every board, so no discount is missing.
    _hold(shard.layout, shard.average, known, 1.0)
    return shard.layout, shard.average


def _shard(tree: PublicTree, pots: PotTypes, flop: FlopBoards) -> Shard:
    shard = Shard(tree, pots, range(len(pots.templates)), EveryHand(flop.boards))
    shard.begin_phase(1, AUTOMATIC)
    return shard


def _protected(
    game: ResolvedGame, flop: FlopBoards, spots: _Spots, own: int, stay_out: StayOut
) -> tuple[TableLayout, NDArray[np.float32]]:
    """Averages of player `own` that are safe against an opponent who gets `stay_out` where it does not come."""
    shard = _shard(game.tree, spots.lines.pots, flop)
    other = 1 - own
    choices = [Resolve(values.ravel().astype(np.float64), np.ones(values.size)) for values in stay_out]
    for iteration in range(1, game.iterations + 1):
        for batch, reach, choice in zip(spots.groups, spots.reach, choices):
            comes = reach[other] + (1 - reach[other]) * choice.enters.reshape(reach[other].shape)
            shard.sweep(own, batch, comes.astype(np.float32), iteration)
            values = shard.sweep(other, batch, reach[own].astype(np.float32), iteration)
            choice.observe(values.sum(axis=0).ravel())
    return shard.layout, shard.average


def _put_together(
    game: ResolvedGame,
    flop: FlopBoards,
    known: KnownRows,
    lines: StreetLines,
    solves: Sequence[tuple[TableLayout, NDArray[np.float32]]],
) -> tuple[TableLayout, NDArray[np.float32]]:
    """One table of the whole flop: what is known, and each player's strategy from its own solve."""
    layout = TableLayout(LanePlan.build(game.tree, game.pots.templates), EveryHand(flop.boards).num_buckets)
    table = np.zeros(layout.size, dtype=np.float32)
    _hold(layout, table, known, 1.0)
    for street in range(lines.street, 3):
        for pot_type, template in enumerate(game.pots.templates):
            nodes = action_nodes(game.tree, template, street)
            rows = np.empty((len(nodes), layout.num_buckets[street]), dtype=np.float32)
            for k in np.flatnonzero(np.array(lines.pot_types) == pot_type).tolist():
                here = action_nodes(game.tree, lines.pots.templates[k], street)
                first = game.tree.player[game.tree.parent[here]] == 0
                ours, theirs = (own.rows(averages, k, street) for own, averages in solves)
                rows[np.searchsorted(nodes, here)] = np.where(first[:, None], ours, theirs)
            layout.fill(table, pot_type, street, rows)
    return layout, table


def _hold(layout: TableLayout, table: NDArray[Any], known: KnownRows, scale: float) -> None:
    for (pot_type, street), rows in known.items():
        layout.fill(table, pot_type, street, np.float32(scale) * rows)


def resolved_values(
    game: ResolvedGame,
    flop: FlopBoards,
    known: KnownRows,
    responses: tuple[Response, ...],
    stay_out: StayOut | None = None,
) -> Floats:
    """Value of every flop line against the re-solving blueprint, ``[seat, response, line, 169]``.

    As `FlopEvaluator.flop_values`, in chips times deals.
    """
    layout, table = solve_again(game, flop, known, stay_out)
    evaluator = FlopEvaluator(layout, game.pots, EveryHand(flop.boards), table.dtype)
    return evaluator.flop_values(table, flop, game.reach, responses)
