"""What the sweeps of a board read and write: hands by bucket, the strategy of each player, scratch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solver.blueprint.plan import LaneProgram
from solver.blueprint.terminals import ABREAST, SUMS_SIZE
from solver.cfr.simd import WIDTH

UPDATE, BEST_RESPONSE, EXPECTED = 0, 1, 2
# How a sweep plays the river: both from the tables, own by best response, own against such a response.
FROM_TABLES, RESPONDS, ANSWERED = 0, 1, 2
#: Rows are sorted by counting where the numbers of their buckets span at most so many times the number of rows.
MOST_COUNTED = 64


class Runs(NamedTuple):
    """Hands by bucket: ``order[start[r] : start[r + 1]]`` are the rows of ``bucket[r]``, ascending."""

    order: NDArray[np.int32]
    start: NDArray[np.int32]
    bucket: NDArray[np.int32]


def bucket_runs(buckets: NDArray[np.integer]) -> Runs:
    """Group rows by bucket.

    >>> bucket_runs(np.array([4, 2, 4])).order.tolist()
    [1, 0, 2]
    """
    numbers = np.asarray(buckets).astype(np.int32)
    size = len(numbers)
    order, start, bucket = np.empty(size, np.int32), np.empty(size + 1, np.int32), np.empty(size, np.int32)
    if not _count_rows(numbers, order):
        order[:] = np.argsort(numbers, kind="stable")
    runs = _find_runs(numbers, order, start, bucket)
    return Runs(order, start[: runs + 1].copy(), bucket[:runs].copy())


@njit(cache=True, nogil=True)
def _count_rows(numbers: Any, order: Any) -> bool:
    """Order rows by their numbers, by counting; rows of equal numbers keep their order.

    Returns False, and does nothing, where the numbers lie too far apart to be counted.
    """
    if len(numbers) == 0:
        return True
    lowest, highest = numbers.min(), numbers.max()
    if highest - lowest > MOST_COUNTED * len(numbers):
        return False
    place = np.zeros(highest - lowest + 2, np.int32)
    for number in numbers:
        place[number - lowest + 1] += 1
    for k in range(1, len(place)):
        place[k] += place[k - 1]
    for row in range(len(numbers)):
        slot = numbers[row] - lowest
        order[place[slot]] = row
        place[slot] += 1
    return True


@njit(cache=True, nogil=True)
def _find_runs(numbers: Any, order: Any, start: Any, bucket: Any) -> int:
    """Where each run of equal numbers starts, and how many there are; the end of all is the last start."""
    count = 0
    for k in range(len(order)):
        number = numbers[order[k]]
        if k == 0 or number != numbers[order[k - 1]]:
            start[count], bucket[count] = k, number
            count += 1
    start[count] = len(order)
    return count


class BucketShowdown(NamedTuple):
    """A river played by bucket; without runs it is played by hand.

    Attributes
    ----------
    runs
        The board's buckets as rows, one each.
    mass
        Hands in each.
    matrix
        Chance of winning less chance of losing, bucket against bucket, times `met`.
    met
        Share of the opponent's hands that a hand can meet.
    """

    runs: Runs
    mass: NDArray[np.float64]
    matrix: NDArray[Any]
    met: float


def by_hand_showdown(dtype: Any) -> BucketShowdown:
    """A river played by hand."""
    return BucketShowdown(
        bucket_runs(np.empty(0, dtype=np.int32)), np.empty(0), np.empty((0, 0), dtype=dtype), 1.0
    )


class Side(NamedTuple):
    """What a sweep reads about the strategy of one player.

    Attributes
    ----------
    source
        Regrets, or the numerator of the average: strategies follow by regret matching.
    tables
        First entry of flop, turn and river in it.
    num_buckets
        Buckets of flop, turn and river.
    runs
        The hands of the board by bucket on flop, turn and river.
    """

    source: NDArray[Any]
    tables: NDArray[np.int64]
    num_buckets: NDArray[np.int64]
    runs: tuple[Runs, Runs, Runs]


class Work(NamedTuple):
    """Scratch of one sweep.

    `keep` holds 1 per own action and lane, 0 where the action is pruned.
    """

    reach: NDArray[Any]
    value: NDArray[Any]
    alive: NDArray[np.uint8]
    sums: NDArray[Any]
    ranked: NDArray[Any]
    sigma: NDArray[Any]
    totals: NDArray[Any]
    keep: NDArray[Any]
    queue: NDArray[np.int64]
    open: NDArray[np.int64]
    places: NDArray[np.int64]


def make_work(programs: Sequence[LaneProgram], num_hands: int, dtype: Any) -> Work:
    """Scratch for programs over so many hands."""
    size = num_hands * WIDTH
    reach_rows = max(program.reach_rows for program in programs)
    value_rows = max(program.value_rows for program in programs)
    # At least three: strategies of two actions are read like those of three.
    max_actions = max(
        3, *(int(part["actions"].max(initial=0)) for p in programs for part in (p.splits, p.updates))
    )
    return Work(
        reach=np.zeros(reach_rows * size, dtype=dtype),
        value=np.zeros(value_rows * size, dtype=dtype),
        alive=np.zeros(reach_rows, dtype=np.uint8),
        sums=np.zeros(SUMS_SIZE, dtype=dtype),
        ranked=np.zeros(ABREAST * size, dtype=dtype),
        sigma=np.zeros(max_actions * WIDTH, dtype=dtype),
        totals=np.zeros(max_actions * WIDTH, dtype=dtype),
        keep=np.ones(max(program.own_actions for program in programs) * WIDTH, dtype=dtype),
        queue=np.zeros(max(len(program.terminals) for program in programs), dtype=np.int64),
        open=np.zeros(WIDTH, dtype=np.int64),
        places=np.zeros(WIDTH, dtype=np.int64),
    )
