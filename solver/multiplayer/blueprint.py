"""A trained strategy of three or more seats as subgames read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstractions.buckets import BucketSource, board_buckets
from abstractions.cards import CLASS_OF_COMBO, live_combos
from abstractions.isomorphism import board_index
from abstractions.streets import PUBLIC_CARDS
from solver.betting.game import GameConfig
from solver.betting.public_tree import NodeKind
from solver.multiplayer.later_lines import LaterLines, Place
from solver.multiplayer.trained_lines import trained_lines
from solver.multiway.strategy import MultiwayStrategy

Floats = NDArray[np.float64]


class PreflopPlay(NamedTuple):
    """A decision before the flop: tokens of the actions, and their probabilities ``[action, 169]``."""

    tokens: tuple[str, ...]
    probabilities: NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class BoardColumns:
    """Columns of the tables after the flop: buckets of all textures stand side by side.

    Attributes
    ----------
    source
        Tables of `abstractions.buckets`.
    counts
        Buckets of flop, turn and river, of one texture where buckets belong to textures.
    """

    source: BucketSource
    counts: tuple[int, int, int]

    def columns(self, boards: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Column of every combo on some boards of one street, ``[board, 1326]``; anything for combos they block."""
        found = board_buckets(self.source, boards).astype(np.int64)
        textures = self.source.flop_textures()
        if textures is not None:
            count = self.counts[PUBLIC_CARDS.index(boards.shape[1]) - 1]
            found += count * textures[board_index(boards[:, :3])[0]].astype(np.int64)[:, None]
        return found


@dataclass(frozen=True, eq=False)
class MultiwayBlueprint:
    """What is played on every street.

    Attributes
    ----------
    game
        The game.
    preflop
        The decision at a line before the flop, None where nobody acts.
    later
        Betting after the flop.
    table
        Probabilities after the flop, as `LaterLines.entries` points into it.
    buckets
        Hand buckets of boards.
    """

    game: GameConfig
    preflop: Callable[[str], PreflopPlay | None]
    later: LaterLines
    table: NDArray[np.float32]
    buckets: BoardColumns

    @classmethod
    def of(cls, strategy: MultiwayStrategy, buckets: BoardColumns) -> MultiwayBlueprint:
        """A strategy as trained, on the buckets that it was trained in."""
        game, tree = strategy.game, strategy.game.tree
        number = {line: node for node, line in enumerate(tree.lines)}

        def preflop(line: str) -> PreflopPlay | None:
            node = number.get(line, -1)
            if node < 0 or tree.kind[node] != NodeKind.DECISION:
                return None
            tokens = tuple(tree.token(int(child)) for child in tree.children_of(node))
            return PreflopPlay(tokens, strategy.rows(line))

        return cls(
            game.config,
            preflop,
            trained_lines(game),
            np.asarray(strategy.table[game.arrays.preflop_entries :]),
            buckets,
        )

    def preflop_probabilities(self, play: PreflopPlay) -> Floats:
        """Probability of each action by combo, ``[action, 1326]``."""
        return np.asarray(play.probabilities, np.float64)[:, CLASS_OF_COMBO]

    def probabilities(self, place: Place, board: NDArray[np.uint8]) -> Floats:
        """Probability of each action by combo at a decision after the flop; anything for combos that are blocked."""
        street = self.later.street(place)
        cards = board[: PUBLIC_CARDS[street]]
        columns = self._columns(cards)
        return np.stack([self.table[entry + columns] for entry in self.later.entries(place)]).astype(
            np.float64
        )

    def _columns(self, cards: NDArray[np.uint8]) -> NDArray[np.int64]:
        key = cards.tobytes()
        if key not in self._known:
            self._known[key] = self.buckets.columns(cards[None])[0]
        return np.where(live_combos(cards), self._known[key], 0)

    @cached_property
    def _known(self) -> dict[bytes, NDArray[np.int64]]:
        return {}
