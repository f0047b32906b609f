"""Time the card abstractions: seconds, and multiples of the raw evaluation of every hand on every river.

    python scripts/bench_abstractions.py                       the chain of the fast preset
    python scripts/bench_abstractions.py --preset standard --features ehs
    python scripts/bench_abstractions.py --cold                compilation included
    python scripts/bench_abstractions.py --kmeans              our k-means beside scikit-learn's
    python scripts/bench_abstractions.py --preset smoke --pieces 2    a quick trial on few boards

Everything runs in one process with `--workers` threads; the kernels release the interpreter lock.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from abstractions.streets import BOARD_STREETS

if TYPE_CHECKING:
    from abstractions.buckets import FeatureTables

# Modules with kernels are imported where they are used: `--cold` sets the cache folder before numba is imported.

Result = TypeVar("Result")

PRESETS = {
    "smoke": {"textures": 8, "buckets": 12, "sample": 20_000},
    "fast": {"textures": 50, "buckets": 500, "sample": 200_000},
    "standard": {"textures": 200, "buckets": 2000, "sample": 400_000},
    "accurate": {"textures": 500, "buckets": 5000, "sample": 800_000},
}
#: Boards of a piece of work, by cards on the board.
PIECE = {3: 32, 4: 256, 5: 512}


class Clock:
    """Prints each timed part as seconds and as a multiple of the raw evaluation."""

    def __init__(self) -> None:
        self.raw = 0.0
        self.total = 0.0

    @contextmanager
    def part(self, name: str, counted: bool = True) -> Iterator[None]:
        """Time a part; `counted` parts make up the chain."""
        start = time.perf_counter()
        yield
        seconds = time.perf_counter() - start
        if counted:
            self.total += seconds
        multiple = f"{seconds / self.raw:9.1f} x" if self.raw else ""
        print(f"{name:44s}{seconds:9.2f} s{multiple}", flush=True)


def peak_memory() -> float:
    """Largest resident size so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


@dataclass(frozen=True)
class Workers:
    """Threads, and how many pieces of a street's boards they take in (None: all)."""

    pool: ThreadPoolExecutor
    threads: int
    pieces: int | None = None

    def all_boards(self, task: Callable[[int, int], Result], num_cards: int) -> list[Result]:
        """Results of a task over ranges of all canonical boards, in order."""
        from abstractions.isomorphism import canonical_boards

        boards, step = len(canonical_boards(num_cards).boards), PIECE[num_cards]
        return list(
            self.pool.map(lambda start: task(start, min(start + step, boards)), range(0, boards, step))
        )

    def boards(self, task: Callable[[int, int], Result], num_cards: int) -> list[Result]:
        """Results of a task over ranges of the first canonical boards, as many as `pieces` says, in order."""
        if self.pieces is None:
            return self.all_boards(task, num_cards)
        step = PIECE[num_cards]
        return list(
            self.pool.map(lambda start: task(start, start + step), range(0, self.pieces * step, step))
        )


def evaluate_rivers(workers: Workers) -> float:
    """Seconds to find the strength of every hand on every canonical river; nothing is kept."""
    from numba import njit

    from abstractions.evaluator import _board_strengths
    from abstractions.isomorphism import canonical_boards

    @njit(nogil=True)
    def evaluate(boards: Any) -> None:
        strengths = np.empty(1326, np.int16)
        for row in range(boards.shape[0]):
            _board_strengths(boards[row], strengths)

    boards = canonical_boards(5).boards
    evaluate(boards[:1])
    start = time.perf_counter()
    workers.all_boards(lambda a, b: evaluate(boards[a:b]), 5)
    return time.perf_counter() - start


def bucket_street(
    workers: Workers, clock: Clock, tables: FeatureTables, num_cards: int, preset: dict[str, int]
) -> tuple[NDArray[np.uint16], NDArray[np.float64]]:
    """Features, buckets and table of one street."""
    from abstractions.buckets import (
        assign_buckets,
        board_rows,
        equity_ranks,
        feature_metric,
        feature_points,
        fit_buckets,
        join_samples,
        relabel_rows,
        sample_points,
    )

    street = BOARD_STREETS[num_cards]
    rows, metric = board_rows(num_cards), feature_metric(tables.kind, num_cards)
    # Potentials take long to compute and little memory, so they are kept. Other features are computed twice.
    keep = tables.kind == "ehs" and num_cards < 5
    kept: dict[int, tuple[NDArray[Any], NDArray[Any]]] = {}

    def features(start: int, stop: int) -> tuple[NDArray[Any], NDArray[Any]]:
        if start in kept:
            return kept[start]
        values = feature_points(tables, num_cards, start, stop)
        if keep:
            kept[start] = values
        return values

    def sample(start: int, stop: int) -> Any:
        points, equities = features(start, stop)
        return sample_points(num_cards, start, stop, points, equities, rows, preset["sample"])

    def assign(start: int, stop: int) -> tuple[NDArray[Any], NDArray[Any]]:
        points, equities = features(start, stop)
        return assign_buckets(num_cards, start, stop, points, equities, rows, centroids[None], metric)

    with clock.part(f"{street} {tables.kind} features"):
        joined = join_samples(workers.boards(sample, num_cards))
    count = preset["buckets"]
    if tables.kind == "ehs" and num_cards == 5:
        # Equity on the river takes fewer than 2,000 values, and each bucket needs a value of its own.
        count = min(count, len(np.unique(joined.points)))
    with clock.part(f"{street} k-means, {count} buckets of {len(joined.points):,} points"):
        centroids = fit_buckets(joined, count, np.random.default_rng(0), metric, threads=workers.threads)
    with clock.part(f"{street} assignment of every hand"):
        parts = workers.boards(assign, num_cards)
        moments = np.sum([part[1] for part in parts], axis=0)
        ranks = equity_ranks(moments)
        table = np.concatenate([relabel_rows(part[0], rows.textures, ranks) for part in parts])
    return table, np.take_along_axis(moments, np.argsort(ranks, axis=1)[:, :, None], axis=1)


def run_chain(workers: Workers, clock: Clock, kind: str, preset: dict[str, int]) -> None:
    """The abstraction stages one after the other, as a pipeline runs them."""
    from abstractions.bucket_equity import bucket_equity
    from abstractions.buckets import FeatureTables
    from abstractions.features.histograms import equity_histograms, preflop_histograms
    from abstractions.features.ochs import opponent_clusters
    from abstractions.features.rivers import river_equity_counts, river_orders
    from abstractions.isomorphism import canonical_boards
    from abstractions.report import abstraction_report
    from abstractions.textures import build_textures, equity_spread

    with clock.part("river orders and equities"):
        orders = np.concatenate(workers.all_boards(river_orders, 5))
        counts = np.concatenate(workers.all_boards(river_equity_counts, 5))
    with clock.part(f"textures ({preset['textures']}) and transitions"):
        parts = workers.all_boards(lambda a, b: equity_histograms(3, a, b, counts, 2)[1], 3)
        spread_of_flop = equity_spread(np.concatenate(parts))
        build_textures(spread_of_flop, np.random.default_rng(0), textures=preset["textures"])
    if kind == "emd":
        with clock.part("opponent clusters"):
            histograms = workers.all_boards(lambda a, b: preflop_histograms(a, b, counts), 5)
            clusters = opponent_clusters(np.sum(histograms, axis=0))
        tables = FeatureTables("emd", counts=counts, clusters=clusters)
    else:
        tables = FeatureTables("ehs", orders=orders)
    moments = {}
    for num_cards, street in BOARD_STREETS.items():
        table, moments[street] = bucket_street(workers, clock, tables, num_cards, preset)
        buckets = moments[street].shape[1]
        weights = canonical_boards(num_cards).weights
        with clock.part(f"{street} bucket equity, {buckets} x {buckets}"):
            # Bound now: the next street gives these names other values.
            count = partial(_bucket_scores, num_cards, weights, table, buckets, orders)
            cuts = np.linspace(0, len(table), 9).astype(int)
            scores = np.zeros((buckets, buckets), dtype=np.int64)
            for part in workers.pool.map(count, [np.arange(a, b) for a, b in pairwise(cuts)]):
                scores += part
            equity, cases = bucket_equity(scores)
        mean = (equity * cases).sum(axis=1) / cases.sum(axis=1)
        print(f"    rows whose mean equity rises with the bucket: {(np.diff(mean) > 0).mean():.1%}")
    print(f"{'chain':44s}{clock.total:9.2f} s{clock.total / clock.raw:9.1f} x, peak {peak_memory():.2f} GB")
    for street, report in abstraction_report(moments).items():
        figures = {name: round(value, 5) for name, value in report.figures.items()}
        print(f"    {street}: {figures}")


def _bucket_scores(
    num_cards: int,
    weights: NDArray[np.int64],
    table: NDArray[np.uint16],
    buckets: int,
    orders: NDArray[Any],
    ids: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Scores of some boards of a street, given the weights and buckets of all."""
    from abstractions.bucket_equity import bucket_scores

    return bucket_scores(num_cards, ids, weights[ids], table[ids], buckets, orders)


def run_kmeans(workers: Workers, clock: Clock, points: int, counts: list[int]) -> None:
    """Our k-means against scikit-learn's on the ehs features of flops, same data and same threads."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    from abstractions.clustering.kmeans import kmeans
    from abstractions.features.hand_classes import class_weights
    from abstractions.features.potentials import ehs_features
    from abstractions.features.rivers import river_orders

    orders = np.concatenate(workers.all_boards(river_orders, 5))
    features = np.concatenate(workers.boards(lambda a, b: ehs_features(3, a, b, orders), 3))
    weights = np.concatenate(workers.boards(lambda a, b: class_weights(3, a, b), 3))
    some = np.random.default_rng(0).choice(len(features), min(points, len(features)), replace=False)
    features, weights = features[some], weights[some]
    for count in counts:
        with clock.part(f"k-means, {count} of {len(some):,} flop hands", counted=False):
            ours = kmeans(features, count, np.random.default_rng(0), weights=weights, threads=workers.threads)
        with (
            clock.part(f"scikit-learn, {count} of {len(some):,} flop hands", counted=False),
            threadpool_limits(workers.threads),
        ):
            theirs = KMeans(count, n_init=1, random_state=0).fit(features, sample_weight=weights)
        print(f"    inertia over that of scikit-learn: {ours.cost / theirs.inertia_:.4f}")


def main() -> None:
    """Parse the options and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--preset", choices=PRESETS, default="fast")
    parser.add_argument("--features", choices=("emd", "ehs"), default="emd")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--cold", action="store_true", help="start without compiled kernels")
    parser.add_argument("--kmeans", action="store_true", help="compare with scikit-learn instead")
    parser.add_argument("--points", type=int, default=300_000, help="points of the comparison")
    parser.add_argument("--clusters", default="500,2000", help="numbers of clusters of the comparison")
    parser.add_argument("--pieces", type=int, help="bucket only the first pieces of each street's boards")
    options = parser.parse_args()
    if options.cold:
        os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(prefix="cold-kernels-")
    clock = Clock()
    with ThreadPoolExecutor(max_workers=options.workers) as pool:
        workers = Workers(pool, options.workers, options.pieces)
        with clock.part("evaluator made ready", counted=options.cold):
            evaluate_rivers(workers)
        clock.raw = min(evaluate_rivers(workers) for _ in range(3))
        print(f"{'raw evaluation, 134,459 x 1,081 hands':44s}{clock.raw:9.2f} s{1:9.1f} x")
        if options.kmeans:
            run_kmeans(workers, clock, options.points, [int(word) for word in options.clusters.split(",")])
        else:
            run_chain(workers, clock, options.features, PRESETS[options.preset])


if __name__ == "__main__":
    main()
