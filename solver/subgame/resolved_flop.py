"""A blueprint that solves again from a street on, met by an exact best responder on the boards of one flop.

Re-solver and responder are dealt the same run-outs, so this is one proper game. Before the first street that is solved
again, the blueprint plays. So the ranges at the start of that street are the blueprint's, and every spot of the street
is solved without regard to what the opponent gave up on the way (unsafe). The spots do not touch each other, therefore
one sweep of all boards solves them all.

The solve sees every hand on every board. It is the trainer's shard with hands for buckets; the rows of the streets
before are held at the blueprint's strategy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import live_combos
from solver.betting.public_tree import PublicTree
from solver.blueprint.boards import BoardBatch
from solver.blueprint.every_hand import EveryHand
from solver.blueprint.flop_values import FlopBoards, FlopEvaluator, Response
from solver.blueprint.pot_types import PotTypes
from solver.blueprint.rows import action_nodes, normalised
from solver.blueprint.shard import Shard
from solver.blueprint.strategy import Blueprint
from solver.blueprint.tables import TableLayout
from solver.cfr.schedules import schedule

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


def table_bytes(blueprint: Blueprint, flop: FlopBoards) -> int:
    """Bytes of the tables that `resolved_values` fills."""
    layout = TableLayout(blueprint.layout.plan, EveryHand(flop.boards).num_buckets)
    return 2 * layout.size * np.dtype(np.float32).itemsize


def solve_again(game: ResolvedGame, flop: FlopBoards, known: KnownRows) -> tuple[Shard, NDArray[Any]]:
    """Solve all spots of a flop's boards that `known` leaves open; returns the shard and the average strategies."""
    hands = EveryHand(flop.boards)
    shard = Shard(game.tree, game.pots, range(len(game.pots.templates)), hands)
    shard.begin_phase(1, schedule("dcfr"))
    batch = BoardBatch(
        flop.boards, flop.weights / flop.weights.sum(), np.zeros(len(flop.boards), dtype=np.int16)
    )
    for iteration in range(1, game.iterations + 1):
        for own in range(2):
            _hold(shard, shard.regret, known, _HELD)
            shard.sweep(own, batch, game.reach[1 - own].astype(np.float32), iteration)
    # Every iteration sweeps every board, so no discount is missing.
    _hold(shard, shard.average, known, 1.0)
    return shard, shard.average


def _hold(shard: Shard, table: NDArray[Any], known: KnownRows, scale: float) -> None:
    for (pot_type, street), rows in known.items():
        shard.layout.fill(table, pot_type, street, np.float32(scale) * rows)


def resolved_values(
    game: ResolvedGame, flop: FlopBoards, known: KnownRows, responses: tuple[Response, ...]
) -> Floats:
    """Value of every flop line against the re-solving blueprint, ``[seat, response, line, 169]``.

    As `FlopEvaluator.flop_values`, in chips times deals.
    """
    shard, table = solve_again(game, flop, known)
    evaluator = FlopEvaluator(shard.layout, shard.pots, shard.bucketing, table.dtype)
    return evaluator.flop_values(table, flop, game.reach, responses)
