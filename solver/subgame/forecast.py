"""What a solve will take in memory, told before it is prepared."""

from __future__ import annotations

import numpy as np

from solver.betting.public_tree import NodeKind
from solver.exact.betting_plan import leaf_nodes
from solver.exact.forecast import engine_bytes
from solver.subgame.bucketed_lines import DTYPE
from solver.subgame.config import SubgameConfig
from solver.subgame.range_buckets import bucket_counts
from solver.subgame.solve import discounts
from solver.subgame.subgame import Subgame


def forecast_bytes(subgame: Subgame, config: SubgameConfig) -> int:
    """Bytes that a solve needs at least: its tables, and the all-in matrices of its boards.

    Scratch comes on top of it. What a solve really takes is known once it is prepared.
    """
    tree, _ = subgame.searched
    has_leaves = len(leaf_nodes(tree)) > 0
    total = engine_bytes(tree, subgame.cards, discounts(subgame, has_leaves), has_leaves=has_leaves)
    if has_leaves and config.continuation == "trained":
        whole = subgame.tree
        chosen = (whole.parent >= 0) & (whole.kind[whole.parent] == NodeKind.DECISION)
        later = whole.street[whole.parent[chosen & (whole.street[whole.parent] > subgame.last_street)]]
        buckets = np.array([0, *bucket_counts(len(subgame.board))])[later]
        # Regrets and averages.
        total += 2 * np.dtype(DTYPE).itemsize * int(buckets.sum())
    return total
