"""Stage `bucket_equity`: equity and weight of every pair of buckets, per street, by exact enumeration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstractions.bucket_equity import bucket_equity, bucket_scores
from abstractions.buckets import BoardRows
from abstractions.streets import BOARD_STREETS
from artifacts.readers import read_bucket_counts, read_bucket_rows, read_textures
from pipelines.run.engine import Inputs, Output, StageRun
from pipelines.stages.rivers import all_river_orders

_ROWS_PER_TASK = {3: 16, 4: 256, 5: 8192}


@dataclass(frozen=True)
class BucketEquityConfig:
    """Everything is enumerated: no options."""


@dataclass(frozen=True)
class _Street:
    """What the tasks of one street share."""

    num_cards: int
    rows: BoardRows
    table: NDArray[np.uint16]
    buckets: int
    orders: NDArray[np.uint16] | None


def _scores(item: tuple[int, NDArray[np.int64]], street: _Street) -> NDArray[np.int64]:
    _, rows = item
    return bucket_scores(
        street.num_cards,
        street.rows.boards[rows],
        street.rows.weights[rows],
        street.table[rows],
        street.buckets,
        street.orders,
    )


def compute(config: BucketEquityConfig, inputs: Inputs, run: StageRun) -> Output:  # noqa: ARG001
    """Bucket x bucket tables of all streets, per texture where buckets are."""
    textures = read_textures(inputs["textures"])
    orders = all_river_orders(run)
    tables: dict[str, dict[str, NDArray]] = {}
    metrics: dict[str, float] = {}
    counts = read_bucket_counts(inputs["buckets"])
    for (num_cards, name), buckets in zip(BOARD_STREETS.items(), counts):
        rows = read_bucket_rows(inputs["buckets"], num_cards, textures)
        table = inputs["buckets"][f"buckets_{name}"]["bucket"]
        street = _Street(num_cards, rows, table, buckets, orders if num_cards < 5 else None)
        items = [
            (texture, chunk)
            for texture in range(rows.num_textures)
            for chunk in _chunks(np.flatnonzero(rows.textures == texture), _ROWS_PER_TASK[num_cards])
        ]
        scores = np.zeros((rows.num_textures, buckets, buckets), dtype=np.int64)
        for position, part in run.stream(_scores, items, shared=street, status=f"{name} pairs"):
            scores[items[position][0]] += part
        pairs = [bucket_equity(matrix) for matrix in scores]
        equity = np.stack([pair[0] for pair in pairs])
        weight = np.stack([pair[1] for pair in pairs])
        tables[f"equity_{name}"] = {
            "texture": np.repeat(np.arange(rows.num_textures, dtype=np.int16), buckets),
            "bucket": np.tile(np.arange(buckets, dtype=np.uint16), rows.num_textures),
            "equity": equity.reshape(-1, buckets).astype(np.float32),
            "weight": weight.reshape(-1, buckets),
        }
        metrics[f"{name}_pairs"] = float((weight > 0).mean())
        metrics[f"{name}_monotone"] = _monotone(equity, weight)
    return Output(tables=tables, metrics=metrics)


def _chunks(rows: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _monotone(equity: NDArray[np.float64], weight: NDArray[np.int64]) -> float:
    """Rank correlation of bucket ids with mean equity against all buckets, averaged over textures."""
    correlations = []
    for matrix, mass in zip(equity, weight):
        mean = (matrix * mass).sum(axis=1) / np.maximum(mass.sum(axis=1), 1)
        ranks = np.argsort(np.argsort(mean, kind="stable"), kind="stable")
        correlations.append(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1] if len(ranks) > 1 else 1.0)
    return float(np.mean(correlations))
