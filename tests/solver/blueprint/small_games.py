"""Small games that the tests of the trainer share: a shallow tree, a few boards, and buckets."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_CLASSES, NUM_COMBOS, live_combos, parse_board
from abstractions.equity import class_pairs
from abstractions.evaluator import evaluate_board
from abstractions.isomorphism import canonical_boards, hand_class_index
from solver.betting.game import GameConfig, StreetSizes
from solver.blueprint.boards import BoardSampler
from solver.blueprint.flop_values import FlopBoards, group_boards
from solver.blueprint.trunk import TrunkGame

BOARDS = ("QsJh2h8d3c", "QsJh2h8d4c", "QsJh2h7s3c", "7c7d2sAhAd")
WEIGHTS = np.array([3, 1, 2, 4])
TINY = GameConfig(
    stacks=(400, 400),
    raise_sizes=("2", "a"),
    raise_cap=2,
    postflop=(StreetSizes("100%", None, "100%", None),) * 3,
)


class FewBuckets:
    """A few buckets that depend on a hand and board up to the names of suits."""

    num_buckets = (6, 8, 10)

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:
        result = np.zeros(NUM_COMBOS, dtype=np.int64)
        live = np.flatnonzero(live_combos(board))
        number = self.num_buckets[len(board) - 3]
        if len(board) == 5:
            strength = evaluate_board(board)[live]
            result[live] = np.searchsorted(np.unique(strength), strength) * number // len(np.unique(strength))
        else:
            boards = np.repeat(np.asarray(board, dtype=np.uint8)[None], len(live), axis=0)
            result[live] = hand_class_index(live, boards) % number
        return result


class FinerBuckets(FewBuckets):
    """More buckets on flop and turn, none on the river: what opponents may see."""

    num_buckets = (13, 17, 0)


@cache
def game_of(config: GameConfig = TINY) -> TrunkGame:
    """A game whose preflop all-ins have made-up equities with the real numbers of deals."""
    totals = class_pairs() * 1_712_304
    strength = np.argsort(np.argsort(-np.arange(NUM_CLASSES) % 61))
    share = 1 / (1 + np.exp((strength[:, None] - strength[None, :]) / 60))
    wins = (share * totals).astype(np.int64)
    return TrunkGame.build(config, (wins, totals - wins - wins.T, totals))


def small_game() -> tuple[BoardSampler, list[FlopBoards]]:
    boards = np.stack([parse_board(text) for text in BOARDS])
    textures = np.array([0, 0, 0, 1])
    return BoardSampler(boards, WEIGHTS, textures, 0, 1), group_boards(boards, WEIGHTS, textures)


def flop_sampler(batch: int = 4, seed: int = 3) -> BoardSampler:
    flops = canonical_boards(3)
    rows = np.arange(0, 1755, 60)
    return BoardSampler(flops.boards[rows], flops.weights[rows], np.arange(len(rows)) % 3, batch, seed)
