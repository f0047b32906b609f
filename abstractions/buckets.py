"""Buckets of hands on boards: fitted on a weighted sample, assigned to every hand there is.

Each street has a feature space with one metric: `ehs` is equity and potential under l2 (on the river equity
alone), `emd` is the cumulative equity histogram under l1, which is the earth mover's distance, and on the
river the equity against opponent clusters under l2.

A table row belongs to a board, or in scope `texture` to a board under the texture of its flop: one turn can
follow flops of several textures, and each has its own buckets. Rows are in order of board, then texture.
Work comes in ranges ``start..stop`` of canonical boards; every function of a range is pure, and results of
successive ranges join to the same bytes for any cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import (
    CLASS_OF_COMBO,
    NUM_COMBOS,
    check_board,
    format_cards,
    format_combo,
    parse_board,
    parse_combo,
)
from abstractions.clustering.kmeans import kmeans, nearest
from abstractions.features.hand_classes import class_numbers, class_sizes
from abstractions.features.histograms import equity_histograms
from abstractions.features.ochs import ochs
from abstractions.features.potentials import ehs_features
from abstractions.features.rivers import BLOCKED
from abstractions.isomorphism import (
    COMBO_PERMUTATION,
    board_index,
    canonical_boards,
    hand_class_offsets,
    permutation_number,
)
from abstractions.textures import Textures, medoid_boards

FEATURES = ("ehs", "emd")


@dataclass(frozen=True)
class FeatureTables:
    """What the features of a kind are read from; see `potentials` (ehs), `histograms` and `ochs` (emd).

    Attributes
    ----------
    kind : "ehs" or "emd"
    orders : `river_orders` of all rivers, for `ehs` on flop and turn
    counts : `river_equity_counts` of all rivers, for `emd` on flop and turn
    clusters : `opponent_clusters`, for `emd` on the river
    bins : of the equity histograms
    """

    kind: str
    orders: NDArray[np.uint16] | None = None
    counts: NDArray[np.uint16] | None = None
    clusters: NDArray | None = None
    bins: int = 32


def feature_metric(kind: str, num_cards: int) -> str:
    """Metric of a feature space.

    >>> feature_metric("emd", 4), feature_metric("emd", 5), feature_metric("ehs", 4)
    ('l1', 'l2', 'l2')
    """
    if kind not in FEATURES:
        raise ValueError(f"features={kind!r}: expected one of {', '.join(FEATURES)}")
    return "l1" if kind == "emd" and num_cards < 5 else "l2"


def feature_points(
    tables: FeatureTables, num_cards: int, start: int, stop: int
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Feature vector and equity of each hand class of a range of canonical boards, in class order."""
    feature_metric(tables.kind, num_cards)
    if tables.kind == "ehs":
        points = ehs_features(num_cards, start, stop, tables.orders)
        equities = points[:, 0].astype(np.float64)
        return (points[:, :1].copy() if num_cards == 5 else points), equities
    if num_cards == 5:
        if tables.clusters is None:
            raise ValueError("clusters of None: expected the opponent clusters that emd uses on the river")
        return ochs(start, stop, tables.clusters)
    if tables.counts is None:
        raise ValueError("counts of None: expected the river equity counts that emd uses before the river")
    histograms, equities = equity_histograms(num_cards, start, stop, tables.counts, tables.bins)
    # The last sum is the number of runouts, the same for all.
    return np.cumsum(histograms, axis=1, dtype=np.float32)[:, :-1].copy(), equities


@dataclass(frozen=True)
class BoardRows:
    """Rows of a bucket table: canonical boards, in scope `texture` once per texture they can follow.

    Attributes
    ----------
    boards : int32 [R], ascending
    textures : int16 [R], ascending within a board; all 0 in scope `global`
    weights : int64 [R], real deals: boards, or flops with their unordered runouts
    offsets : int64 [B + 1], first row of each board
    num_textures : sets of buckets
    """

    boards: NDArray[np.int32]
    textures: NDArray[np.int16]
    weights: NDArray[np.int64]
    offsets: NDArray[np.int64]
    num_textures: int


def board_rows(num_cards: int, textures: Textures | None = None) -> BoardRows:
    """Table rows of a street: of all boards, or of all boards under all textures if these are given."""
    canon = canonical_boards(num_cards)
    boards = np.arange(len(canon.boards), dtype=np.int32)
    if textures is None:
        every = np.arange(len(boards) + 1, dtype=np.int64)
        return BoardRows(boards, np.zeros(len(boards), dtype=np.int16), canon.weights, every, 1)
    flops = canonical_boards(3)
    count = len(textures.weights)
    keys, masses = [], []
    for flop, board in enumerate(flops.boards):
        rest = np.setdiff1d(np.arange(52), board).astype(np.uint8)
        if num_cards == 3:
            runouts = np.empty((1, 0), dtype=np.uint8)
        elif num_cards == 4:
            runouts = rest[:, None]
        else:
            runouts = rest[np.stack(np.triu_indices(len(rest), 1), axis=1)]
        ids, _ = board_index(np.column_stack([np.tile(board, (len(runouts), 1)), runouts]))
        found, hits = np.unique(ids, return_counts=True)
        keys.append(found.astype(np.int64) * count + int(textures.texture_of_flop[flop]))
        masses.append(hits * flops.weights[flop])
    unique, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    weights = np.bincount(inverse, np.concatenate(masses)).astype(np.int64)
    row_boards = (unique // count).astype(np.int32)
    offsets = np.searchsorted(row_boards, np.arange(len(boards) + 1)).astype(np.int64)
    return BoardRows(row_boards, (unique % count).astype(np.int16), weights, offsets, count)


@dataclass(frozen=True)
class Sample:
    """Weighted points to fit buckets on.

    Attributes
    ----------
    points : float32 [n, d]
    equities : float64 [n]
    weights : int64 [n]
    textures : int16 [n]
    """

    points: NDArray[np.float32]
    equities: NDArray[np.float64]
    weights: NDArray[np.int64]
    textures: NDArray[np.int16]


def sample_points(
    num_cards: int,
    start: int,
    stop: int,
    points: NDArray[np.float32],
    equities: NDArray[np.float64],
    rows: BoardRows,
    size: int,
    offset: float = 0.5,
) -> Sample:
    """The part of a systematic sample that falls on a range of boards.

    All hands of a texture are laid out in class order, each as long as its weight, and `size` marks are set
    at equal distances; a hand weighs as many marks as it holds. The sample is thus spread evenly over boards
    and hands, and does not depend on the ranges.

    Parameters
    ----------
    points, equities : `feature_points` of the range
    size : marks per texture
    offset : place of the first mark, from 0 to 1 times the distance
    """
    if size < 1:
        raise ValueError(f"sample={size}: expected at least one point")
    hands = (52 - num_cards) * (51 - num_cards) // 2
    classes = hand_class_offsets(num_cards)
    combos = class_sizes(num_cards, start, stop)
    chosen, marks, owners = [], [], []
    for texture in range(rows.num_textures):
        mine = rows.textures == texture
        total = int(rows.weights[mine].sum()) * hands
        before = int(rows.weights[: rows.offsets[start]][mine[: rows.offsets[start]]].sum()) * hands
        here = slice(int(rows.offsets[start]), int(rows.offsets[stop]))
        boards, weights = rows.boards[here][mine[here]], rows.weights[here][mine[here]]
        index = _class_rows(num_cards, start, boards)
        lengths = combos[index] * np.repeat(weights, classes[boards + 1] - classes[boards])
        ends = before + np.concatenate([[0], np.cumsum(lengths)])
        counts = np.diff(np.ceil(ends * (size / total) - offset).clip(0).astype(np.int64))
        hit = np.flatnonzero(counts)
        chosen.append(index[hit])
        marks.append(counts[hit])
        owners.append(np.full(len(hit), texture, dtype=np.int16))
    picked = np.concatenate(chosen)
    return Sample(points[picked], equities[picked], np.concatenate(marks), np.concatenate(owners))


def _class_rows(num_cards: int, start: int, boards: NDArray[np.int32]) -> NDArray[np.int64]:
    """Class rows of some boards of a range, counted from the first class of the range."""
    classes = hand_class_offsets(num_cards)
    sizes = classes[boards + 1] - classes[boards]
    firsts = classes[boards] - classes[start]
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.repeat(firsts, sizes) + within


def join_samples(parts: list[Sample]) -> Sample:
    """Samples of successive ranges as one."""
    return Sample(
        np.concatenate([part.points for part in parts]),
        np.concatenate([part.equities for part in parts]),
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.textures for part in parts]),
    )


def fit_buckets(
    sample: Sample, buckets: int, rng: np.random.Generator, metric: str, *, texture: int = 0, threads: int = 1
) -> NDArray[np.float32]:
    """Centroids of the buckets of a texture in order of their mean equity, float32 [buckets, d]."""
    if buckets < 1:
        raise ValueError(f"buckets={buckets}: expected at least one")
    if buckets >= BLOCKED:
        raise ValueError(f"buckets={buckets}: expected fewer than {BLOCKED}, what a table entry can hold")
    mine = sample.textures == texture
    result = kmeans(
        sample.points[mine], buckets, rng, weights=sample.weights[mine], metric=metric, threads=threads
    )
    weights = sample.weights[mine].astype(np.float64)
    mass = np.bincount(result.labels, weights, minlength=buckets)
    equity = np.bincount(result.labels, weights * sample.equities[mine], minlength=buckets) / mass
    return result.centroids[np.argsort(equity, kind="stable")]


@njit(cache=True, nogil=True)
def _add_moments(labels: Any, combos: Any, equities: Any, index: Any, weights: Any, moments: Any) -> None:
    """Add weight, equity and squared equity of the hands to their buckets, in order."""
    for i in range(labels.shape[0]):
        weight = float(combos[index[i]] * weights[i])
        equity = equities[index[i]]
        line = moments[labels[i]]
        line[0] += weight
        line[1] += weight * equity
        line[2] += weight * equity * equity


@njit(cache=True, nogil=True)
def _fill_rows(numbers: Any, board_of_row: Any, labels: Any, first: Any, table: Any) -> None:
    for row in range(board_of_row.shape[0]):
        for combo in range(1326):
            number = numbers[board_of_row[row], combo]
            table[row, combo] = labels[first[row] + number] if number >= 0 else 65535


def assign_buckets(
    num_cards: int,
    start: int,
    stop: int,
    points: NDArray[np.float32],
    equities: NDArray[np.float64],
    rows: BoardRows,
    centroids: NDArray[np.float32],
    metric: str,
) -> tuple[NDArray[np.uint16], NDArray[np.float64]]:
    """Bucket of every combo on a range of boards, and what the report needs to know of the buckets.

    Parameters
    ----------
    points, equities : `feature_points` of the range
    centroids : [textures, buckets, d], as `fit_buckets` orders them

    Returns
    -------
    table : uint16 [rows of the range, 1326], `BLOCKED` where the board holds a card of the combo
    moments : float64 [textures, buckets, 3], weight of the hands and weighted sums of equity and its square
    """
    if centroids.shape[0] != rows.num_textures:
        raise ValueError(f"centroids of {centroids.shape[0]} textures for rows of {rows.num_textures}")
    here = slice(int(rows.offsets[start]), int(rows.offsets[stop]))
    boards, owners, weights = rows.boards[here], rows.textures[here], rows.weights[here]
    numbers = class_numbers(num_cards, start, stop)
    classes = hand_class_offsets(num_cards)
    sizes = classes[boards + 1] - classes[boards]
    combos = class_sizes(num_cards, start, stop)
    table = np.empty((len(boards), NUM_COMBOS), dtype=np.uint16)
    moments = np.zeros((*centroids.shape[:2], 3))
    for texture in np.unique(owners):
        mine = np.flatnonzero(owners == texture)
        index = _class_rows(num_cards, start, boards[mine])
        whole = len(index) == len(points) and rows.num_textures == 1
        labels, _ = nearest(points if whole else points[index], centroids[texture], metric=metric)
        first = np.cumsum(sizes[mine]) - sizes[mine]
        part = np.empty((len(mine), NUM_COMBOS), dtype=np.uint16)
        _fill_rows(numbers, boards[mine] - start, labels.astype(np.uint16), first, part)
        table[mine] = part
        row_weights = np.repeat(weights[mine], sizes[mine])
        _add_moments(labels, combos, equities, index, row_weights, moments[texture])
    return table, moments


def equity_ranks(moments: NDArray[np.float64]) -> NDArray[np.uint16]:
    """New id of each bucket such that ids ascend with mean equity over all hands, uint16 [textures, buckets].

    A sample orders buckets that are almost equal by chance; this settles them.
    """
    means = moments[:, :, 1] / np.maximum(moments[:, :, 0], 1e-300)
    order = np.argsort(np.where(moments[:, :, 0] > 0, means, np.inf), axis=1, kind="stable")
    ranks = np.empty(order.shape, dtype=np.uint16)
    np.put_along_axis(ranks, order, np.arange(order.shape[1], dtype=np.uint16)[None, :], axis=1)
    return ranks


def relabel_rows(
    table: NDArray[np.uint16], textures: NDArray[np.int16], ranks: NDArray[np.uint16]
) -> NDArray[np.uint16]:
    """Table rows under new bucket ids; `textures` holds the texture of each row."""
    lookup = np.full((ranks.shape[0], BLOCKED + 1), BLOCKED, dtype=np.uint16)
    lookup[:, : ranks.shape[1]] = ranks
    if ranks.shape[0] == 1:
        return lookup[0][table]
    return lookup[textures[:, None], table]


def covered_rows(num_cards: int, textures: Textures, *, scope: str, boards: str) -> BoardRows:
    """Rows of a bucket table: `board_rows`, of typical boards alone where `boards` is ``medoids``.

    Parameters
    ----------
    scope
        ``global`` or ``texture``: whether textures share their buckets.
    boards
        ``all`` or ``medoids``. Boards that are left out keep an empty range of rows.
    """
    rows = board_rows(num_cards, textures if scope == "texture" else None)
    if boards != "medoids":
        return rows
    kept = np.isin(rows.boards, board_index(medoid_boards(textures)[0][:, :num_cards])[0])
    offsets = np.concatenate([[0], np.cumsum(kept)])[rows.offsets]
    return BoardRows(rows.boards[kept], rows.textures[kept], rows.weights[kept], offsets, rows.num_textures)


class BucketSource(Protocol):
    """What `bucket_of` reads; a bundle or `BucketTables`."""

    def bucket_table(self, num_cards: int) -> NDArray[np.uint16]:
        """Bucket of every combo by row, uint16 [R, 1326]."""

    def bucket_rows(self, num_cards: int) -> NDArray[np.int64] | None:
        """Ascending keys ``board * textures + texture`` of the rows; None if there is a row per board."""

    def flop_textures(self) -> NDArray[np.int16] | None:
        """Texture of each canonical flop; None in scope `global`."""


@dataclass(frozen=True)
class BucketTables:
    """Bucket tables of the three streets in memory.

    Attributes
    ----------
    tables : uint16 [R, 1326] by number of board cards
    keys : row keys by number of board cards, in scope `texture`
    texture_of_flop : int16 [1755], in scope `texture`
    """

    tables: dict[int, NDArray[np.uint16]]
    keys: dict[int, NDArray[np.int64]] | None = None
    texture_of_flop: NDArray[np.int16] | None = None

    def bucket_table(self, num_cards: int) -> NDArray[np.uint16]:
        """Bucket of every combo by row."""
        return self.tables[num_cards]

    def bucket_rows(self, num_cards: int) -> NDArray[np.int64] | None:
        """Keys of the rows."""
        return None if self.keys is None else self.keys[num_cards]

    def flop_textures(self) -> NDArray[np.int16] | None:
        """Texture of each canonical flop."""
        return self.texture_of_flop


def row_keys(rows: BoardRows) -> NDArray[np.int64]:
    """Keys by which `bucket_of` finds the rows of a table in scope `texture`."""
    return rows.boards.astype(np.int64) * rows.num_textures + rows.textures


def board_buckets(source: BucketSource, boards: NDArray) -> NDArray[np.uint16]:
    """Bucket of every combo on each real board, uint16 [m, 1326]; `BLOCKED` for blocked combos.

    Parameters
    ----------
    boards : [m, n] cards as dealt, flop first
    """
    real = np.atleast_2d(np.asarray(boards))
    ids, renamings = board_index(real)
    rows = ids.astype(np.int64)
    keys, textures = source.bucket_rows(real.shape[1]), source.flop_textures()
    if textures is not None:
        flops, _ = board_index(real[:, :3])
        rows = rows * (int(textures.max()) + 1) + textures[flops]
    if keys is not None:
        wanted = rows
        rows = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        if (keys[rows] != wanted).any():
            board = format_cards(real[int(np.argmax(keys[rows] != wanted))])
            raise ValueError(
                f"board {board} has no buckets: they cover typical boards only (boards: medoids)"
            )
    images = COMBO_PERMUTATION[permutation_number(renamings)]
    return source.bucket_table(real.shape[1])[rows[:, None], images]


def _as_combos(hands: Any) -> NDArray[np.int64]:
    if isinstance(hands, str):
        hands = [hands]
    combos = np.array([parse_combo(hand) if isinstance(hand, str) else hand for hand in np.atleast_1d(hands)])
    combos = combos.astype(np.int64)
    if combos.size and (combos.min() < 0 or combos.max() >= NUM_COMBOS):
        raise ValueError("hands hold a number that is no combo: expected numbers from 0 to 1325")
    return combos


def bucket_of(source: BucketSource, hands: Any, board: Any = "") -> NDArray[np.int64]:
    """Bucket of each hand on a real board; before the flop, its hand class.

    Parameters
    ----------
    source : a bundle, or `BucketTables`
    hands : combo numbers or texts such as "AhKh", one or many
    board : text or cards as dealt, flop first
    """
    combos = _as_combos(hands)
    cards = parse_board(board) if isinstance(board, str) else check_board(board)
    if cards.size == 0:
        return CLASS_OF_COMBO[combos].astype(np.int64)
    buckets = board_buckets(source, cards[None])[0, combos].astype(np.int64)
    if (buckets == BLOCKED).any():
        hand = int(combos[np.argmax(buckets == BLOCKED)])
        raise ValueError(f"hand {format_combo(hand)} shares a card with board {format_cards(cards)}")
    return buckets
