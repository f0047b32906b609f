"""Solves in the background: a queue, one worker for each core, progress that can be watched, and cancelling."""

from __future__ import annotations

import itertools
import os
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

import anyio
import psutil

from artifacts.errors import BundleError
from pipelines.explorer.catalogue import Catalogue
from pipelines.explorer.models import (
    ForecastModel,
    NextStreetRequest,
    PreflopRequest,
    SolveModel,
    SolveState,
    SubgameRequest,
)
from pipelines.explorer.refusals import Refusal
from pipelines.explorer.solve_work import PreflopWork, Snapshot, Stopped, SubgameWork, Told
from solver.subgame.solve import refuse_over

#: Solves that may wait, and finished ones that are remembered.
MAX_WAITING, MAX_REMEMBERED = 32, 200
#: Seconds between snapshots of a running solve, and between looks at its state.
SNAPSHOT_EVERY, LOOK_EVERY = 0.7, 0.1
_ENDED = (SolveState.DONE, SolveState.CANCELLED, SolveState.FAILED)
#: Part of the machine's memory that all solves together may take.
_MEMORY_SHARE = 0.6


class Job:
    """A solve. Its model is replaced as a whole, so that readers never see half of a change."""

    def __init__(self, work: SubgameWork | PreflopWork, memory_limit: int) -> None:
        self.work = work
        self.stop = threading.Event()
        self.version = 0
        self._snapshot_at = 0.0
        self._lock = threading.Lock()
        self.model = SolveModel(
            id=secrets.token_hex(8),
            state=SolveState.QUEUED,
            title=work.title,
            iterations=work.iterations,
            unit=work.unit,
            memory_bytes=work.memory_bytes,
            memory_limit=memory_limit,
        )

    @property
    def ended(self) -> bool:
        """Whether nothing will change any more."""
        return self.model.state in _ENDED

    def change(self, **values: object) -> None:
        """Set some fields."""
        with self._lock:
            self.model = self.model.model_copy(update=values)
            self.version += 1

    def run(self) -> None:
        """Solve, in a worker thread; whatever goes wrong becomes the state of the job."""
        if self.stop.is_set():
            self.change(state=SolveState.CANCELLED)
            return
        self.change(state=SolveState.RUNNING)
        told = Told(self._prepared, self._progress, self._wants_snapshot, self._snapshot, self.stop.is_set)
        try:
            name = self.work.run(told)
            self.change(state=SolveState.DONE, source=name, seconds_left=None)
        except Stopped:
            self.change(state=SolveState.CANCELLED, seconds_left=None)
        except (Refusal, ValueError, BundleError) as error:
            self.change(state=SolveState.FAILED, detail=str(error), seconds_left=None)
        except MemoryError:
            self.change(state=SolveState.FAILED, detail="out of memory; use fewer sizes", seconds_left=None)
        except Exception as error:
            # The person at the page learns that it failed; the terminal shows why.
            self.change(state=SolveState.FAILED, detail=f"the solve failed ({type(error).__name__})")
            raise

    def _prepared(self, memory_bytes: int) -> None:
        self.change(memory_bytes=memory_bytes)

    def _progress(self, iteration: int, seconds: float, exploitability: float | None) -> None:
        left = (self.model.iterations - iteration) * seconds / max(iteration, 1)
        limit = self.work.time_limit
        values: dict[str, object] = {"exploitability": exploitability} if exploitability is not None else {}
        self.change(
            iteration=iteration,
            seconds=round(seconds, 2),
            seconds_left=round(max(0.0, left if limit is None else min(left, limit - seconds)), 1),
            **values,
        )

    def _wants_snapshot(self) -> bool:
        return time.monotonic() - self._snapshot_at >= SNAPSHOT_EVERY

    def _snapshot(self, snapshot: Snapshot) -> None:
        self._snapshot_at = time.monotonic()
        self.change(
            actions=list(snapshot.actions),
            frequencies=[round(float(share), 6) for share in snapshot.frequencies],
            grid=snapshot.by_class.round(4).tolist(),
        )


class SolveQueue:
    """All solves of a server.

    Parameters
    ----------
    workers
        Solves that run at a time; one for each core by default.
    keep
        Whether the store can be written to.
    """

    def __init__(self, catalogue: Catalogue, *, workers: int | None = None, keep: bool = True) -> None:
        self.catalogue, self.keep = catalogue, keep
        self.workers = workers or max(1, len(os.sched_getaffinity(0)))
        self.memory_limit = int(_MEMORY_SHARE * psutil.virtual_memory().total / self.workers)
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="solve")
        self._lock = threading.Lock()

    def submit(self, request: SubgameRequest | NextStreetRequest | PreflopRequest) -> SolveModel:
        """Check a request and queue it; one that was solved before is done at once."""
        with self._lock:
            if sum(not job.ended for job in self._jobs.values()) >= MAX_WAITING + self.workers:
                raise Refusal(
                    f"{MAX_WAITING} solves are waiting already; cancel one, or try later", status=429
                )
        work: SubgameWork | PreflopWork
        if isinstance(request, PreflopRequest):
            work = PreflopWork(self.catalogue, request, keep=self.keep)
        else:
            work = self._subgame_work(request)
        kept = work.kept()
        if kept is None:
            refuse_over(self.memory_limit, work.memory_bytes)
        job = Job(work, self.memory_limit)
        with self._lock:
            self._jobs[job.model.id] = job
            ended = [name for name, old in self._jobs.items() if old.ended]
            for name in ended[: max(0, len(self._jobs) - MAX_REMEMBERED)]:
                del self._jobs[name]
        if kept is not None:
            job.change(state=SolveState.DONE, source=kept, cached=True)
        else:
            self._pool.submit(job.run)
        return self.get(job.model.id)

    def forecast(self, request: SubgameRequest) -> ForecastModel:
        """What a solve would take, and whether it is kept already; nothing is started."""
        work = self._subgame_work(request)
        return ForecastModel(memory_bytes=work.memory_bytes, memory_limit=self.memory_limit, kept=work.kept())

    def _subgame_work(self, request: SubgameRequest | NextStreetRequest) -> SubgameWork:
        # Readers of bundles share scratch memory.
        with self.catalogue.using(request.source):
            return SubgameWork(self.catalogue, request, memory_limit=self.memory_limit, keep=self.keep)

    def get(self, name: str, *, grid: bool = False) -> SolveModel:
        """A solve by its id."""
        job = self._job(name)
        with self._lock:
            before = itertools.takewhile(lambda other: other is not job, self._jobs.values())
            ahead = sum(not other.ended for other in before)
        waiting = job.model.state == SolveState.QUEUED
        update: dict[str, object] = {"position": max(0, ahead - self.workers + 1) if waiting else 0}
        if not grid:
            update["grid"] = None
        return job.model.model_copy(update=update)

    def all(self) -> list[SolveModel]:
        """The solves of this server, the newest first."""
        with self._lock:
            names = list(reversed(self._jobs))
        return [self.get(name) for name in names]

    def cancel(self, name: str) -> SolveModel:
        """Stop a solve; one that has ended stays as it is."""
        job = self._job(name)
        job.stop.set()
        if job.model.state == SolveState.QUEUED:
            job.change(state=SolveState.CANCELLED)
        return self.get(name)

    async def events(self, name: str) -> AsyncIterator[SolveModel]:
        """The state of a solve whenever it changes, with its grid, until it has ended."""
        job, seen = self._job(name), -1
        while True:
            if job.version != seen or seen < 0:
                seen = job.version
                model = self.get(name, grid=True)
                yield model
                if model.state in _ENDED:
                    return
            await anyio.sleep(LOOK_EVERY)

    def close(self) -> None:
        """Stop everything, and wait for the workers."""
        with self._lock:
            for job in self._jobs.values():
                job.stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _job(self, name: str) -> Job:
        with self._lock:
            job = self._jobs.get(name)
        if job is None:
            raise Refusal(f"solve {name[:40]!r} is not known; GET /api/solves lists them", status=404)
        return job
