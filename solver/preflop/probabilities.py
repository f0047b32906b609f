"""Preflop strategies as arrays: ``[node, class]``, the probability of the action that leads to the node."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_NAMES, NUM_CLASSES
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.tree_text import action_labels, preflop_key
from solver.preflop.kernels import _reach

Floats = NDArray[np.float64]

#: ``{line: {hand: {label: probability}}}``, lines as ``||p|b300r900``.
LineTable = Mapping[str, Mapping[str, Mapping[str, float]]]


def uniform(tree: PublicTree) -> Floats:
    """The strategy that takes every action alike."""
    probabilities = np.ones((len(tree), NUM_CLASSES))
    probabilities[1:] /= tree.num_children[tree.parent[1:]][:, None]
    return probabilities


def normalised(tree: PublicTree, sums: Floats) -> Floats:
    """The strategy in proportion to sums by node and class; uniform where a decision has none for a class."""
    probabilities = uniform(tree)
    for node in np.flatnonzero(tree.kind == NodeKind.DECISION):
        children = tree.children_of(int(node))
        here = sums[children]
        total = here.sum(axis=0)
        played = total > 0
        probabilities[np.ix_(children, played)] = here[:, played] / total[played]
    return probabilities


def from_table(tree: PublicTree, table: LineTable) -> Floats:
    """The array of a strategy that is given by line, hand and label of the action."""
    probabilities = np.ones((len(tree), NUM_CLASSES))
    for node in np.flatnonzero(tree.kind == NodeKind.DECISION):
        rows, labels = table[preflop_key(tree, int(node))], action_labels(tree, int(node))
        probabilities[tree.children_of(int(node))] = [
            [rows[hand][label] for hand in CLASS_NAMES] for label in labels
        ]
    return probabilities


def seat_reach(tree: PublicTree, probabilities: Floats, seat: int) -> Floats:
    """Probability that each class of a seat plays its part of the way to each node, ``[node, class]``."""
    reach = np.empty(probabilities.shape)
    _reach(tree.player, tree.parent, probabilities, seat, reach)
    return reach


def line_reach(tree: PublicTree, probabilities: Floats, node: int, seat: int) -> Floats:
    """The same for one node, by class.

    It multiplies from the end of the line to its start and `seat_reach` from the start to the end, so that they
    may differ in the last bit after three own actions. Published values divide by this one.
    """
    reach = np.ones(NUM_CLASSES)
    while node > 0:
        if tree.player[tree.parent[node]] == seat:
            reach = reach * probabilities[node]
        node = int(tree.parent[node])
    return reach
