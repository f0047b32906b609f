"""Flop textures and the turn and river cards that change them.

Canonical flops are clustered into textures, the turn cards of a texture's flops into turn transitions, and
the river cards of each (texture, turn transition) into river transitions. These are classes of real deals: a
transition holds (flop, turn card) pairs, so with integer counts as weights the chain

    texture ~ weights, flop in it ~ flop weights, transition on it ~ its cards, card in it ~ uniform

draws each real flop, turn and river exactly as often as the deck does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.clustering.kmeans import kmeans
from abstractions.features.hand_classes import class_weights
from abstractions.isomorphism import canonical_boards, hand_class_offsets

#: Transition of a card that the board already holds.
NO_CARD = 255
#: Columns of `flop_features`.
FLOP_FEATURES = (
    *("rainbow", "two-tone", "monotone"),
    *("far apart", "two near", "straight", "straights"),
    "high card",
    *("unpaired", "paired", "trips"),
    "equity spread",
)
# Blocks of columns that share one unit of variance.
_BLOCKS = ((0, 3), (3, 7), (7, 8), (8, 11), (11, 12))
_WINDOWS = np.array([0b1000000001111] + [0b11111 << low for low in range(9)], dtype=np.int64)


@dataclass(frozen=True)
class Textures:
    """Textures, their members and their transitions.

    Attributes
    ----------
    texture_of_flop : int16 [1755], texture of each canonical flop
    weights : int64 [T], real flops in each texture; they sum to 22,100
    medoids : int32 [T], the canonical flop in each texture that is nearest to all others
    turn_transition : uint8 [1755, 52], class of each turn card on each canonical flop
    river_transition : uint8 [1755, 52, 52], class of each river card after each flop and turn card
    turn_counts : int64 [T, K], real (flop, turn card) deals of each transition
    river_counts : int64 [T, K, L], real (flop, turn, river card) deals of each transition
    """

    texture_of_flop: NDArray[np.int16]
    weights: NDArray[np.int64]
    medoids: NDArray[np.int32]
    turn_transition: NDArray[np.uint8]
    river_transition: NDArray[np.uint8]
    turn_counts: NDArray[np.int64]
    river_counts: NDArray[np.int64]

    def members(self, texture: int) -> NDArray[np.int64]:
        """Canonical flops of a texture, ascending."""
        if not 0 <= texture < len(self.weights):
            raise ValueError(f"texture {texture}: expected a number from 0 to {len(self.weights) - 1}")
        return np.flatnonzero(self.texture_of_flop == texture)


def equity_spread(equities: NDArray) -> NDArray[np.float64]:
    """Standard deviation of the hand equities on each canonical flop, float64 [1755].

    `equities` has one entry per flop class, in class order.
    """
    offsets = hand_class_offsets(3)
    values = np.asarray(equities, dtype=np.float64)
    if values.shape != (offsets[-1],):
        raise ValueError(
            f"equities of shape {values.shape}: expected one for each of {offsets[-1]} flop classes"
        )
    weights = class_weights(3, 0, len(offsets) - 1)
    mass = np.add.reduceat(weights, offsets[:-1])
    # The mean equity is one half on every board, because each pair of hands counts for both of its sides.
    return np.sqrt(np.add.reduceat(weights * (values - 0.5) ** 2, offsets[:-1]) / mass)


def _straights(masks: NDArray[np.int64], ranks: int) -> NDArray[np.int64]:
    """Number of five-rank windows in which a rank set has at least `ranks` ranks."""
    return (np.bitwise_count(masks[:, None] & _WINDOWS) >= ranks).sum(axis=1)


def flop_features(spread: NDArray) -> NDArray[np.float64]:
    """Features of the canonical flops before scaling, float64 [1755, 12]; see `FLOP_FEATURES`.

    Suits, connectivity and pairing are one-hot. Connectivity: no two ranks fit into a straight, two do, all
    three do in one way, or in several.

    Parameters
    ----------
    spread : `equity_spread`
    """
    boards = canonical_boards(3).boards.astype(np.int64)
    if np.shape(spread) != (len(boards),):
        raise ValueError(
            f"spread of shape {np.shape(spread)}: expected one entry for each of {len(boards)} flops"
        )
    ranks, suits = boards >> 2, boards & 3
    suit_kinds = np.bitwise_count(np.bitwise_or.reduce(1 << suits, axis=1))
    masks = np.bitwise_or.reduce(1 << ranks, axis=1)
    in_one = _straights(masks, 3)
    connectivity = np.where(in_one > 1, 3, np.where(in_one == 1, 2, (_straights(masks, 2) > 0).astype(int)))
    columns = [
        np.eye(3)[3 - suit_kinds],
        np.eye(4)[connectivity],
        ranks.max(axis=1)[:, None],
        np.eye(3)[3 - np.bitwise_count(masks)],
        np.asarray(spread, dtype=np.float64)[:, None],
    ]
    return np.concatenate(columns, axis=1)


def _scaled(features: NDArray[np.float64], weights: NDArray[np.int64]) -> NDArray[np.float32]:
    """Features centred and divided so that each block has a total variance of one."""
    mass = weights / weights.sum()
    centred = features - mass @ features
    for start, stop in _BLOCKS:
        variance = float((mass @ centred[:, start:stop] ** 2).sum())
        centred[:, start:stop] /= np.sqrt(variance) if variance > 0 else 1.0
    return centred.astype(np.float32)


@njit(cache=True, nogil=True)
def _windows_with(mask: int, windows: Any) -> int:
    """Straights that three, four or five board ranks leave open, later ones counted again."""
    total: Any = 0
    for w in range(windows.shape[0]):
        bits = mask & windows[w]
        count = 0
        while bits:
            bits &= bits - 1
            count += 1
        total += (count >= 3) + 2 * (count >= 4) + 2 * (count >= 5)
    return total


@njit(cache=True, nogil=True)
def _change_codes(board: Any, n: int, windows: Any, codes: Any) -> None:
    """Change that each card brings to ``board[:n]``, packed; -1 for the board's own cards."""
    mask: Any = 0
    for i in range(n):
        mask |= 1 << (np.int64(board[i]) >> 2)
    before = _windows_with(mask, windows)
    for card in range(52):
        same_suit = same_rank = lower = 0
        dead = False
        for i in range(n):
            dead |= board[i] == card
            same_suit += board[i] & 3 == card & 3
            same_rank += board[i] >> 2 == card >> 2
            lower += board[i] >> 2 < card >> 2
        if dead:
            codes[card] = -1
            continue
        opened = _windows_with(mask | 1 << (card >> 2), windows) - before
        codes[card] = ((opened * 8 + same_suit) * 8 + same_rank) * 16 + 2 * lower + same_rank


@njit(cache=True, nogil=True)
def _all_codes(flops: Any, windows: Any, turn_codes: Any, river_codes: Any) -> None:
    board = np.empty(4, np.uint8)
    for f in range(flops.shape[0]):
        board[:3] = flops[f]
        _change_codes(board, 3, windows, turn_codes[f])
        for card in range(52):
            if turn_codes[f, card] < 0:
                river_codes[f, card] = -1
            else:
                board[3] = card
                _change_codes(board, 4, windows, river_codes[f, card])


def change_features(codes: NDArray, board_cards: int) -> NDArray[np.float32]:
    """Features of packed board changes, float32 [n, 4]: flush, pair, straight and relative rank.

    Flush: half the board's cards of that suit. Pair: the board's cards of that rank. Straight: a third of
    the straights opened, those that need fewer hole cards counted more. Rank: share of the board below it.
    """
    numbers = np.asarray(codes, dtype=np.int64)
    place, same_rank = numbers % 16, numbers // 16 % 8
    same_suit, opened = numbers // 128 % 8, numbers // 1024
    columns = [same_suit / 2, same_rank, opened / 3, place / (2 * board_cards)]
    return np.stack(columns, axis=1).astype(np.float32)


def _cluster_codes(
    codes: NDArray, weights: NDArray, k: int, board_cards: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Class of each deal of a texture by its packed change; fewer than k classes if fewer changes exist."""
    values, inverse = np.unique(codes, return_inverse=True)
    mass = np.bincount(inverse, weights)
    points = change_features(values, board_cards)
    distinct = len(np.unique(points, axis=0))
    result = kmeans(points, min(k, distinct), rng, weights=mass)
    # Number the classes by their first change, so that ids do not depend on the starting centres.
    _, first = np.unique(result.labels, return_index=True)
    rank = np.argsort(np.argsort(first))
    return rank[result.labels][inverse].astype(np.uint8)


def _live_positions(dead: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Position of each live card among the live ones, along the last axis."""
    return np.where(dead, NO_CARD, np.cumsum(~dead, axis=-1) - 1).astype(np.uint8)


def _check_transitions(name: str, count: int | str, most: int) -> None:
    if count != "all" and not (isinstance(count, int) and 1 <= count <= most):
        raise ValueError(f"{name}={count!r}: expected a number from 1 to {most}, or 'all'")


def _medoid(points: NDArray[np.float32], weights: NDArray[np.int64]) -> int:
    """Row with the least weighted sum of distances to all rows, the first of equals."""
    distances = np.sqrt(((points[:, None].astype(np.float64) - points[None]) ** 2).sum(axis=2))
    return int(np.argmin(distances @ weights))


def flop_textures(
    spread: NDArray, count: int, rng: np.random.Generator
) -> tuple[NDArray[np.int16], NDArray[np.int32]]:
    """Texture of each canonical flop and the medoid of each texture; textures are in order of their medoids.

    Parameters
    ----------
    spread : `equity_spread`
    count : number of textures, at most 1,755
    """
    flops = canonical_boards(3)
    if not 1 <= count <= len(flops.boards):
        raise ValueError(f"textures={count}: expected a number from 1 to {len(flops.boards)}")
    if count == len(flops.boards):
        return np.arange(count, dtype=np.int16), np.arange(count, dtype=np.int32)
    points = _scaled(flop_features(spread), flops.weights)
    labels = kmeans(points, count, rng, weights=flops.weights).labels
    medoids = np.empty(count, dtype=np.int32)
    for texture in range(count):
        members = np.flatnonzero(labels == texture)
        medoids[texture] = members[_medoid(points[members], flops.weights[members])]
    order = np.argsort(medoids)
    rank = np.empty(count, dtype=np.int16)
    rank[order] = np.arange(count)
    return rank[labels], medoids[order]


def build_textures(
    spread: NDArray,
    rng: np.random.Generator,
    *,
    textures: int = 200,
    turn_transitions: int | str = 10,
    river_transitions: int | str = 10,
) -> Textures:
    """Textures of the canonical flops with their turn and river transitions.

    Parameters
    ----------
    spread : `equity_spread`
    rng : seeds the clusterings
    textures : number of textures
    turn_transitions, river_transitions : classes of turn cards per texture and of river cards per turn
        state; "all" makes every card its own class
    """
    _check_transitions("turn_transitions", turn_transitions, 49)
    _check_transitions("river_transitions", river_transitions, 48)
    flops = canonical_boards(3)
    texture_of_flop, medoids = flop_textures(spread, textures, rng)
    turn_codes = np.empty((len(flops.boards), 52), dtype=np.int16)
    river_codes = np.empty((len(flops.boards), 52, 52), dtype=np.int16)
    _all_codes(flops.boards, _WINDOWS, turn_codes, river_codes)
    turn = _live_positions(turn_codes < 0)
    river = np.where(
        (turn_codes < 0)[:, :, None] | (river_codes < 0), NO_CARD, _live_positions(river_codes < 0)
    ).astype(np.uint8)
    k = 49 if turn_transitions == "all" else int(turn_transitions)
    last = 48 if river_transitions == "all" else int(river_transitions)
    turn_counts = np.zeros((textures, k), dtype=np.int64)
    river_counts = np.zeros((textures, k, last), dtype=np.int64)
    for texture, child in enumerate(rng.spawn(textures)):
        members = np.flatnonzero(texture_of_flop == texture)
        flop, card = np.nonzero(turn_codes[members] >= 0)
        flop = members[flop]
        if turn_transitions != "all":
            turn[flop, card] = _cluster_codes(turn_codes[flop, card], flops.weights[flop], k, 3, child)
        turn_counts[texture] = _totals(turn[flop, card], flops.weights[flop], k)
        for state in range(k):
            here = turn[flop, card] == state
            pair, river_card = np.nonzero(river_codes[flop[here], card[here]] >= 0)
            at = flop[here][pair], card[here][pair], river_card
            if not len(pair):
                continue
            if river_transitions != "all":
                river[at] = _cluster_codes(river_codes[at], flops.weights[at[0]], last, 4, child)
            river_counts[texture, state] = _totals(river[at], flops.weights[at[0]], last)
    weights = _totals(texture_of_flop, flops.weights, textures)
    return Textures(texture_of_flop, weights, medoids, turn, river, turn_counts, river_counts)


def _totals(labels: NDArray, weights: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Integer weight of each label; sums of integers this small are exact in float64."""
    return np.bincount(labels, weights, minlength=size).astype(np.int64)


def _typical_card(
    labels: NDArray[np.uint8], codes: NDArray[np.int16], label: int, board_cards: int
) -> tuple[int, int]:
    """The card of a class that is nearest to all its cards on this board, and the number of them."""
    cards = np.flatnonzero(labels == label)
    points = change_features(codes[cards], board_cards)
    return int(cards[_medoid(points, np.ones(len(cards), dtype=np.int64))]), len(cards)


def medoid_boards(textures: Textures) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int16]]:
    """The small game of typical boards: each texture's medoid with one card per transition.

    Returns
    -------
    boards : uint8 [n, 5] as dealt, flop first
    weights : int64 [n], summing to 22,100 x 49 x 48: the texture's flops, times the medoid's cards in the
        turn transition, times the cards in the river transition
    texture : int16 [n]
    """
    flops = canonical_boards(3).boards
    boards, weights, owners = [], [], []
    turn_codes = np.empty((1, 52), dtype=np.int16)
    river_codes = np.empty((1, 52, 52), dtype=np.int16)
    for texture, medoid in enumerate(textures.medoids):
        _all_codes(flops[medoid : medoid + 1], _WINDOWS, turn_codes, river_codes)
        turn_labels = textures.turn_transition[medoid]
        for state in np.unique(turn_labels[turn_labels != NO_CARD]):
            turn, turns = _typical_card(turn_labels, turn_codes[0], state, 3)
            river_labels = textures.river_transition[medoid, turn]
            for label in np.unique(river_labels[river_labels != NO_CARD]):
                river, rivers = _typical_card(river_labels, river_codes[0, turn], label, 4)
                boards.append([*flops[medoid], turn, river])
                weights.append(int(textures.weights[texture]) * turns * rivers)
                owners.append(texture)
    return np.array(boards, dtype=np.uint8), np.array(weights), np.array(owners, dtype=np.int16)
