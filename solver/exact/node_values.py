"""What decisions and lines of a solved game are worth on one board: reach, values and best responses by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solver.exact.engine import CfrEngine

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NodeValues:
    """A decision node on one board, by hand of the board (`hands` are root hands, per player).

    Attributes
    ----------
    reach
        Per player, weight of each hand at the node: its range times its own strategy on the way.
    values
        Per player, counterfactual value of each hand: sum over the opponent's hands of reach times payoff,
        since the start of the hand and over an even split of the dead money.
    action_values
        The same for each action of the player to act, ``[action, hand]``.
    strategy
        Average strategy of the player to act, ``[action, hand]``.
    """

    board: int
    hands: tuple[NDArray[np.int16], NDArray[np.int16]]
    reach: tuple[Floats, Floats]
    values: tuple[Floats, Floats]
    action_values: Floats
    strategy: Floats


@dataclass(frozen=True)
class StreetEntry:
    """A line that enters a street on one board, by hand of the board (`hands` are root hands, per player).

    Attributes
    ----------
    node
        First node of the street.
    reach, values
        As in `NodeValues`.
    best
        Per player, the value of each hand that responds as well as possible from this node on.
    """

    node: int
    hands: tuple[NDArray[np.int16], NDArray[np.int16]]
    reach: tuple[Floats, Floats]
    values: tuple[Floats, Floats]
    best: tuple[Floats, Floats]


def node_values(engine: CfrEngine, node: int, board: int = 0) -> NodeValues:
    """Reach, values and strategy at a decision node on a board, under the average strategies."""
    return board_values(engine, [node], board)[0]


def board_values(engine: CfrEngine, nodes: Sequence[int], board: int = 0) -> list[NodeValues]:
    """`node_values` of some decision nodes of a board's street, with one sweep for each player."""
    strategies = [engine.strategy(node, board) for node in nodes]
    action_values = [np.empty(0)] * len(nodes)
    reach: list[list[Floats]] = [[], []]
    values: list[list[Floats]] = [[], []]
    for own in range(2):
        visit = engine.visit(board, own)
        for k, node in enumerate(nodes):
            there = visit.reach(node)
            reach[1 - own].append(there)
            if own == int(engine.tree.player[node]):
                found = np.array([visit.values(child) for child in engine.tree.children_of(node).tolist()])
                if not there.any():
                    found[:] = 0.0
                action_values[k] = found
                values[own].append((strategies[k] * found).sum(axis=0))
            else:
                values[own].append(visit.values(node))
    hands = engine.deals.hands[0][board], engine.deals.hands[1][board]
    return [
        NodeValues(
            board=board,
            hands=hands,
            reach=(reach[0][k], reach[1][k]),
            values=(values[0][k], values[1][k]),
            action_values=action_values[k],
            strategy=strategies[k],
        )
        for k in range(len(nodes))
    ]


def street_entries(engine: CfrEngine, board: int) -> list[StreetEntry]:
    """Values and best responses at every line that enters a board's street, under the average strategies.

    Lines that a player never plays with any hand of the board are left out.
    """
    tree = engine.tree
    street = tree.street[0] + engine.deals.boards[board]["street"]
    begins = (tree.parent < 0) | (tree.street[tree.parent] != tree.street)
    nodes = np.flatnonzero((tree.street == street) & begins).tolist()
    reach: dict[int, list[Floats]] = {}
    found: dict[tuple[int, bool], list[Floats]] = {}
    for own in range(2):
        for best in (False, True):
            visit = engine.visit(board, own, best=best)
            found[own, best] = [visit.values(node) for node in nodes]
        reach[1 - own] = [visit.reach(node) for node in nodes]
    hands = engine.deals.hands[0][board], engine.deals.hands[1][board]
    return [
        StreetEntry(
            node=node,
            hands=hands,
            reach=(reach[0][k], reach[1][k]),
            values=(found[0, False][k], found[1, False][k]),
            best=(found[0, True][k], found[1, True][k]),
        )
        for k, node in enumerate(nodes)
        if reach[0][k].any() and reach[1][k].any()
    ]
