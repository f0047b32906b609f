"""Games of three or more seats on the run's cluster: replicas of the tables, the loop of epochs, responders.

Each worker has a replica of the tables and plays some of the streams of an epoch; workers hand each other the changes
through Ray's object store. Which worker plays what changes nothing (`solver.multiway.replica`).
"""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstractions.textures import medoid_boards
from artifacts.readers import read_bucket_counts, read_bucket_tables, read_textures
from pipelines.config.training import MultiwayConfig
from pipelines.run.cluster import RayCluster
from pipelines.run.engine import Inputs, StageRun
from pipelines.training.checkpoints import Checkpoint, Checkpoints
from pipelines.training.hosts import Arrays, losses_raised, start_actors
from pipelines.training.phase import SAVING_SHARE
from pipelines.training.recovery import replayed
from solver.betting.game import GameConfig
from solver.cfr.schedules import Schedule
from solver.multiway.deals import HOLDEM, cards_of
from solver.multiway.game import MultiwayGame
from solver.multiway.replica import BoardBuckets, Replica, Streams
from solver.multiway.responder import Responding, SeatResult, Sums, measure, seat_result, train_responder
from solver.multiway.tables import Change, Table, normalised
from solver.multiway.trainer import LocalWorkers, MultiwayTrainer

#: Deals that one task measures at most.
MEASURED_AT_ONCE = 100_000


@dataclass(frozen=True, eq=False)
class Setup:
    """A game ready to be trained, with the buckets of the boards where the game after the flop is trained along."""

    game: MultiwayGame
    buckets: BoardBuckets | None

    @classmethod
    def build(cls, config: GameConfig, inputs: Inputs) -> Setup:
        """From the bundles of the abstraction; without them flops are checked down."""
        if "buckets" not in inputs:
            return cls(MultiwayGame.build(config), None)
        bundle = inputs["buckets"]
        cards = HOLDEM
        if bundle.config["boards"] == "medoids":
            boards, weights, _ = medoid_boards(read_textures(inputs["textures"]))
            cards = cards_of(boards=boards, weights=weights)
        buckets = BoardBuckets(read_bucket_tables(bundle), read_bucket_counts(bundle))
        return cls(MultiwayGame.build(config, cards=cards, buckets=buckets.widths), buckets)


def writable(game: MultiwayGame) -> MultiwayGame:
    """A copy of a game that Ray delivered: its arrays are read-only, for which all kernels would be compiled again."""
    return copy.deepcopy(game)


class StreamHost:
    """A replica in a worker; the first one keeps the average."""

    def __init__(self, shared: tuple[Setup, Schedule, Streams], number: int) -> None:
        setup, rule, streams = shared
        self._replica = Replica(writable(setup.game), rule, streams, setup.buckets, averages=number == 0)

    def begin_epoch(self) -> None:
        """See `Replica.begin_epoch`."""
        self._replica.begin_epoch()

    def play(self, stream: int) -> Change:
        """See `Replica.play`."""
        return self._replica.play(stream)

    def end_epoch(self, *changes: Change) -> None:
        """See `Replica.end_epoch`."""
        self._replica.end_epoch(changes)

    def state(self) -> Arrays:
        """See `Replica.state`."""
        return self._replica.state()

    def restore(self, state: Arrays) -> None:
        """See `Replica.restore`."""
        self._replica.restore(state)


class RayWorkers:
    """Replicas as Ray actors, no more than there are streams."""

    def __init__(self, setup: Setup, rule: Schedule, streams: Streams, num_cpus: int) -> None:
        import ray

        self._streams = streams.count
        shared = ray.put((setup, rule, streams))
        self._actors = start_actors(StreamHost, shared, range(min(num_cpus, streams.count)))

    def run_epoch(self) -> None:
        """See `solver.multiway.trainer.Workers.run_epoch`."""
        import ray

        actors = self._actors
        with losses_raised():
            for actor in actors:
                actor.begin_epoch.remote()
            changes = [actors[k % len(actors)].play.remote(k) for k in range(self._streams)]
            ray.get([actor.end_epoch.remote(*changes) for actor in actors])

    def state(self) -> Arrays:
        """See `solver.multiway.trainer.Workers.state`."""
        import ray

        with losses_raised():
            return dict(ray.get(self._actors[0].state.remote()))

    def restore(self, state: Arrays) -> None:
        """See `solver.multiway.trainer.Workers.restore`."""
        import ray

        with losses_raised():
            shared = ray.put(state)
            ray.get([actor.restore.remote(shared) for actor in self._actors])

    def close(self) -> None:
        """Let the actors go."""
        import ray

        for actor in self._actors:
            ray.kill(actor)
        self._actors = []


class InProcessWorkers(LocalWorkers):
    """One replica in this process."""

    def close(self) -> None:
        """Nothing to let go."""


def open_workers(
    setup: Setup, rule: Schedule, streams: Streams, run: StageRun
) -> RayWorkers | InProcessWorkers:
    """Workers on the run's cluster."""
    if isinstance(run.cluster, RayCluster):
        return RayWorkers(setup, rule, streams, run.cluster.num_cpus)
    return InProcessWorkers(setup.game, rule, streams, setup.buckets)


def train(
    setup: Setup, config: MultiwayConfig, seed: int, checkpoint_minutes: float, run: StageRun
) -> tuple[Table, dict[int, dict[str, float]]]:
    """Train to the end, whatever dies on the way; the average strategy, and the gains measured by epoch."""
    checkpoints = Checkpoints(run.checkpoints)
    streams = Streams(seed, config.streams, config.deals)
    rule = config.rule()
    gains: dict[int, dict[str, float]] = {}

    def work(workers: RayWorkers | InProcessWorkers) -> Table:
        trainer = MultiwayTrainer(setup.game, streams, workers=workers)
        saved = checkpoints.newest()
        # Of training alone, without measurements and checkpoints.
        seconds = 0.0
        if saved is not None:
            trainer.restore(saved.state)
            seconds = saved.seconds
            gains.update(_read_gains(saved.state, setup.game.seat_names))
        marks = set(config.marks())
        last_save, save_seconds = time.monotonic(), 0.0
        run.begin(trainer.epoch)
        while trainer.epoch < config.epochs:
            started = time.monotonic()
            trainer.run(1)
            seconds += time.monotonic() - started
            measured = trainer.epoch in marks
            if measured:
                figures = _measured_gains(setup, trainer, config, seed, run)
                gains[trainer.epoch] = figures
                pace = trainer.epoch * streams.count * streams.deals / seconds
                run.log(
                    {**figures, "training_seconds": seconds, "deals_per_second": pace}, step=trainer.epoch
                )
                run.begin(trainer.epoch)
            between = max(60 * checkpoint_minutes, save_seconds / SAVING_SHARE)
            if measured or time.monotonic() - last_save > between:
                save_started = time.monotonic()
                state = trainer.state() | {"gains": _gains_array(gains, setup.game.seat_names)}
                checkpoints.save(Checkpoint(state, (), seconds))
                last_save = time.monotonic()
                save_seconds = last_save - save_started
            run.progress(trainer.epoch, config.epochs, _status(gains))
        return normalised(setup.game, np.array(trainer.state()["average"]))

    return replayed(lambda: open_workers(setup, rule, streams, run), work, checkpoints), gains


def _status(gains: Mapping[int, Mapping[str, float]]) -> str:
    if not gains:
        return ""
    last = gains[max(gains)]
    return f"largest gain {max(last.values()):.0f} mbb/hand"


def _gains_array(gains: Mapping[int, Mapping[str, float]], names: Sequence[str]) -> NDArray[np.float64]:
    rows = [[epoch, *(found[f"gain_{name}"] for name in names)] for epoch, found in sorted(gains.items())]
    return np.array(rows, dtype=np.float64).reshape(len(rows), 1 + len(names))


def _read_gains(state: Arrays, names: Sequence[str]) -> dict[int, dict[str, float]]:
    return {
        int(row[0]): {f"gain_{name}": float(value) for name, value in zip(names, row[1:])}
        for row in state["gains"]
    }


def _measured_gains(
    setup: Setup, trainer: MultiwayTrainer, config: MultiwayConfig, seed: int, run: StageRun
) -> dict[str, float]:
    table = trainer.strategy().table
    results = seat_results(setup, table, responding(config, seed), run)
    return {f"gain_{name}": results[name].gain.mean for name in setup.game.seat_names}


def responding(config: MultiwayConfig, seed: int) -> Responding:
    """How responders are trained; their deals are others than those of training."""
    own = int(np.random.SeedSequence(seed, spawn_key=(17,)).generate_state(1, np.uint64)[0]) >> 2
    return Responding(config.responder_epochs, config.responder_deals, config.measured_deals, own)


def _respond(seat: int, shared: tuple[Setup, Table, Responding]) -> Table:
    setup, table, config = shared
    return train_responder(writable(setup.game), np.array(table), seat, config, setup.buckets)


def _measure(
    item: tuple[int, tuple[int, int]], shared: tuple[Setup, Table, Responding, Sequence[Table]]
) -> Sums:
    setup, table, config, responses = shared
    seat, deals = item
    own = np.array(responses[seat])
    return measure(writable(setup.game), np.array(table), own, seat, deals, config.seed + 1, setup.buckets)


def seat_results(setup: Setup, table: Table, config: Responding, run: StageRun) -> dict[str, SeatResult]:
    """What each seat wins, and what a responder gains in its place, by the name of the seat."""
    seats = range(setup.game.seats)
    responses = run.map(_respond, list(seats), shared=(setup, table, config), status="responders")
    parts = [
        (start, min(start + MEASURED_AT_ONCE, config.measured))
        for start in range(0, config.measured, MEASURED_AT_ONCE)
    ]
    items = [(seat, part) for seat in seats for part in parts]
    found = run.map(_measure, items, shared=(setup, table, config, responses), status="gains")
    totals: dict[int, Sums] = {}
    for (seat, _), sums in zip(items, found):
        totals[seat] = totals[seat] + sums if seat in totals else sums
    return {name: seat_result(totals[seat]) for seat, name in enumerate(setup.game.seat_names)}
