"""The stage of three-way equities: it goes on where it was cut off, and its bundle reads back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from abstractions.cards import CLASS_NAMES
from abstractions.class_triples import NUM_TRIPLES, disjoint_triples, pair_index, triples_listed
from abstractions.three_way import three_way_chunk
from artifacts import open_bundle
from artifacts.readers import read_three_way_equity
from pipelines import three_way_equity as command
from pipelines.config.composition import compose_config
from pipelines.run.cluster import InProcess, open_cluster
from pipelines.run.engine import StageRun
from pipelines.run.progress import Reporter
from pipelines.stages import three_way_equity

CHUNKS = [(start, start + 2) for start in range(70_000, 70_024, 2)]


class Counted(InProcess):
    """A cluster that fails after so many results, and counts them."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.done = 0

    def stream(
        self, function: Callable[..., Any], items: Sequence[Any], *, shared: Any = None
    ) -> Iterator[tuple[int, Any]]:
        # Last item first: results may come in any order.
        for position in reversed(range(len(items))):
            if self.done == self.most:
                raise KeyboardInterrupt
            self.done += 1
            yield position, function(items[position])


def stage_run(cluster: Any, folder: Path) -> StageRun:
    return StageRun(cluster, folder, Reporter(Console(quiet=True)))


def test_a_stage_that_is_cut_off_goes_on_where_it_was(tmp_path: Path) -> None:
    whole = three_way_chunk(70_000, 70_024)
    first, second = Counted(9), Counted(100)
    with pytest.raises(KeyboardInterrupt):
        three_way_equity.summed_counts(stage_run(first, tmp_path), CHUNKS)
    found = three_way_equity.summed_counts(stage_run(second, tmp_path), CHUNKS)
    np.testing.assert_array_equal(found, whole)
    assert second.done == len(CHUNKS) - 8  # the ninth came after the last checkpoint


@pytest.mark.whole
def test_two_workers_count_what_one_process_does(tmp_path: Path) -> None:
    config = compose_config(["cluster=local", "cluster.num_cpus=2"])
    with open_cluster(config.cluster) as cluster:
        found = three_way_equity.summed_counts(stage_run(cluster, tmp_path), CHUNKS[:4])
    np.testing.assert_array_equal(found, three_way_chunk(70_000, 70_008))


def split_pots(run: StageRun, chunks: Sequence[tuple[int, int]]) -> np.ndarray:
    """Counts of a game in which every deal is a tie of three."""
    deals = disjoint_triples() * 1_370_754
    counts = np.zeros((2, 169, 14_365), dtype=np.int64)
    low, middle, high = triples_listed().T.astype(np.intp)
    for own, others in ((low, (middle, high)), (middle, (low, high)), (high, (low, middle))):
        counts[1, own, pair_index(*others)] = deals
    return counts


def test_the_command_writes_one_bundle_that_any_tool_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(three_way_equity, "summed_counts", split_pots)
    monkeypatch.setattr(sys, "argv", ["three_way_equity", "store.root=store", "cluster=inprocess"])
    command.main()
    last = capsys.readouterr().out.splitlines()[-1]
    bundle = open_bundle(tmp_path / last.removeprefix("bundle: "))
    assert bundle.metrics["standard_error"] == 0.0
    table = read_three_way_equity(bundle)
    assert table.winners.shape == (NUM_TRIPLES, 7)
    assert not table.winners.flags.writeable  # mapped from the file
    assert not table.winners[:, :6].any()
    assert table.equity(0, 14, 28) == pytest.approx(1 / 3)
    np.testing.assert_allclose(bundle["classes"]["equity_vs_two_random"], 1 / 3)
    rows = pl.read_ipc(bundle.path / "three_way.arrow")
    row = rows.filter((pl.col("first") == 0) & (pl.col("second") == 14) & (pl.col("third") == 28))
    assert [CLASS_NAMES[row[name].item()] for name in ("first", "second", "third")] == ["AA", "KK", "QQ"]
    assert row["winners"].item().to_list() == [0, 0, 0, 0, 0, 0, 216 * 1_370_754]
    command.main()
    assert "three_way_equity: cached" in capsys.readouterr().out
