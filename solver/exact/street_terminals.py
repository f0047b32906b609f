"""Values of all lines that end on one street of one board: folds, showdowns and all-ins."""

from __future__ import annotations

from typing import Any

import numpy as np

from solver.cfr.simd import (
    WIDTH,
    add_lanes_to_rows,
    fused,
    kernel,
    lanes_to_rows,
    load,
    load_as,
    rows_to_lanes,
    splat,
    store,
)
from solver.exact.paired_terminals import _paired_folds, _paired_showdowns, _paired_sums
from solver.exact.terminals import BLOCK, _card_sums, _fold_values, _rank_sums, _showdown_values


@kernel
def _terminals(game: Any, s: int, b: int, is_exact: bool, work: Any) -> None:
    """Values of every fold and showdown of a street on one board.

    Where folded players weigh the pairs of hands, what the weights' product leaves over is computed anew if `is_exact`,
    else taken as it was (`solver.exact.pair_weights`).
    """
    street, own, opp = game.streets[s], game.own_boards[b], game.opp_boards[b]
    own_pad, opp_pad = np.int64(own.pad), np.int64(opp.pad)
    size = len(work.pays) // 4
    shows = street.shows != 0
    paired = game.pair_starts[b] >= 0
    for h in range(own.count, own_pad):
        for part in range(0, BLOCK, WIDTH):
            store(work.y, h * BLOCK + part, splat(work.y, 0.0))
    if paired and is_exact:
        _correct(game, s, b, work)
    begin, unread = work.starts[s, 1], len(work.value) - len(work.hands1)
    own_lanes, show_lanes, lanes = _all_lanes(game, s, b, begin, unread, work)
    for block in range(0, lanes, BLOCK):
        width = min(BLOCK, lanes - block)
        _take_lanes(work, block, width, opp_pad)
        if paired:
            _scale(work.x, width, opp, game.opp_hands, game.pair_opp_factors)
        if shows and block < show_lanes:
            _rank_sums(work.x, work.y, work.sums, own, game.own_hands, game.own_groups, opp, game.opp_hands)
        else:
            _card_sums(work.x, work.sums, opp, game.opp_hands)
        for part in range(0, width, WIDTH):
            lane = block + part
            if shows and lane < show_lanes:
                _showdown_values(work.x, work.y, work.sums, part, own, game.own_hands, work.pays, lane)
                if paired:
                    _scale_part(work.y, part, own, game.own_hands, game.pair_own_factors)
                _lanes_out(work, work.value, part, size + lane, own_pad, lane >= own_lanes)
            if lane < own_lanes or lane >= show_lanes:
                _fold_values(work.x, work.y, work.sums, part, own, game.own_hands, work.pays, lane)
                if paired:
                    _scale_part(work.y, part, own, game.own_hands, game.pair_own_factors)
                _lanes_out(work, work.value, part, 2 * size + lane, own_pad, lane >= own_lanes)
    if paired:
        _add_corrections(game, s, b, work)


@kernel
def _correct(game: Any, s: int, b: int, work: Any) -> None:
    """Bring the corrections of a board up to date with the opponent's reach."""
    street, own, opp = game.streets[s], game.own_boards[b], game.opp_boards[b]
    own_pad, opp_pad = np.int64(own.pad), np.int64(opp.pad)
    size = len(work.pays) // 4
    out = game.pair_corrections
    begin = game.pair_correction_starts[b]
    for k in range(0, street.value_rows * own_pad, WIDTH):
        store(out, begin + k, splat(out, 0.0))
    own_lanes, show_lanes, lanes = _all_lanes(game, s, b, begin, len(out) - len(work.hands1), work)
    for block in range(0, lanes, BLOCK):
        width = min(BLOCK, lanes - block)
        _take_lanes(work, block, width, opp_pad)
        _paired_sums(
            *(work.x, work.y, work.met, own, game.own_hands, opp, game.opp_hands),
            *(game.pair_weights, game.pair_starts[b], game.pair_bounds, work.sums),
        )
        for part in range(0, width, WIDTH):
            lane = block + part
            if street.shows != 0 and lane < show_lanes:
                _paired_showdowns(work.y, work.met, part, own.count, work.pays, lane)
                _lanes_out(work, out, part, size + lane, own_pad, True)
            if lane < own_lanes or lane >= show_lanes:
                _paired_folds(work.y, work.met, part, own.count, work.pays, lane)
                _lanes_out(work, out, part, 2 * size + lane, own_pad, True)


@kernel
def _add_corrections(game: Any, s: int, b: int, work: Any) -> None:
    """Add the corrections of a board to its value rows: those that many add to, and those of lanes alone."""
    street = game.streets[s]
    pad = np.int64(game.own_boards[b].pad)
    for k in range(street.clear, street.clear_end):
        _add_row(game, s, b, game.clear[k], pad, work)
    for k in range(street.lanes, street.lanes_end):
        lane = game.lanes[k]
        if lane.alone != 0 and work.alive[work.starts[s, 2] + lane.reach] != 0:
            if lane.show >= 0:
                _add_row(game, s, b, lane.show, pad, work)
            if lane.fold >= 0:
                _add_row(game, s, b, lane.fold, pad, work)


@kernel
def _add_row(game: Any, s: int, b: int, row: int, pad: int, work: Any) -> None:
    to = work.starts[s, 1] + row * pad
    source = game.pair_correction_starts[b] + row * pad
    for h in range(0, pad, WIDTH):
        store(work.value, to + h, load(work.value, to + h) + load(game.pair_corrections, source + h))


@kernel
def _scale(x: Any, width: int, side: Any, hands: Any, factors: Any) -> None:
    """Multiply the reach of every hand in the first lanes."""
    for k in range(side.hands, side.hands_end):
        row = np.int64(hands[k].place) * BLOCK
        factor = splat(x, factors[k])
        for part in range(0, width, WIDTH):
            store(x, row + part, load(x, row + part) * factor)


@kernel
def _scale_part(y: Any, part: int, side: Any, hands: Any, factors: Any) -> None:
    """Multiply the values of every hand in the eight lanes from `part` on."""
    for k in range(side.hands, side.hands_end):
        row = np.int64(hands[k].place) * BLOCK + part
        store(y, row, load(y, row) * splat(y, factors[k]))


@kernel
def _take_lanes(work: Any, block: int, width: int, opp_pad: int) -> None:
    """Reach of a block of lanes as ``[hand, lane]``."""
    for part in range(0, width, WIDTH):
        for h in range(0, opp_pad, WIDTH):
            rows_to_lanes(work.reach, work.lanes, block + part, h, work.x, h * BLOCK + part, BLOCK)


@kernel
def _all_lanes(game: Any, s: int, b: int, value: int, unread: int, work: Any) -> Any:
    """List the lanes of a street section by section; returns the end of each.

    Their value rows start at `value`; what empty lanes give goes to `unread`.
    """
    street = game.streets[s]
    none = np.int64(0)
    own_end = _gather_lanes(game, s, b, street.lanes, street.lanes_own, none, value, unread, work)
    show_end = _gather_lanes(game, s, b, street.lanes_own, street.lanes_show, own_end, value, unread, work)
    end = _gather_lanes(game, s, b, street.lanes_show, street.lanes_end, show_end, value, unread, work)
    return own_end, show_end, end


@kernel
def _gather_lanes(
    game: Any, s: int, b: int, first: int, end: int, lanes: int, value: int, unread: int, work: Any
) -> int:
    """List the lanes of a section that the opponent reaches, and empty ones up to a full vector; returns their end."""
    own_pad, opp_pad = np.int64(game.own_boards[b].pad), np.int64(game.opp_boards[b].pad)
    reach, live = work.starts[s, 0], work.starts[s, 2]
    rows, pays = work.lanes, work.pays
    size = len(pays) // 4
    for k in range(first, end):
        lane = game.lanes[k]
        if work.alive[live + lane.reach] != 0:
            rows[lanes] = reach + lane.reach * opp_pad
            rows[size + lanes] = value + lane.show * own_pad if lane.show >= 0 else unread
            rows[2 * size + lanes] = value + lane.fold * own_pad if lane.fold >= 0 else unread
            pays[lanes] = lane.half
            pays[size + lanes] = lane.lose
            pays[2 * size + lanes] = lane.tie
            pays[3 * size + lanes] = lane.folds
            lanes += 1
    while lanes % WIDTH != 0:
        rows[lanes] = len(work.reach) - len(work.hands1)
        rows[size + lanes] = unread
        rows[2 * size + lanes] = unread
        for j in range(4):
            pays[j * size + lanes] = 0.0
        lanes += 1
    return lanes


@kernel
def _lanes_out(work: Any, out: Any, part: int, lane: int, pad: int, adds: bool) -> None:
    """Set, or add to, the rows of eight lanes in `out`."""
    for h in range(0, pad, WIDTH):
        if adds:
            add_lanes_to_rows(work.y, h * BLOCK + part, BLOCK, out, work.lanes, lane, h)
        else:
            lanes_to_rows(work.y, h * BLOCK + part, BLOCK, out, work.lanes, lane, h)


@kernel
def _allins(game: Any, s: int, b: int, work: Any) -> None:
    """Values of betting that ended before the last card: a matrix of wins minus losses over the run-outs."""
    if game.pair_starts[b] >= 0:
        _allin_rows(game, s, b, game.pair_allin, game.pair_allin_starts[b], work)
    else:
        _allin_rows(game, s, b, game.own_allin, game.own_boards[b].allin, work)


@kernel
def _allin_rows(game: Any, s: int, b: int, matrix: Any, at: int, work: Any) -> None:
    """Multiply the reach of every all-in of a board with the matrix that starts at `at`.

    Few hands get all their chips in, so only rows of hands that arrive are read.
    """
    street, own, opp = game.streets[s], game.own_boards[b], game.opp_boards[b]
    own_pad, opp_pad = np.int64(own.pad), np.int64(opp.pad)
    weights, rows = work.hands1, work.rows
    for k in range(street.allins, street.allins_end):
        allin = game.allins[k]
        if work.alive[work.starts[s, 2] + allin.reach] == 0:
            continue
        value = work.starts[s, 1] + allin.row * own_pad
        source = work.starts[s, 0] + allin.reach * opp_pad
        pays = allin.half * game.scales[s, 1]
        arrive = 0
        for j in range(opp.count):
            reach = work.reach[source + j]
            if reach != 0.0:
                weights[arrive] = reach
                rows[arrive] = at + j * own_pad
                arrive += 1
        h = 0
        while h + 4 * WIDTH <= own_pad:
            _four_sums(matrix, rows, weights, arrive, h, pays, allin.adds != 0, work.value, value + h)
            h += 4 * WIDTH
        while h < own_pad:
            total = splat(work.value, 0.0)
            for j in range(arrive):
                total = fused(load_as(matrix, rows[j] + h, work.value), splat(work.value, weights[j]), total)
            _put_sum(work.value, value + h, total, pays, allin.adds != 0)
            h += WIDTH


@kernel
def _four_sums(
    matrix: Any, rows: Any, weights: Any, count: int, h: int, pays: float, adds: bool, value: Any, to: int
) -> None:
    """Weighted sums of matrix rows in four vectors of values: a cache line of each row."""
    first = splat(value, 0.0)
    second, third, fourth = first, first, first
    for j in range(count):
        row, weight = rows[j] + h, splat(value, weights[j])
        first = fused(load_as(matrix, row, value), weight, first)
        second = fused(load_as(matrix, row + WIDTH, value), weight, second)
        third = fused(load_as(matrix, row + 2 * WIDTH, value), weight, third)
        fourth = fused(load_as(matrix, row + 3 * WIDTH, value), weight, fourth)
    _put_sum(value, to, first, pays, adds)
    _put_sum(value, to + WIDTH, second, pays, adds)
    _put_sum(value, to + 2 * WIDTH, third, pays, adds)
    _put_sum(value, to + 3 * WIDTH, fourth, pays, adds)


@kernel
def _put_sum(value: Any, to: int, total: Any, pays: float, adds: bool) -> None:
    """Set, or add to, eight values."""
    paid = splat(value, pays) * total
    if adds:
        paid = paid + load(value, to)
    store(value, to, paid)
