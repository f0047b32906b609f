"""Ranges as text and as weights.

A range is 1,326 weights in [0, 1]. Its text is a list of tokens separated by commas or spaces, each with an
optional weight after a colon (1 if left out); where tokens overlap the last one stands.

=============  ==========================================================================
token          combos
=============  ==========================================================================
``AA``         a pair
``AKs`` ``AKo``  suited, offsuit
``AK``         suited and offsuit
``66+``        this pair and higher
``A8s+``       this kicker and higher, up to one below the high card
``QQ-22``      the pairs in between
``A5s-A4s``    the kickers in between
``JTs-54s``    both ranks move together
``AhKh``       one combo
``all``        every combo; also ``random``
=============  ==========================================================================
"""

from __future__ import annotations

import re
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import (
    CLASS_COMBOS,
    CLASS_NAMES,
    CLASS_OF_COMBO,
    NUM_CLASSES,
    NUM_COMBOS,
    RANKS,
    format_combo,
    parse_combo,
)

_EVERYTHING = ("all", "random")
_HAND = re.compile(f"([{RANKS}])([{RANKS}])([so]?)", re.IGNORECASE)
_COMBO = re.compile(f"[{RANKS}][cdhs][{RANKS}][cdhs]", re.IGNORECASE)
_CLASS_MEMBERS = [np.flatnonzero(np.equal(CLASS_OF_COMBO, index)) for index in range(NUM_CLASSES)]


def _refuse(token: str, reason: str) -> NoReturn:
    raise ValueError(f"range token {token!r}: {reason}")


def _classes(high: int, low: int, kind: str) -> list[int]:
    """Hand classes of two ranks, kind 's', 'o' or '' for both; a pair is one class."""
    row, column = 12 - high, 12 - low
    if high == low:
        return [14 * row]
    return [13 * row + column] * (kind != "o") + [13 * column + row] * (kind != "s")


def _parse_hand(text: str, token: str) -> tuple[int, int, str]:
    """High rank, low rank and kind of a hand such as ``A8s``."""
    match = _HAND.fullmatch(text)
    if match is None:
        _refuse(token, f"{text!r} is no hand; expected one like AA, AKs, AK, 66+, A5s-A4s, AhKh or all")
    ranks = RANKS.index(match[1].upper()), RANKS.index(match[2].upper())
    kind = match[3].lower()
    if ranks[0] == ranks[1] and kind:
        _refuse(token, "a pair is neither suited nor offsuit")
    return max(ranks), min(ranks), kind


def _parse_run(first: str, last: str, token: str) -> list[int]:
    """Hand classes from one end of a run to the other, whichever is higher."""
    (high, low, kind), (other_high, other_low, other_kind) = (
        _parse_hand(first, token),
        _parse_hand(last, token),
    )
    if kind != other_kind or (high == low) != (other_high == other_low):
        _refuse(token, "both ends of a run must be of one kind: pairs, suited or offsuit")
    if high == other_high:
        step = 0
    elif high - low == other_high - other_low:
        step = 1
    else:
        _refuse(token, "the ends of a run must share the high card (A5s-A2s) or the gap (JTs-54s)")
    length = abs(other_low - low)
    start = min((high, low), (other_high, other_low))
    return [c for i in range(length + 1) for c in _classes(start[0] + step * i, start[1] + i, kind)]


def _parse_item(item: str, token: str) -> NDArray[np.intp]:
    """Combos of a token without its weight."""
    if item.lower() in _EVERYTHING:
        return np.arange(NUM_COMBOS)
    if _COMBO.fullmatch(item):
        if item[:2].lower() == item[2:].lower():
            _refuse(token, f"the card {item[:2]!r} appears twice")
        return np.array([parse_combo(item)])
    if item.endswith("+"):
        high, low, kind = _parse_hand(item[:-1], token)
        if high == low:
            classes = [c for rank in range(low, 13) for c in _classes(rank, rank, "")]
        else:
            classes = [c for rank in range(low, high) for c in _classes(high, rank, kind)]
    elif "-" in item:
        first, _, last = item.partition("-")
        classes = _parse_run(first, last, token)
    else:
        classes = _classes(*_parse_hand(item, token))
    return np.concatenate([_CLASS_MEMBERS[c] for c in classes])


def parse_range(text: str) -> NDArray[np.float64]:
    """Weights of the 1,326 combos of a range written as text.

    >>> weights = parse_range("66+,A8s+,A5s-A4s,AJo+,KQo:0.5,AhKh")
    >>> float(weights.sum())
    128.0
    """
    weights = np.zeros(NUM_COMBOS)
    if not text.strip():
        return weights
    joined = re.sub(r"\s*([:-])\s*", r"\1", text.strip())
    for token in re.split(r"\s*,\s*|\s+", joined):
        if not token:
            raise ValueError(f"range {text.strip()!r}: nothing between two commas")
        item, colon, weight_text = token.partition(":")
        weight = 1.0
        if colon:
            try:
                weight = float(weight_text)
            except ValueError:
                weight = -1.0
            if not 0.0 <= weight <= 1.0:
                _refuse(token, f"weight {weight_text!r} is no number from 0 to 1")
        weights[_parse_item(item, token)] = weight
    return weights


def check_weights(weights: NDArray) -> NDArray:
    """Range weights as they are, refused unless they are 1,326 numbers in [0, 1]."""
    array = np.asarray(weights)
    if array.shape != (NUM_COMBOS,):
        raise ValueError(f"range of shape {array.shape}: expected {NUM_COMBOS} weights")
    bad = ~((array >= 0) & (array <= 1))
    if bad.any():
        combo = int(np.argmax(bad))
        raise ValueError(f"weight {array[combo]} of {format_combo(combo)}: expected a number from 0 to 1")
    return array


def _weighted(item: str, weight: np.floating) -> str:
    return item if weight == 1 else f"{item}:{np.format_float_positional(weight, trim='-')}"


def _format_runs(names: list[str], weights: list[np.floating | None]) -> list[str]:
    """Tokens of neighbouring classes, best first; a weight of None breaks the run."""
    tokens = []
    start = 0
    while start < len(names):
        weight = weights[start]
        stop = start + 1
        if weight is not None and weight > 0:
            while stop < len(names) and weights[stop] == weight:
                stop += 1
            best, worst = names[start], names[stop - 1]
            if stop == start + 1:
                item = best
            else:
                item = f"{worst}+" if start == 0 else f"{best}-{worst}"
            tokens.append(_weighted(item, weight))
        start = stop
    return tokens


def format_range(weights: NDArray) -> str:
    """Shortest usual text of a range: pairs, suited hands, offsuit hands, then single combos.

    `parse_range` gives the same weights back; float32 weights come back equal as float32.

    >>> format_range(parse_range("AA KK QQ AKs AQs KQs:0.25 AhKd"))
    'QQ+,AQs+,KQs:0.25,AhKd'
    """
    array = check_weights(weights)
    if array.dtype.kind != "f":
        array = array.astype(np.float64)
    if array[0] > 0 and (array == array[0]).all():
        return _weighted("all", array[0])
    whole: list[np.floating | None] = []
    single = []
    for members in _CLASS_MEMBERS:
        level = array[members[0]]
        if (array[members] == level).all():
            whole.append(level)
        else:
            whole.append(None)
            single += [_weighted(format_combo(int(c)), array[c]) for c in members[::-1] if array[c] > 0]
    rows = [[14 * rank for rank in range(13)]]
    rows += [[13 * row + column for column in range(row + 1, 13)] for row in range(12)]
    rows += [[13 * row + column for row in range(column + 1, 13)] for column in range(12)]
    tokens = [t for row in rows for t in _format_runs([CLASS_NAMES[c] for c in row], [whole[c] for c in row])]
    return ",".join(tokens + single)


def class_weights(weights: NDArray) -> NDArray[np.float64]:
    """Mean weight of each hand class over all its combos, float64 [169]: the 13 x 13 grid, row by row."""
    return np.bincount(CLASS_OF_COMBO, weights=check_weights(weights), minlength=NUM_CLASSES) / CLASS_COMBOS


def from_class_weights(weights: NDArray) -> NDArray[np.float64]:
    """Range that gives every combo the weight of its class."""
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (NUM_CLASSES,):
        raise ValueError(f"class weights of shape {array.shape}: expected {NUM_CLASSES}")
    return check_weights(array[CLASS_OF_COMBO])
