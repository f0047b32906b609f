"""Two players left of three or more: the rest of the hand solved exactly, around the hands that the others folded.

The others' chips are dead money, and their hands are taken out of the deck as often as they fold them on the line
(`solver.exact.folded_hands`). What is left is a spot of two players. So there is an equilibrium to find, and
exploitability says how near the solve is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import COMBO_INDEX, NUM_COMBOS, live_combos
from solver.betting.public_tree import PublicTree
from solver.betting.rules import start_street
from solver.betting.tree import subgame_tree
from solver.multiplayer.blueprint import MultiwayBlueprint
from solver.multiplayer.subgame import PlayedHand
from solver.postflop.holdem import holdem_game, read_folded
from solver.postflop.node_report import NodeReport
from solver.postflop.solver import PostflopSolver
from solver.subgame.config import SubgameConfig
from solver.subgame.solve import Progress

Floats = NDArray[np.float64]
#: Iterations of a solve that is only given a target or seconds.
MANY_ITERATIONS = 1_000_000


@dataclass(frozen=True, eq=False)
class TwoLeft:
    """The rest of a hand of two players, solved from the start of the street on.

    Attributes
    ----------
    hand
        The hand so far, with the range of every seat.
    seats
        Seats of the players out of and in position; the solver's players 0 and 1.
    solver
        Tables of the solve.
    seconds, iterations, reason, exploitability_pct
        How it ended: `reason` as in `SolveResult`, exploitability in percent of the pot at the start of the street.
    """

    hand: PlayedHand
    seats: tuple[int, int]
    solver: PostflopSolver
    seconds: float
    iterations: int
    reason: str
    exploitability_pct: float

    @property
    def folded(self) -> tuple[int, ...]:
        """Seats that have folded."""
        return folded_seats(self.hand)

    @property
    def node(self) -> int:
        """Where the line ends, in the solver's tree."""
        tree, node = self.solver.tree, 0
        for taken in self.hand.streets[-1].actions:
            (node,) = (
                child
                for child in tree.children_of(node).tolist()
                if (int(tree.action[child]), int(tree.amount[child])) == taken
            )
        return node

    def report(self) -> NodeReport:
        """Strategy, EV and equity of every hand where the line ends."""
        return self.solver.go(self.solver.tree.line(self.node)).node()

    def strategy(self, node: int) -> Floats:
        """Probability of each action by combo at a decision of the street, ``[action, 1326]``.

        Combos outside the range that was solved take all actions alike; those that the board blocks have 0.
        """
        engine, tree = self.solver.engine, self.solver.tree
        actions = int(tree.num_children[node])
        live = live_combos(np.array(self.hand.board, dtype=np.uint8))
        result = np.where(live, 1.0 / actions, 0.0) * np.ones((actions, 1))
        cards = engine.game.hands[int(tree.player[node])]
        result[:, COMBO_INDEX[cards[:, 0], cards[:, 1]]] = engine.strategy(node)
        return result


def folded_seats(hand: PlayedHand) -> tuple[int, ...]:
    """Seats that are out at the start of the street."""
    return tuple(seat for seat in range(len(hand.ranges)) if seat not in hand.players)


def solve_two_left(
    blueprint: MultiwayBlueprint,
    line: str,
    board: str | Sequence[int] | NDArray[np.integer],
    config: SubgameConfig,
    *,
    ranges: Sequence[Floats] | None = None,
    progress: Callable[[Progress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> TwoLeft:
    """Solve the rest of a hand with two players left, exactly to the river.

    Parameters
    ----------
    blueprint
        What everybody plays before the street: it gives the ranges, those of folded players included.
    line
        The hand so far, with any legal sizes.
    board
        Public cards of the line's last street.
    config
        Sizes, and when to stop.
    ranges
        Range of every seat at the start of the street, also of those that have folded; by default the blueprint's.

    Raises
    ------
    ValueError
        With one line about the input: a line that cannot be played or has more players left, a board that does not fit
        it, folded hands that leave no deal, a game with prizes (what one player loses there, the folded ones gain too).
    """
    started = time.perf_counter()
    if blueprint.game.payouts:
        raise ValueError("depth: full counts chips, and this game has payouts; accepted with prizes: 1")
    hand = PlayedHand.play(blueprint, line, board, ranges)
    if len(hand.players) != 2:
        raise ValueError(
            f"depth: full needs two players left, {line!r} has {len(hand.players)}; accepted with more: 1"
        )
    first, second = hand.players
    folded = read_folded([hand.ranges[seat] for seat in folded_seats(hand)])
    game = holdem_game(hand.board, hand.ranges[first], hand.ranges[second], folded)
    solver = PostflopSolver.of_tree(
        two_seat_tree(hand, config), game, threads=config.threads, memory_limit=config.memory_bytes
    )

    def tell(iteration: int, _: float, percent: float) -> None:
        if progress is not None:
            progress(Progress(iteration, time.perf_counter() - started, percent))

    left = None if config.time_s is None else config.time_s - (time.perf_counter() - started)
    if left is not None and left <= 0.0:
        raise ValueError(f"time_s: {config.time_s:g} s are over before the first iteration")
    found = solver.solve(
        max_iterations=config.iterations or MANY_ITERATIONS,
        target_exploitability_pct=config.target_pct,
        time_limit_s=left,
        progress=tell,
        should_stop=should_stop,
    )
    spent = time.perf_counter() - started
    return TwoLeft(
        hand, (first, second), solver, spent, found.iterations, found.reason, found.exploitability_pct
    )


def two_seat_tree(hand: PlayedHand, config: SubgameConfig) -> PublicTree:
    """Betting of the two players left from the start of the street to the river; seat 0 is out of position."""
    street, game, rules = hand.streets[-1], hand.game, hand.rules
    start, pair = street.start, hand.players
    antes = game.posted_antes
    others = sum(start.committed[seat] for seat in folded_seats(hand))
    two = replace(
        rules,
        stacks=tuple(rules.stacks[seat] for seat in pair),
        dead=rules.dead + others,
        order=((0, 1),) * len(rules.order),
        resolved={},
    )
    aggressor = pair.index(start.previous_aggressor) if start.previous_aggressor in pair else -1
    root = start_street(two, start.street, tuple(start.committed[seat] for seat in pair), 0, aggressor)
    return subgame_tree(
        two,
        root,
        config.menus(start.street),
        raise_cap=config.raise_cap,
        played=street.actions,
        antes=tuple(antes[seat] for seat in pair),
        rake=game.rake,
        rake_cap=game.rake_cap,
        node_limit=game.node_limit,
    )


def weights_of(report: NodeReport, player: int) -> tuple[Floats, Floats]:
    """Weight and EV of each combo of a player at a node, [1326] each; the EV is nan for combos that have none."""
    hands = report.hands[player]
    weights, ev = np.zeros(NUM_COMBOS), np.full(NUM_COMBOS, np.nan)
    weights[hands.combos] = hands.weights
    ev[hands.combos] = np.where(hands.met > 0.0, hands.ev, np.nan)
    return weights, ev
