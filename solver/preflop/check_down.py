"""The built-in leaf provider: a line that sees a flop is checked down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from abstractions.cards import NUM_CLASSES
from solver.cfr.leaves import Leaves, Reach
from solver.preflop.game import PreflopGame
from solver.preflop.kernels import _checked_down
from solver.preflop.probabilities import Floats


@dataclass(frozen=True, eq=False)
class CheckDown:
    """Values leaves by raw equity, as if nobody bet after the flop."""

    game: PreflopGame

    def values(self, leaves: Leaves, reach: Reach, player: int) -> Floats:
        """See `solver.cfr.leaves.LeafProvider.values`."""
        values = np.empty((len(leaves), NUM_CLASSES))
        opponent = np.ascontiguousarray(reach[1 - player], dtype=np.float64)
        _checked_down(self.game.arrays, leaves.nodes, opponent, player, values)
        return values
