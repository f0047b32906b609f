"""Stage `buckets`: hands of every board grouped by exact equity features.

Per street: features of all boards are streamed over the cluster twice, once to draw a systematic sample that
the centroids are fitted on, once to assign every hand of every canonical board to its nearest centroid.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from abstractions.buckets import (
    BoardRows,
    FeatureTables,
    Sample,
    assign_buckets,
    covered_rows,
    equity_ranks,
    feature_metric,
    feature_points,
    fit_buckets,
    join_samples,
    relabel_rows,
    row_keys,
    sample_points,
)
from abstractions.cards import NUM_COMBOS
from abstractions.clustering.kmeans import nearest
from abstractions.features.histograms import preflop_histograms
from abstractions.features.ochs import opponent_clusters
from abstractions.report import StreetReport, street_report
from abstractions.streets import BOARD_STREETS
from artifacts.readers import read_textures
from pipelines.run.disk import scratch_table
from pipelines.run.engine import Inputs, Output, StageRun
from pipelines.run.errors import UserError
from pipelines.stages.rivers import (
    RIVERS_PER_TASK,
    Bounds,
    all_river_orders,
    board_chunks,
    river_counts,
)

_BOARDS_PER_TASK = {3: 32, 4: 256, 5: 1024}


@dataclass(frozen=True)
class BucketsConfig:
    """Feature kind, scope and sizes; the seed starts the clusterings. A street of size 0 is left out."""

    features: str
    scope: str
    boards: str
    flop: int
    turn: int
    river: int
    histogram_bins: int
    ochs_clusters: int
    sample: int
    seed: int

    def count(self, num_cards: int) -> int:
        """Buckets of a street, per texture in scope `texture`."""
        return {3: self.flop, 4: self.turn, 5: self.river}[num_cards]


@dataclass(frozen=True)
class _Street:
    """What the tasks of one street share."""

    tables: FeatureTables
    rows: BoardRows
    chunks: list[Bounds]
    num_cards: int
    sample: int
    offset: float
    centroids: NDArray[np.float32] | None = None


def _preflop(bounds: Bounds, counts: NDArray[np.uint16]) -> NDArray[np.int64]:
    return preflop_histograms(*bounds, counts)


def _draw(bounds: Bounds, street: _Street) -> Sample:
    points, equities = feature_points(street.tables, street.num_cards, *bounds)
    return sample_points(
        street.num_cards, *bounds, points, equities, street.rows, street.sample, street.offset
    )


def _fit(texture: int, shared: tuple[Sample, int, int, str]) -> NDArray[np.float32]:
    sample, buckets, seed, metric = shared
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(texture,)))
    return fit_buckets(sample, buckets, rng, metric, texture=texture)


def _assign(bounds: Bounds, street: _Street) -> tuple[NDArray[np.uint16], NDArray[np.float64]]:
    assert street.centroids is not None
    points, equities = feature_points(street.tables, street.num_cards, *bounds)
    metric = feature_metric(street.tables.kind, street.num_cards)
    return assign_buckets(street.num_cards, *bounds, points, equities, street.rows, street.centroids, metric)


def _feature_tables(config: BucketsConfig, run: StageRun) -> FeatureTables:
    if config.features == "ehs":
        return FeatureTables("ehs", orders=all_river_orders(run))
    counts = river_counts(run)
    parts = run.map(_preflop, board_chunks(5, RIVERS_PER_TASK), shared=counts, status="preflop histograms")
    rng = np.random.default_rng(np.random.SeedSequence(config.seed, spawn_key=(2,)))
    clusters = opponent_clusters(sum(parts, np.zeros_like(parts[0])), config.ochs_clusters, rng)
    return FeatureTables("emd", counts=counts, clusters=clusters, bins=config.histogram_bins)


def compute(config: BucketsConfig, inputs: Inputs, run: StageRun) -> Output:
    """Bucket of every hand on every canonical board, centroids, and how well the buckets hold together."""
    textures = read_textures(inputs["textures"])
    features = _feature_tables(config, run)
    tables: dict[str, dict[str, NDArray]] = {}
    centroid_rows: list[dict[str, object]] = []
    metrics: dict[str, float] = {}
    output: dict[str, dict] = {}
    for num_cards, name in BOARD_STREETS.items():
        if config.count(num_cards) == 0:
            continue
        rows = covered_rows(num_cards, textures, scope=config.scope, boards=config.boards)
        chunks = board_chunks(num_cards, _BOARDS_PER_TASK[num_cards])
        if config.boards == "medoids":
            chunks = [(int(board), int(board) + 1) for board in np.unique(rows.boards)]
        size = max(config.sample // rows.num_textures, 20 * config.count(num_cards))
        seeds = np.random.SeedSequence(config.seed, spawn_key=(3, num_cards))
        offset = float(np.random.default_rng(seeds).random())
        street = _Street(features, rows, chunks, num_cards, size, offset)
        sample = join_samples(run.map(_draw, chunks, shared=street, status=f"{name} sample"))
        street = _with_centroids(street, sample, config, seeds, run)
        table, moments = _assigned(street, run)
        assert street.centroids is not None
        report = street_report(moments)
        metrics |= {f"{name}_{key}": value for key, value in report.figures.items()}
        tables[f"buckets_{name}"] = {"bucket": table}
        if config.scope == "texture" or config.boards == "medoids":
            tables[f"buckets_{name}"]["row_key"] = row_keys(rows)
        centroid_rows += _centroid_rows(name, street.centroids, report)
        if num_cards == 3:
            output["flop_sample"] = _pictured(sample, street.centroids, config)
    output |= {**tables, "centroids": _columns(centroid_rows)}
    if config.scope == "texture":
        output["flop_textures"] = {"texture": textures.texture_of_flop}
    if features.clusters is not None:
        output["opponent_clusters"] = {"cluster": features.clusters}
    return Output(tables=output, metrics=metrics)


def _with_centroids(
    street: _Street, sample: Sample, config: BucketsConfig, seeds: np.random.SeedSequence, run: StageRun
) -> _Street:
    name, num_cards = BOARD_STREETS[street.num_cards], street.num_cards
    metric = feature_metric(config.features, num_cards)
    buckets = config.count(num_cards)
    seed = int(seeds.generate_state(1, np.uint64)[0])
    shared = (sample, buckets, seed, metric)
    status = f"{name} {buckets} buckets"
    try:
        fitted = run.map(_fit, range(street.rows.num_textures), shared=shared, status=status)
    except ValueError as error:
        # How many different points there are is known only now. A Ray task wraps the error that it raised.
        reason = getattr(error, "cause", error)
        raise UserError(f"abstraction.buckets.{name}: {buckets} is not accepted: {reason}") from None
    return dataclasses.replace(street, centroids=np.stack(fitted))


def _pictured(sample: Sample, centroids: NDArray[np.float32], config: BucketsConfig) -> dict[str, NDArray]:
    """A few thousand sampled hands with their buckets, for the scatter plot."""
    step = max(1, len(sample.points) // 4000)
    points, owners = sample.points[::step], sample.textures[::step]
    labels = np.empty(len(points), dtype=np.uint16)
    for texture in np.unique(owners):
        mine = owners == texture
        metric = feature_metric(config.features, 3)
        labels[mine] = nearest(points[mine], centroids[texture], metric=metric)[0]
    return {"point": points, "equity": sample.equities[::step], "bucket": labels, "texture": owners}


def _assigned(street: _Street, run: StageRun) -> tuple[NDArray[np.uint16], NDArray[np.float64]]:
    """Table and moments under final bucket ids; the table lies in a file."""
    name, rows, chunks = BOARD_STREETS[street.num_cards], street.rows, street.chunks
    table = scratch_table(run.scratch / f"{name}.u16", (len(rows.boards), NUM_COMBOS))
    parts: list[NDArray[np.float64]] = [np.empty(0)] * len(chunks)
    for position, (part, moments) in run.stream(_assign, chunks, shared=street, status=f"{name} buckets"):
        start, stop = (int(rows.offsets[bound]) for bound in chunks[position])
        table[start:stop] = part
        parts[position] = moments
    total = np.sum(parts, axis=0)
    ranks = equity_ranks(total)
    for start, stop in chunks:
        here = slice(int(rows.offsets[start]), int(rows.offsets[stop]))
        table[here] = relabel_rows(table[here], rows.textures[here], ranks)
    order = np.argsort(ranks, axis=1)
    assert street.centroids is not None
    street.centroids[:] = np.take_along_axis(street.centroids, order[:, :, None], axis=1)
    return table, np.take_along_axis(total, order[:, :, None], axis=1)


def _centroid_rows(
    street: str, centroids: NDArray[np.float32], report: StreetReport
) -> list[dict[str, object]]:
    textures, buckets, dimensions = centroids.shape
    return [
        {
            "street": street,
            "texture": row // buckets,
            "bucket": row % buckets,
            "share": float(report.occupancy[row]),
            "equity": float(report.mean[row]),
            "equity_sd": float(report.deviation[row]),
            "centroid": centroid.tolist(),
        }
        for row, centroid in enumerate(centroids.reshape(textures * buckets, dimensions))
    ]


def _columns(rows: list[dict[str, object]]) -> dict[str, pa.Array]:
    table = pa.Table.from_pylist(rows)
    return {name: table.column(name).combine_chunks() for name in table.column_names}
