"""What blueprints of any number of seats share after the flop: hands in buckets on real boards."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from artifacts.blueprint.preflop_bundle import PreflopBundle


class BucketedBundle(PreflopBundle):
    """A bundle of stage `export` that holds the buckets of boards."""

    @property
    def has_every_board(self) -> bool:
        """Whether hands have buckets on every board, not on typical ones alone."""
        return bool(self.configuration["buckets"]["boards"] == "all")

    @cached_property
    def num_textures(self) -> int:
        """Sets of buckets and of postflop rows: 1 where all textures share theirs."""
        textures = self.flop_textures()
        return 1 if textures is None else int(textures.max()) + 1

    def texture(self, cards: NDArray[np.uint8]) -> int:
        """Texture of a board's flop; 0 where all textures share their buckets."""
        textures = self.flop_textures()
        if textures is None:
            return 0
        from abstractions.isomorphism import board_index

        return int(textures[board_index(cards[None, :3])[0][0]])

    def combo_buckets(self, board: NDArray[np.uint8]) -> NDArray[np.uint16]:
        """Bucket of every combo on the board of a street, [1326]."""
        from abstractions.buckets import board_buckets

        key = board.tobytes()
        if key not in self._known_buckets:
            self._known_buckets[key] = board_buckets(self, board[None])[0]
        return self._known_buckets[key]

    @cached_property
    def _known_buckets(self) -> dict[bytes, NDArray[np.uint16]]:
        return {}
