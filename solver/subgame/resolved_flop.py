"""A blueprint that solves again from a street on, met by an exact best responder on the boards of one flop.

Re-solver and responder are dealt the same run-outs, so this is one proper game. Before the first street that is solved
again, the blueprint plays. The spots do not touch each other, therefore one sweep of all boards solves them all.

Solved without safety, a spot is met with the ranges that the blueprint leaves. A responder that comes with other hands
is not met by such a strategy. Solves from the flop on can be safe instead: each player's strategy is then found in a
solve of its own. The opponent's range of the blueprint comes in any case. All its other hands may come too or stay out,
as in `solver.subgame.safety.Resolve`, class by class, because that is what is known when the choice is made.

The solve sees every hand on every board. It is the trainer's shard with hands for buckets; the rows of the streets
before are held at the blueprint's strategy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_CLASSES, live_combos
from solver.betting.public_tree import PublicTree
from solver.blueprint.boards import BoardBatch
from solver.blueprint.every_hand import EveryHand
from solver.blueprint.flop_values import RESPONSES, FlopBoards, FlopEvaluator, Response
from solver.blueprint.pot_types import PotTypes
from solver.blueprint.rows import action_nodes, normalised
from solver.blueprint.shard import Shard
from solver.blueprint.strategy import Blueprint
from solver.blueprint.tables import TableLayout
from solver.blueprint.trunk import TrunkGame
from solver.postflop.solver import AUTO
from solver.preflop.probabilities import seat_reach
from solver.subgame.safety import Resolve

Floats = NDArray[np.float64]
#: Rows ``[action, hand of each board]`` of a pot type (first number) on a street (second number).
KnownRows = dict[tuple[int, int], NDArray[np.float32]]
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


def line_gifts(game: TrunkGame, preflop: Floats, given_up: Floats) -> tuple[Floats, Floats]:
    """What the hands of each seat give up before the flop to come to each flop line, ``[line, 169]``.

    Parameters
    ----------
    preflop
        The blueprint's strategy, ``[preflop node, 169]``.
    given_up
        Chips that a hand wins less, in a deal that gets there, by the action that leads to a node than by its best one:
        ``[preflop node, 169]``, no less than 0.

    Returns
    -------
    In chips times deals, as the values of flop lines.
    """
    tree = game.preflop.tree
    opponents = [seat_reach(tree, preflop, 1 - seat) for seat in range(2)]
    gifts = np.zeros((2, len(game.leaves), NUM_CLASSES))
    for line, leaf in enumerate(game.leaves):
        node = leaf
        while node > 0:
            parent = int(tree.parent[node])
            gifts[tree.player[parent], line] += given_up[node]
            node = parent
        for seat in range(2):
            gifts[seat, line] *= game.preflop.pairs(opponents[seat][leaf])
    return gifts[0], gifts[1]


def stay_out_values(blueprint: Blueprint, flop: FlopBoards, gifts: tuple[Floats, Floats]) -> Floats:
    """What each flop line must be worth to the hands of a seat to make them come, ``[seat, line, 169]``.

    That is what the blueprint's own play is worth to them on this flop, and what they gave up on the way. In chips
    times deals, as if no other flop came.
    """
    evaluator = FlopEvaluator(blueprint.layout, blueprint.pots, blueprint.bucketing, blueprint.table.dtype)
    reach = [blueprint.game.reach(blueprint.preflop, seat) for seat in range(2)]
    values = evaluator.flop_values(blueprint.table, flop, reach, RESPONSES[:1])[:, 0]
    return values / flop.weights.sum() + np.stack(gifts)


def known_rows(blueprint: Blueprint, flop: FlopBoards, street: int) -> KnownRows:
    """The blueprint's strategy by hand on the streets before `street` (0 flop .. 2 river) on a flop's boards."""
    tree, layout, slot = blueprint.game.tree, blueprint.layout, blueprint.slot(flop.texture)
    hands = EveryHand(flop.boards)
    rows: KnownRows = {}
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


def table_bytes(blueprint: Blueprint, flop: FlopBoards, *, safe: bool = False) -> int:
    """Bytes of the tables that `resolved_values` fills."""
    layout = TableLayout(blueprint.layout.plan, EveryHand(flop.boards).num_buckets)
    return (3 if safe else 2) * layout.size * np.dtype(np.float32).itemsize


def solve_again(
    game: ResolvedGame, flop: FlopBoards, known: KnownRows, stay_out: Floats | None = None
) -> tuple[Shard, NDArray[Any]]:
    """Solve all spots of a flop's boards that `known` leaves open; returns the shard and the average strategies.

    Parameters
    ----------
    stay_out
        As `stay_out_values` says, for safe solves; None: without safety.
    """
    if stay_out is None:
        shard, batch = _prepared(game, flop)
        for iteration in range(1, game.iterations + 1):
            for own in range(2):
                _hold(shard, shard.regret, known, _HELD)
                shard.sweep(own, batch, game.reach[1 - own].astype(np.float32), iteration)
        # Every iteration sweeps every board, so no discount is missing.
        _hold(shard, shard.average, known, 1.0)
        return shard, shard.average
    if known:
        raise ValueError("stay_out: safe solves begin on the flop, with nothing known after it")
    shard = _protected(game, flop, 0, stay_out[1])
    table = shard.average
    shard = _protected(game, flop, 1, stay_out[0])
    for pot_type, root in enumerate(shard.pots.templates):
        for street in range(3):
            nodes = action_nodes(game.tree, root, street)
            first = game.tree.player[game.tree.parent[nodes]] == 0
            rows = (shard.layout.rows(own, pot_type, street) for own in (table, shard.average))
            shard.layout.fill(table, pot_type, street, np.where(first[:, None], *rows))
    return shard, table


def _prepared(game: ResolvedGame, flop: FlopBoards) -> tuple[Shard, BoardBatch]:
    shard = Shard(game.tree, game.pots, range(len(game.pots.templates)), EveryHand(flop.boards))
    shard.begin_phase(1, AUTO)
    weights = flop.weights / flop.weights.sum()
    return shard, BoardBatch(flop.boards, weights, np.zeros(len(flop.boards), dtype=np.int16))


def _protected(game: ResolvedGame, flop: FlopBoards, own: int, stay_out: Floats) -> Shard:
    """A shard whose average of player `own` is safe against an opponent who gets `stay_out` where it does not come."""
    shard, batch = _prepared(game, flop)
    other = 1 - own
    choice = Resolve(stay_out.ravel(), np.ones(stay_out.size))
    for iteration in range(1, game.iterations + 1):
        comes = game.reach[other] + (1 - game.reach[other]) * choice.enters.reshape(stay_out.shape)
        shard.sweep(own, batch, comes.astype(np.float32), iteration)
        values = shard.sweep(other, batch, game.reach[own].astype(np.float32), iteration)
        choice.observe(values.sum(axis=0).ravel())
    return shard


def _hold(shard: Shard, table: NDArray[Any], known: KnownRows, scale: float) -> None:
    for (pot_type, street), rows in known.items():
        shard.layout.fill(table, pot_type, street, np.float32(scale) * rows)


def resolved_values(
    game: ResolvedGame,
    flop: FlopBoards,
    known: KnownRows,
    responses: tuple[Response, ...],
    stay_out: Floats | None = None,
) -> Floats:
    """Value of every flop line against the re-solving blueprint, ``[seat, response, line, 169]``.

    As `FlopEvaluator.flop_values`, in chips times deals.
    """
    shard, table = solve_again(game, flop, known, stay_out)
    evaluator = FlopEvaluator(shard.layout, shard.pots, shard.bucketing, table.dtype)
    return evaluator.flop_values(table, flop, game.reach, responses)
