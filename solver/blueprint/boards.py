"""Boards of the blueprint game: which are drawn when, and the hands and buckets on each.

The game is dealt board first: chance draws a full public board, then two disjoint hands from the rest. A
board's contribution is divided by `LIVE_FRACTION`, the share of boards that leave a given pair of hands
alive; over all boards this is exactly hold'em.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any, Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.buckets import BucketSource, board_buckets
from abstractions.cards import CLASS_OF_COMBO, COMBO_CARDS, NUM_COMBOS, check_board, format_cards, live_combos
from abstractions.evaluator import _sorted_board
from abstractions.isomorphism import SUIT_PERMUTATIONS
from abstractions.streets import FLOP, PUBLIC_CARDS
from solver.blueprint.sweep_arrays import Runs, bucket_runs
from solver.blueprint.terminals import Hands

#: Hands that a full board leaves alive.
NUM_LIVE = 1081
#: Share of the full boards that avoid the four cards of a given pair of hands.
LIVE_FRACTION = comb(48, 3) / comb(52, 3) * (45 / 49) * (44 / 48)
#: Cards of the board on flop, turn and river.
STREET_CARDS = PUBLIC_CARDS[FLOP:]


class Bucketing(Protocol):
    """Assigns hands to buckets, street by street."""

    @property
    def num_buckets(self) -> tuple[int, int, int]:
        """Buckets of flop, turn and river (of one texture, where buckets belong to textures)."""

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:
        """Bucket of every combo on a board as dealt, [1326]; blocked combos may hold anything."""


@dataclass(frozen=True, eq=False)
class SourceBuckets:
    """Buckets from the tables of `abstractions.buckets` (of a bundle, or in memory)."""

    source: BucketSource
    num_buckets: tuple[int, int, int]

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:  # noqa: ARG002
        """Bucket of every combo on a board as dealt; the texture follows from the flop."""
        return board_buckets(self.source, np.asarray(board)[None])[0]


def street_buckets(
    source: BucketSource, boards: NDArray[np.uint8], streets: int = len(STREET_CARDS)
) -> NDArray[np.uint16]:
    """Bucket of every combo on the first streets of full boards, flop first, uint16 [board, street, 1326]."""
    return np.stack([board_buckets(source, boards[:, :cards]) for cards in STREET_CARDS[:streets]], axis=1)


class BatchBuckets:
    """The solver's `Bucketing` for the boards it was told about last."""

    def __init__(self, num_buckets: tuple[int, int, int]) -> None:
        self.num_buckets = num_buckets
        self._rows: dict[tuple[bytes, int], NDArray[np.uint16]] = {}

    def load(self, boards: NDArray[np.uint8], textures: NDArray[Any], buckets: NDArray[np.uint16]) -> None:
        """Know the `street_buckets` of some boards, and no others."""
        self._rows = {
            (bytes(board[:cards]), int(texture)): buckets[b, street]
            for b, (board, texture) in enumerate(zip(boards, textures))
            for street, cards in enumerate(STREET_CARDS[: buckets.shape[1]])
        }

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:
        """Bucket of every combo on a board of 3, 4 or 5 cards as dealt."""
        return self._rows[bytes(board), int(texture)]


@dataclass(frozen=True, eq=False)
class BoardHands:
    """The live hands of a full board from weakest to strongest.

    Attributes
    ----------
    board
        The five cards as dealt.
    combos, classes
        Combo and hand class of each hand.
    hands
        What the kernels read.
    runs
        The hands by bucket on flop, turn and river.
    opponent_runs
        The hands on flop and turn by the buckets that opponents see, where there are opponents.
    """

    board: NDArray[np.uint8]
    combos: NDArray[np.int16]
    classes: NDArray[np.int16]
    hands: Hands
    runs: tuple[Runs, Runs, Runs]
    opponent_runs: tuple[Runs, Runs] | None


@njit(cache=True)
def _strength_groups(strengths: Any, order: Any, ends: Any) -> int:
    count = 0
    for k in range(1, len(order)):
        if strengths[order[k]] != strengths[order[k - 1]]:
            ends[count] = k
            count += 1
    ends[count] = len(order)
    return count + 1


def board_hands(
    board: NDArray[np.uint8],
    bucketing: Bucketing,
    texture: int = 0,
    opponents: Bucketing | None = None,
    played: NDArray[np.bool_] | None = None,
) -> BoardHands:
    """Rank and bucket the live hands of a five-card board.

    Parameters
    ----------
    opponents
        The buckets that opponents see.
    played
        Combos that anybody may hold, [1326]; None: all. Where the board leaves none of them, all live hands stay.
    """
    cards = check_board(board)
    if len(cards) != 5:
        raise ValueError(f"board {format_cards(cards)!r}: expected five cards")
    strengths = np.empty(NUM_COMBOS, dtype=np.int16)
    order = np.empty(NUM_COMBOS, dtype=np.int16)
    count = _sorted_board(cards, strengths, order)
    combos = order[:count].copy()
    if played is not None and played[combos].any():
        combos = combos[played[combos]]
    count = len(combos)
    ends = np.empty(count, dtype=np.int32)
    groups = _strength_groups(strengths, combos, ends)
    flop, turn, river = (_street_runs(bucketing, cards[:size], combos, texture) for size in STREET_CARDS)
    seen = None
    if opponents is bucketing:
        seen = flop, turn
    elif opponents is not None:
        seen = (
            _street_runs(opponents, cards[:3], combos, texture),
            _street_runs(opponents, cards[:4], combos, texture),
        )
    return BoardHands(
        board=cards,
        combos=combos,
        classes=CLASS_OF_COMBO[combos],
        hands=Hands(
            card1=np.ascontiguousarray(COMBO_CARDS[combos, 0]),
            card2=np.ascontiguousarray(COMBO_CARDS[combos, 1]),
            group_end=ends[:groups].copy(),
            mass=np.ones(count),
        ),
        runs=(flop, turn, river),
        opponent_runs=seen,
    )


def _street_runs(
    bucketing: Bucketing, public: NDArray[np.uint8], combos: NDArray[np.int16], texture: int
) -> Runs:
    """Hands by bucket on the public cards of a street."""
    runs = bucket_runs(bucketing.buckets(public, texture)[combos])
    lowest, highest = int(runs.bucket[0]), int(runs.bucket[-1])
    accepted = bucketing.num_buckets[len(public) - 3]
    if lowest < 0 or highest >= accepted:
        raise ValueError(
            f"buckets of {format_cards(public)}: {lowest} to {highest}; accepted: 0 to {accepted - 1}"
        )
    return runs


def combo_runs(bucketing: Bucketing, board: NDArray[np.uint8], texture: int = 0) -> Runs:
    """All combos by bucket on a board of 3, 4 or 5 cards; blocked ones are put into bucket 0."""
    cards = check_board(board)
    return bucket_runs(np.where(live_combos(cards), bucketing.buckets(cards, texture), 0))


def canonical_deals(boards: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Boards with suits renamed and flops sorted so that equivalent deals become the same, uint8 [n, 5].

    Of the 24 renamings the one that gives the lexicographically least (sorted flop, turn, river) is taken.

    >>> from abstractions.cards import format_cards, parse_board
    >>> deals = canonical_deals(np.stack([parse_board("QsJh2h8d3c"), parse_board("2cJcQdKs3h")]))
    >>> [format_cards(deal) for deal in deals]
    ['2cJcQd8h3s', '2cJcQdKh3s']
    """
    real = np.asarray(boards, dtype=np.uint8)
    renamed = (real[:, None] & ~np.uint8(3)) | SUIT_PERMUTATIONS[:, real & 3].transpose(1, 0, 2)
    renamed[:, :, :3].sort(axis=2)
    keys = renamed.astype(np.int64) @ (64 ** np.arange(4, -1, -1))
    return renamed[np.arange(len(real)), keys.argmin(axis=1)]


@dataclass(frozen=True, eq=False)
class BoardBatch:
    """Boards of one iteration; `weights` sum to 1."""

    boards: NDArray[np.uint8]
    weights: NDArray[np.float64]
    textures: NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.boards)

    def select(self, kept: NDArray[np.bool_]) -> BoardBatch:
        """Some of the boards, with their weights as they are."""
        return BoardBatch(self.boards[kept], self.weights[kept], self.textures[kept])


@dataclass(frozen=True, eq=False)
class BoardSampler:
    """Draws the boards of each iteration, stratified over textures.

    An epoch's draws are one systematic sample of the cumulated weights in order of texture: every draw has
    the same weight, and an epoch covers each texture in proportion. An iteration has one draw of each of
    `batch` equal parts of the weights, in random order within the part, so that owners of neighbouring
    textures get about as many boards each. All randomness comes from the seed and the numbers of epoch and
    iteration, so that any iteration can be drawn again.

    Attributes
    ----------
    cards
        Flops ``[n, 3]``, whose turn and river are dealt at random, or full boards ``[n, 5]``.
    weights, textures
        Integer weight and texture of each.
    batch
        Boards per iteration; 0 takes all (full) boards with their exact weights every time.
    epoch_length
        Iterations of an epoch.
    """

    cards: NDArray[np.uint8]
    weights: NDArray[np.integer]
    textures: NDArray[np.integer]
    batch: int
    seed: int
    epoch_length: int = 0

    def __post_init__(self) -> None:
        if self.cards.ndim != 2 or self.cards.shape[1] not in (3, 5) or not len(self.cards):
            raise ValueError(
                f"cards of shape {self.cards.shape}: expected flops [n, 3] or full boards [n, 5]"
            )
        if len(self.weights) != len(self.cards) or len(self.textures) != len(self.cards):
            raise ValueError(f"weights and textures: expected one for each of {len(self.cards)} boards")
        if self.batch < 0 or (self.batch == 0 and self.cards.shape[1] == 3):
            raise ValueError(
                f"batch: {self.batch} is not a number of boards (0, all of them, needs full boards)"
            )
        order = np.argsort(self.textures, kind="stable")
        for name in ("cards", "weights", "textures"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name)[order]))
        if self.epoch_length == 0:
            strata = len(np.unique(self.textures))
            object.__setattr__(self, "epoch_length", max(1, -(-strata // self.batch)) if self.batch else 1)

    @property
    def deals_all_boards(self) -> bool:
        """Whether boards are dealt as in hold'em: any flop by its weight, then any turn and river."""
        return self.cards.shape[1] == 3 and int(self.weights.sum()) == comb(52, 3)

    def epoch(self, iteration: int) -> int:
        """Epoch of an iteration; both count from 1."""
        return (iteration - 1) // self.epoch_length + 1

    def draw(self, iteration: int) -> BoardBatch:
        """Boards of an iteration, counted from 1."""
        if self.batch == 0:
            weights = self.weights / self.weights.sum()
            return BoardBatch(self.cards, weights, self.textures.astype(np.int16))
        epoch = self.epoch(iteration)
        slot = (iteration - 1) % self.epoch_length
        rng = self._generator(0, epoch)
        parts = np.arange(self.batch * self.epoch_length).reshape(self.batch, self.epoch_length)
        points = (rng.permuted(parts, axis=1) + rng.random(parts.shape))[:, slot] / parts.size
        cumulated = np.cumsum(self.weights.astype(np.float64))
        rows = np.minimum(
            np.searchsorted(cumulated, points * cumulated[-1], side="right"), len(self.cards) - 1
        )
        boards = self.cards[rows]
        if boards.shape[1] == 3:
            boards = self._deal(boards, self._generator(1, iteration))
        return BoardBatch(
            canonical_deals(boards),
            np.full(self.batch, 1.0 / self.batch),
            self.textures[rows].astype(np.int16),
        )

    def _generator(self, stream: int, number: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(stream, number)))

    @staticmethod
    def _deal(flops: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
        """Add a turn and a river from the rest of the deck."""
        draws = np.argsort(rng.random((len(flops), 52)), axis=1)
        boards = np.empty((len(flops), 5), dtype=np.uint8)
        boards[:, :3] = flops
        for row, flop in enumerate(flops):
            rest = draws[row][~np.isin(draws[row], flop)]
            boards[row, 3:] = rest[:2]
        return boards
