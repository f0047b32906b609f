"""A tiny game and buckets by hand alone, for tests of the stages that measure a blueprint."""

from __future__ import annotations

from functools import cache

import numpy as np

from abstractions.buckets import BucketTables, board_buckets
from solver.betting.game import GameConfig, StreetSizes

BUCKETS = (4, 5, 6)
TINY = GameConfig(
    stacks=(400, 400),
    raise_sizes=("2", "a"),
    raise_cap=2,
    postflop=(StreetSizes("100%", None, "100%", None),) * 3,
)


@cache
def source() -> BucketTables:
    """Buckets by hand alone on every canonical board."""
    sizes = {3: 1755, 4: 16_432, 5: 134_459}
    return BucketTables(
        {
            cards: np.broadcast_to((np.arange(1326) * 7 % count).astype(np.uint16), (size, 1326))
            for (cards, size), count in zip(sizes.items(), BUCKETS)
        }
    )


class Everywhere:
    """The same buckets as the solver reads them."""

    num_buckets = BUCKETS

    def buckets(self, board: np.ndarray, texture: int) -> np.ndarray:
        return board_buckets(source(), board[None])[0]
