"""Training of several seats: the same bytes for any number of workers, after an interrupt and after a loss."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pipelines.config.training import MultiwayConfig
from pipelines.run.cluster import Cluster, InProcess, open_cluster
from pipelines.run.engine import StageRun
from pipelines.run.progress import Reporter
from pipelines.training import multiway
from pipelines.training.multiway import Setup, train
from solver.betting.game import GameConfig

PLAN = MultiwayConfig(
    epochs=5,
    streams=4,
    deals=60,
    schedule="lcfr",
    alpha=None,
    beta=None,
    gamma=None,
    measurements=1,
    responder_epochs=1,
    responder_deals=50,
    measured_deals=100,
)
GAME = GameConfig(stacks=(1000,) * 3, raise_sizes=("a",), limp=False)


class Watched(StageRun):
    """A stage's run that calls back after each epoch."""

    def __init__(self, cluster: Cluster, folder: Path, after: Any = None) -> None:
        super().__init__(cluster, folder / "checkpoints", Reporter())
        self._after = after
        self.logged: dict[int, dict[str, float]] = {}

    def log(self, figures: Mapping[str, float], *, step: int) -> None:
        self.logged[step] = dict(figures)

    def progress(self, done: float, total: float, status: str = "") -> None:
        if self._after is not None:
            self._after(done)


def trained(run: StageRun) -> tuple[bytes, dict[int, dict[str, float]]]:
    table, gains = train(Setup.build(GAME, {}), PLAN, 3, 0.0, run)
    return table.tobytes(), gains


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[int, dict[str, float]]]:
    return trained(Watched(InProcess(), tmp_path_factory.mktemp("calm")))


def test_an_interrupt_costs_nothing_but_time(calm, tmp_path: Path) -> None:
    def stop(done: float) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(Watched(InProcess(), tmp_path, stop))
    epochs: list[float] = []
    assert trained(Watched(InProcess(), tmp_path, epochs.append)) == calm
    assert epochs[0] > 2
    assert len(calm[1]) == 1


@pytest.mark.whole
def test_workers_on_ray_make_the_same_bytes_even_when_one_is_lost(
    calm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[Any]] = []
    start = multiway.start_actors

    def remembered(*arguments: Any) -> list[Any]:
        started.append(start(*arguments))
        return started[-1]

    monkeypatch.setattr(multiway, "start_actors", remembered)
    settings = SimpleNamespace(
        kind="local", address=None, num_cpus=2, object_store_mb=100, retries=3, in_flight=2
    )

    def lose(done: float) -> None:
        import ray

        if done == 3 and len(started) == 1:
            ray.kill(started[0][1])

    with open_cluster(settings) as cluster:  # type: ignore[arg-type]
        assert trained(Watched(cluster, tmp_path, lose)) == calm
    assert [len(actors) for actors in started] == [2, 2]


def test_the_time_of_training_is_told_without_that_of_measurements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = multiway.seat_results

    def slow(*arguments: Any) -> Any:
        time.sleep(0.5)
        return measured(*arguments)

    trained(Watched(InProcess(), tmp_path / "first"))  # compiles
    monkeypatch.setattr(multiway, "seat_results", slow)
    run = Watched(InProcess(), tmp_path / "second")
    trained(run)
    (figures,) = run.logged.values()
    assert 0 < figures["training_seconds"] < 0.5
    (epoch,) = run.logged
    assert figures["deals_per_second"] == pytest.approx(epoch * 4 * 60 / figures["training_seconds"])


def test_measured_gains_are_those_of_fresh_deals() -> None:
    plan = multiway.responding(PLAN, 3)
    assert plan.seed != 3
    assert (plan.epochs, plan.deals, plan.measured) == (1, 50, 100)
    assert np.iinfo(np.uint64).max > plan.seed >= 0
