"""Values of public states: each is solved exactly, and the values of both players are read at its root."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import COMBO_INDEX, NUM_CARDS, NUM_COMBOS, live_combos
from solver.betting.lines import STREETS
from solver.betting.public_tree import NodeKind
from solver.exact.node_values import StreetEntry, street_entries
from solver.postflop.holdem import BOARD_CARDS
from solver.postflop.solver import PostflopSolver
from solver.value_states.public_state import PublicState, inverse_combos

Floats = NDArray[np.float64]
#: Largest sum of both players' values over their ranges, in pots: more is rounding that harms.
ZERO_SUM = 1e-4


@dataclass(frozen=True)
class Labelling:
    """How states are solved.

    Attributes
    ----------
    bet, raise_
        Menus of every street, as in spot files.
    accuracy
        Exploitability at which a solve stops, in percent of the pot.
    max_iterations
        Iterations at most; a state that is not solved by then keeps the exploitability that it has.
    """

    bet: str
    raise_: str
    accuracy: float
    max_iterations: int


@dataclass(frozen=True)
class Labelled:
    """A state and its values.

    Attributes
    ----------
    values
        Of each player by combo: sum over the opponent's hands of their probability times what the hand wins beyond half
        the pot, in pots; 0 for combos that the board blocks.
    game_value
        Mean over all deals of what the first player wins beyond half the pot, in pots.
    exploitability
        In percent of the pot.
    """

    state: PublicState
    values: tuple[Floats, Floats]
    game_value: float
    exploitability: float

    @property
    def imbalance(self) -> float:
        """Sum over both players of the values of their ranges, in pots; 0 but for rounding."""
        return float(sum(own @ values for own, values in zip(self.state.ranges, self.values)))

    def renamed(self, suits: NDArray[np.integer]) -> Labelled:
        """The same with suits renamed."""
        order = inverse_combos(suits)
        values = self.values[0][order], self.values[1][order]
        return Labelled(self.state.renamed(suits), values, self.game_value, self.exploitability)


def label(state: PublicState, how: Labelling) -> Labelled:
    """Solve a state.

    Raises
    ------
    ValueError
        If the values do not sum to zero, not in 64 bits either.
    """
    return _checked(state, how)[0]


def label_with_rivers(
    state: PublicState, how: Labelling, rivers: int, rng: np.random.Generator
) -> tuple[Labelled, list[Labelled]]:
    """Solve a turn state, and some river states that its solution leaves.

    The line, the card and the ranges of a river state come from the solved turn, lines that are played more often more
    often. It is then solved on its own, because the turn's solve does not reach all of its rivers well.
    """
    labelled, solver = _checked(state, how)
    found = (_river_state(solver, state, rng) for _ in range(rivers))
    return labelled, [label(river, how) for river in found if river is not None]


def label_with_every_river(
    state: PublicState, how: Labelling, bound: float
) -> tuple[Labelled, list[Labelled], int]:
    """Solve a turn state, and read every river state below it from the same solve.

    A river's ranges are those with which the solved strategies arrive, its values those of these strategies, and its
    exploitability is that of these strategies in the river alone. That is not the turn's: the turn's bounds the mean
    over rivers, each by how often it is reached, so rivers that are hardly reached may be played badly.

    Parameters
    ----------
    bound
        Largest exploitability of a river that is returned, in percent of the pot at the river.

    Returns
    -------
    labelled : Labelled
        The turn.
    rivers : list of Labelled
        Rivers within the bound whose values sum to zero.
    num_read : int
        Rivers that the solved strategies reach, the others included.
    """
    labelled, solver = _checked(state, how)
    rivers = read_rivers(solver, state)
    kept = [river for river in rivers if river.exploitability <= bound and abs(river.imbalance) <= ZERO_SUM]
    return labelled, kept, len(rivers)


def read_rivers(solver: PostflopSolver, state: PublicState) -> list[Labelled]:
    """Every river state that the solve of a turn state reaches with both players, equivalent suits once."""
    boards = solver.engine.deals.boards
    numbers = np.flatnonzero(boards["street"] == BOARD_CARDS - len(state.board)).tolist()
    return [
        river
        for board in numbers
        for entry in street_entries(solver.engine, board)
        if (river := _read_river(solver, state, board, entry)) is not None
    ]


def _read_river(solver: PostflopSolver, turn: PublicState, board: int, entry: StreetEntry) -> Labelled | None:
    """One river of a solved turn; None where no two hands can meet."""
    engine, tree = solver.engine, solver.tree
    pot = int(tree.pot[entry.node])
    totals = [float(reach.sum()) for reach in entry.reach]
    pairs = float(entry.reach[0] @ engine.compatible(0, entry.reach[1], board)) / (totals[0] * totals[1])
    if pairs <= 0.0:
        return None
    ranges, values, gain = [], [], 0.0
    for player in range(2):
        reach = entry.reach[player] / totals[player]
        # Chips over half the pot of the turn are also chips over half the pot of the river: both paid the same since.
        scale = totals[1 - player] * pot
        gain += float(reach @ entry.best[player]) / scale / pairs
        found = np.where(reach > 0.0, entry.values[player], entry.best[player]) / scale
        cards = engine.game.hands[player][entry.hands[player]]
        combos = COMBO_INDEX[cards[:, 0], cards[:, 1]]
        weights, by_combo = np.zeros(NUM_COMBOS), np.zeros(NUM_COMBOS)
        weights[combos], by_combo[combos] = reach, found
        ranges.append(weights)
        values.append(by_combo)
    stack = turn.stack - int(tree.committed[entry.node].max())
    state = PublicState(engine.deals.cards[board], pot, stack, (ranges[0], ranges[1]))
    return Labelled(
        state=state,
        values=(values[0], values[1]),
        game_value=float(ranges[0] @ values[0]) / pairs,
        exploitability=50.0 * gain,
    )


def _checked(state: PublicState, how: Labelling) -> tuple[Labelled, PostflopSolver]:
    for precision in ("float32", "float64"):
        labelled, solver = _solved(state, how, precision)
        if abs(labelled.imbalance) <= ZERO_SUM:
            return labelled, solver
    raise ValueError(f"state: the values sum to {labelled.imbalance:.2g} pots instead of 0")


def state_solver(state: PublicState, how: Labelling, precision: str = "float32") -> PostflopSolver:
    """A solver of a state that keeps every hand which the board leaves."""
    return PostflopSolver(
        board=state.board,
        oop_range=state.ranges[0],
        ip_range=state.ranges[1],
        pot=state.pot,
        stack=state.stack,
        bet_sizes={STREETS[len(state.board) - 2]: {"bet": how.bet, "raise": how.raise_}},
        precision=precision,
        every_hand=True,
    )


def _solved(state: PublicState, how: Labelling, precision: str) -> tuple[Labelled, PostflopSolver]:
    solver = state_solver(state, how, precision)
    outcome = solver.solve(max_iterations=how.max_iterations, target_exploitability_pct=how.accuracy)
    engine = solver.engine
    values = []
    for player in range(2):
        held = engine.game.weights[player] > 0.0
        found = np.where(held, engine.root_values(player), engine.root_values(player, best=True))
        cards = engine.game.hands[player]
        by_combo = np.zeros(NUM_COMBOS)
        by_combo[COMBO_INDEX[cards[:, 0], cards[:, 1]]] = found / state.pot
        values.append(by_combo)
    value = float(state.ranges[0] @ values[0]) / engine.pair_weight
    return Labelled(state, (values[0], values[1]), value, outcome.exploitability_pct), solver


def _river_state(solver: PostflopSolver, state: PublicState, rng: np.random.Generator) -> PublicState | None:
    """Where a hand that follows the solved strategies may come to on the river; None if it ends before."""
    tree, node = solver.tree, 0
    ranges = state.ranges
    while tree.kind[node] == NodeKind.DECISION:
        player = int(tree.player[node])
        combos = _combos(solver, player)
        strategy = solver.engine.strategy(node)
        weights = strategy @ ranges[player][combos]
        action = int(rng.choice(len(weights), p=weights / weights.sum()))
        after = np.zeros(NUM_COMBOS)
        after[combos] = ranges[player][combos] * strategy[action]
        ranges = (after, ranges[1]) if player == 0 else (ranges[0], after)
        node = int(tree.children_of(node)[action])
    if tree.kind[node] != NodeKind.CHANCE:
        return None
    card = int(rng.choice(np.setdiff1d(np.arange(NUM_CARDS), state.board)))
    board = (*state.board, card)
    live = live_combos(np.array(board, dtype=np.uint8))
    first, second = (weights * live for weights in ranges)
    if len(board) != BOARD_CARDS or not first.any() or not second.any():
        return None
    stack = state.stack - int(tree.committed[node].max())
    return PublicState(board, int(tree.pot[node]), stack, (first / first.sum(), second / second.sum()))


def _combos(solver: PostflopSolver, player: int) -> NDArray[np.int64]:
    cards = solver.engine.game.hands[player]
    return COMBO_INDEX[cards[:, 0], cards[:, 1]].astype(np.int64)
