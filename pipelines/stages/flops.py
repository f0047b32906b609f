"""Stage `flops`: the 1,755 flops that differ by more than a renaming of suits, with their weights.

The weights are counted, not derived: all 22,100 real flops are canonicalised, in chunks by lowest card.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from abstractions.cards import NUM_CARDS, format_cards
from abstractions.isomorphism import board_index, canonical_boards, hand_class_offsets
from pipelines.run.engine import Inputs, Output, StageRun


@dataclass(frozen=True)
class FlopsConfig:
    """The deck has no options."""


def count_flops(lowest: int) -> np.ndarray:
    """How many real flops with this lowest card fall into each canonical flop."""
    higher = range(lowest + 1, NUM_CARDS)
    boards = np.array([(lowest, b, c) for b, c in combinations(higher, 2)], dtype=np.uint8)
    indices, _ = board_index(boards)
    return np.bincount(indices, minlength=len(canonical_boards(3).boards)).astype(np.int64)


def compute(config: FlopsConfig, inputs: Inputs, run: StageRun) -> Output:  # noqa: ARG001
    """Canonical flops, how many real flops each stands for, and how many hands differ on it."""
    weights = np.sum(run.map(count_flops, range(NUM_CARDS - 2)), axis=0)
    boards = canonical_boards(3).boards
    return Output(
        tables={
            "flops": {
                "board": boards,
                "text": [format_cards(board) for board in boards],
                "weight": weights,
                "hand_classes": np.diff(hand_class_offsets(3)),
            }
        },
        metrics={
            "flops": len(boards),
            "real_flops": int(weights.sum()),
            "hand_classes": int(hand_class_offsets(3)[-1]),
        },
    )
