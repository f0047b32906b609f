"""One order of rows: what is encoded for export decodes to the same rows, whoever reads it."""

from __future__ import annotations

import numpy as np
import pytest

from solver.betting.game import GameConfig, StreetSizes
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.tree import game_tree
from solver.blueprint.rows import (
    ALL_TEXTURES,
    RowKey,
    StreetRows,
    action_nodes,
    named_rows,
    normalised,
    rows_by_key,
    texture_row,
)

BUCKETS = 4


@pytest.fixture(scope="module")
def tree() -> PublicTree:
    sizes = StreetSizes("50%", "2.5x", "50%", "2.5x")
    return game_tree(
        GameConfig(stacks=(1000, 1000), raise_sizes=("2.5", "a"), raise_cap=2, postflop=(sizes,) * 3)
    )


def flop_roots(tree: PublicTree) -> list[int]:
    after_chance = tree.kind[np.maximum(tree.parent, 0)] == NodeKind.CHANCE
    return np.flatnonzero(after_chance & (tree.street == 1)).tolist()


@pytest.mark.parametrize("num_textures", [1, 3])
@pytest.mark.parametrize("street", [0, 1, 2])
def test_exported_rows_decode_to_what_was_encoded(tree: PublicTree, num_textures: int, street: int) -> None:
    rng = np.random.default_rng(street)
    roots = flop_roots(tree)
    sums = {
        (texture, pot_type): rng.random((len(action_nodes(tree, root, street)), BUCKETS))
        for texture in range(num_textures)
        for pot_type, root in enumerate(roots)
    }
    order = StreetRows(tree, roots, num_textures, street)
    table = order.encode(lambda texture, pot_type: sums[texture, pot_type])
    assert len(table) == sum(len(part) for part in sums.values())
    decoded = dict(order.decode(table))
    assert len(decoded) == len(sums)
    for (texture, pot_type), part in sums.items():
        key = RowKey(pot_type, texture if num_textures > 1 else ALL_TEXTURES, street)
        expected = normalised(tree, action_nodes(tree, roots[pot_type], street), part)
        np.testing.assert_allclose(decoded[key], expected, rtol=1e-6)


def test_each_decision_knows_its_first_row(tree: PublicTree) -> None:
    roots = flop_roots(tree)
    order = StreetRows(tree, roots, 2, 1)
    table = order.encode(lambda texture, pot_type: _marked(tree, roots[pot_type], texture))
    for node, first in order.first_rows().items():
        actions = len(tree.children_of(node))
        for texture in range(2):
            row = texture_row(first, texture, len(table), 2)
            own = _marked(tree, node, texture, only=node)
            np.testing.assert_allclose(table[row : row + actions], own / own.sum(axis=0), rtol=1e-6)


def _marked(tree: PublicTree, root: int, texture: int, only: int | None = None) -> np.ndarray:
    """Numerators that tell the action and the texture."""
    nodes = action_nodes(tree, root, 1) if only is None else tree.children_of(only)
    return np.stack([np.full(BUCKETS, 1.0 + node + 1000.0 * texture) for node in nodes])


def test_a_bucket_that_was_never_visited_plays_evenly(tree: PublicTree) -> None:
    nodes = action_nodes(tree, flop_roots(tree)[0], 0)
    shares = normalised(tree, nodes, np.zeros((len(nodes), BUCKETS)))
    for node in np.unique(tree.parent[nodes]):
        rows = shares[tree.parent[nodes] == node]
        np.testing.assert_array_equal(rows, 1 / len(rows))


def test_saved_rows_are_found_by_name() -> None:
    rows = {RowKey(0, ALL_TEXTURES, 2): np.arange(3.0), RowKey(12, 7, 0): np.arange(2.0)}
    saved = {**named_rows("average", rows), **named_rows("regret", rows), "clock/7/0": np.zeros(1)}
    assert rows_by_key("average", saved) == rows
