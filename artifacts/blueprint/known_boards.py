"""The boards that a blueprint has buckets for: all of them, or typical ones only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_CARDS
from abstractions.isomorphism import board_index, canonical_boards, permute_cards

if TYPE_CHECKING:
    from artifacts.blueprint.bucketed_bundle import BucketedBundle

Boards = NDArray[np.uint8]
#: Boards that are drawn before giving up: flops that lead to no known river are rare.
_TRIES = 100


def knows_all_boards(bundle: BucketedBundle) -> bool:
    """Whether a blueprint has buckets on every board.

    Where buckets belong to textures, a board has a row for each texture that it can follow.
    """
    textures = 1 if bundle.flop_textures() is None else bundle.num_textures
    for num_cards in (3, 4, 5):
        keys = bundle.bucket_rows(num_cards)
        if keys is None:
            continue
        known = 1 + np.count_nonzero(np.diff(keys // textures))  # the keys ascend by board, then texture
        if known < len(canonical_boards(num_cards).boards):
            return False
    return True


def known_boards(bundle: BucketedBundle, board: Boards) -> Boards:
    """The boards with the next card, or the flops, that a blueprint has buckets for, one in each row.

    Flops are canonical: with other suits they are known as well.
    """
    if len(board):
        rest = np.setdiff1d(np.arange(NUM_CARDS, dtype=np.uint8), board)
        following = np.column_stack([np.tile(board, (len(rest), 1)), rest]).astype(np.uint8)
    else:
        following = canonical_boards(3).boards.astype(np.uint8)
    return following[_known(bundle, following)]


def draw_board(bundle: BucketedBundle, rng: np.random.Generator) -> Boards:
    """Five cards on which a blueprint can be played on every street: any, or typical ones with random suits."""
    if knows_all_boards(bundle):
        return rng.permutation(NUM_CARDS)[:5].astype(np.uint8)
    flops = known_boards(bundle, np.empty(0, dtype=np.uint8))
    for _ in range(_TRIES):
        board = permute_cards(flops[rng.integers(len(flops))], rng.permutation(4).astype(np.uint8))
        board = rng.permutation(board).astype(np.uint8)
        while len(board) < 5:
            following = known_boards(bundle, board)
            if not len(following):
                break
            board = following[rng.integers(len(following))]
        if len(board) == 5:
            return board
    raise ValueError(f"{bundle.path}: no board has buckets on every street")


def _known(bundle: BucketedBundle, boards: Boards) -> NDArray[np.bool_]:
    keys, textures = bundle.bucket_rows(boards.shape[1]), bundle.flop_textures()
    if keys is None:
        return np.ones(len(boards), dtype=np.bool_)
    rows = board_index(boards)[0].astype(np.int64)
    if textures is not None:
        rows = rows * bundle.num_textures + textures[board_index(boards[:, :3])[0]]
    return np.isin(rows, keys)
