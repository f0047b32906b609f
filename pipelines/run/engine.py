"""The stage engine: content-addressed stages, each computed once, committed whole, resumable.

A pipeline is a plain function that calls `stage(...)` in order. It is run twice: by a `Planner`, which
only works out keys and says what is cached, and by a `Runner`, which computes what is missing.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shlex
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from artifacts.bundle import Bundle
from artifacts.bundle_store import BundleStore
from artifacts.errors import BundleError
from artifacts.format.arrow_file import Column
from pipelines.run.bundle_source import bundle_caption
from pipelines.run.cluster import Cluster, ray_failures_explained
from pipelines.run.code_version import code_version
from pipelines.run.costs import Costs
from pipelines.run.disk import folder_bytes
from pipelines.run.errors import is_full
from pipelines.run.meter import Meter
from pipelines.run.pictures import Figures, drawn
from pipelines.run.progress import PlanRow, Reporter, StageDisk, duration, size

if TYPE_CHECKING:
    from pipelines.run.stage_record import StageRecord
    from pipelines.run.tracking import Tracker

Item = TypeVar("Item")
Result = TypeVar("Result")
Inputs = Mapping[str, Bundle]
#: Metadata of a config field that does not change a stage's result and so is not part of its key. A field that names
#: something has metadata `content` instead, which gives what the name stands for: the key depends on both.
NO_EFFECT = {"effect": False}


@dataclass(frozen=True)
class Output:
    """What a stage made: tables of columns, small texts, and the figures it measured."""

    tables: Mapping[str, Mapping[str, Column]]
    metrics: Mapping[str, float] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)


class StageRun:
    """What a stage may use besides its config and inputs: workers, progress, a place for files.

    What is in `checkpoints` is there when the stage is started again after a failure; what is in `scratch` is not.
    """

    def __init__(
        self,
        cluster: Cluster,
        checkpoints: Path,
        reporter: Reporter,
        record: StageRecord | None = None,
        *,
        scratch: Path | None = None,
    ) -> None:
        self.cluster = cluster
        self.checkpoints = checkpoints
        self.scratch = scratch or checkpoints / "scratch"
        self._reporter = reporter
        self._record = record
        self._started = time.monotonic()

    def stream(
        self, function: Callable[..., Result], items: Sequence[Item], *, shared: Any = None, status: str = ""
    ) -> Iterator[tuple[int, Result]]:
        """Position and result of `function` over `items` as they finish, in any order, with progress.

        `shared` is a second argument for all items, shipped once per node however large.
        """
        self._reporter.phase()
        for done, pair in enumerate(self.cluster.stream(function, items, shared=shared)):
            self._reporter.advance(done + 1, len(items), status)
            yield pair

    def map(
        self, function: Callable[..., Result], items: Sequence[Item], *, shared: Any = None, status: str = ""
    ) -> list[Result]:
        """The results of `stream` in the order of the items."""
        results: list[Any] = [None] * len(items)
        for position, result in self.stream(function, items, shared=shared, status=status):
            results[position] = result
        return results

    def begin(self, done: float = 0.0) -> None:
        """A piece of the stage begins whose `progress` has a pace of its own; `done` of it was done before."""
        self._reporter.phase(done)

    def progress(self, done: float, total: float, status: str = "") -> None:
        """Tell how far a stage is that does not use `map`."""
        self._reporter.advance(done, total, status)

    def say(self, words: str) -> None:
        """Print one line about this stage."""
        self._reporter.note(words)

    def log(self, figures: Mapping[str, float], *, step: int) -> None:
        """Record figures on the way; they may vary between equal runs and stay out of the bundle."""
        if self._record is not None:
            spent = (time.monotonic() - self._started) * self.cluster.num_cpus
            self._record.step(figures, step, spent)


Compute = Callable[[Any, Inputs, StageRun], Output]


@dataclass(frozen=True)
class Ref:
    """A stage's result by name and key, computed or not.

    `signature` is its key with the code left out: what a stage costs hardly changes with its code.
    """

    stage: str
    key: str
    signature: str

    @property
    def name(self) -> str:
        """Folder name of the bundle."""
        return f"{self.stage}-{self.key}"


class Stages(Protocol):
    """What a pipeline function is given: a `Planner` or a `Runner`."""

    def stage(
        self,
        name: str,
        compute: Compute,
        config: Any,
        inputs: Mapping[str, Ref],
        *,
        figures: Figures | None = None,
    ) -> Ref:
        """Declare the next stage.

        Parameters
        ----------
        name : of the stage; also the prefix of its bundle's folder.
        compute : `(config, inputs, run) -> Output`, a pure function of its first two arguments.
        config : a frozen dataclass with all that the result depends on besides the inputs.
        inputs : results of earlier stages.
        figures : pictures of the finished bundle, for the tracker.
        """
        ...


def stage_key(name: str, code: str, config: Mapping[str, Any], inputs: Mapping[str, str]) -> str:
    """Content address of a stage's result."""
    text = json.dumps([name, code, config, inputs], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


class Planner:
    """Works out keys and costs, and computes nothing.

    `estimate` says by a stage's name what it may cost, in core-seconds, until it has been timed; `estimate_disk`
    says what it may write, until that has been measured.
    """

    def __init__(
        self,
        store: BundleStore,
        num_cpus: int,
        estimate: Callable[[str], float | None] = lambda _: None,
        estimate_disk: Callable[[str], StageDisk | None] = lambda _: None,
    ) -> None:
        self.rows: list[PlanRow] = []
        self._store = store
        self._num_cpus = num_cpus
        self._estimate = estimate
        self._estimate_disk = estimate_disk
        self._costs = Costs(store.root)

    def stage(
        self,
        name: str,
        compute: Compute,
        config: Any,
        inputs: Mapping[str, Ref],
        *,
        figures: Figures | None = None,  # noqa: ARG002
    ) -> Ref:
        """See `Stages.stage`."""
        ref, _, _ = _address(name, compute, config, inputs)
        measured = self._costs.of(ref.signature).get("core_seconds")
        cost = measured if measured is not None else self._estimate(name)
        self.rows.append(
            PlanRow(
                stage=name,
                key=ref.key,
                cached=self._store.has(name, ref.key),
                inputs=[input_.stage for input_ in inputs.values()],
                seconds=None if cost is None else cost / self._num_cpus,
                disk=self._costs.disk(ref.signature) or self._estimate_disk(name),
            )
        )
        return ref


class Runner:
    """Computes what is missing, one stage after the other, and records each in the tracker."""

    def __init__(
        self,
        store: BundleStore,
        open_cluster: Callable[[], Cluster],
        tracker: Tracker,
        reporter: Reporter,
        plan: Sequence[PlanRow],
    ) -> None:
        self.core_seconds = 0.0
        self.peak_bytes = 0
        self.computed: list[str] = []
        self._paid: list[dict[str, float]] = []
        self._store = store
        self._open_cluster = open_cluster
        self._tracker = tracker
        self._reporter = reporter
        self._estimates = {row.stage: row.seconds for row in plan}
        self._costs = Costs(store.root)

    def stage(
        self,
        name: str,
        compute: Compute,
        config: Any,
        inputs: Mapping[str, Ref],
        *,
        figures: Figures | None = None,
    ) -> Ref:
        """See `Stages.stage`."""
        ref, slice_, code = _address(name, compute, config, inputs)
        record = self._tracker.stage(name, ref.key, slice_, {k: r.key for k, r in inputs.items()})
        with record, self._store_failures_explained():
            if self._store.has(name, ref.key):
                self._reporter.say(f"{name}: cached")
            else:
                waiting = f"{name}: another run is computing it; waiting for its result"
                with self._store.lock(name, ref.key, on_wait=lambda: self._reporter.say(waiting)):
                    if self._store.has(name, ref.key):
                        self._reporter.say(f"{name}: computed by another run")
                    else:
                        record.cost(self._compute(ref, compute, config, slice_, code, inputs, record))
            bundle = self._store.open(name, ref.key)
            self._store.mark_used(name, ref.key)
            self._paid.append(self._costs.of(ref.name))
            folder = self._store.pictures(name, ref.key)
            pictures = drawn(folder, bundle, figures, bundle_caption(bundle)) if figures else {}
            record.bundle(bundle, pictures)
        return ref

    def cost(self) -> dict[str, float]:
        """What this run cost, and what its result cost in all: cached stages at the price once paid."""
        return {
            "core_hours": self.core_seconds / 3600,
            "core_hours_total": sum(cost.get("core_seconds", 0.0) for cost in self._paid) / 3600,
            "peak_memory_bytes": max((cost.get("peak_bytes", 0.0) for cost in self._paid), default=0.0),
        }

    @contextmanager
    def _store_failures_explained(self) -> Iterator[None]:
        """Say what to do about a damaged bundle, and where the disk is full."""
        root = shlex.quote(str(self._store.root))
        try:
            yield
        except BundleError as error:
            raise BundleError(
                f"{error}; remove that bundle's folder and run again to compute it anew "
                f"(python -m pipelines.store verify store.root={root} checks them all)"
            ) from None
        except OSError as error:
            # Arrow, numpy and others do not say which file they could not write.
            if is_full(error) and error.filename is None:
                raise OSError(error.errno, os.strerror(error.errno or 0), str(self._store.root)) from error
            raise

    def _compute(
        self,
        ref: Ref,
        compute: Compute,
        config: Any,
        slice_: Mapping[str, Any],
        code: str,
        inputs: Mapping[str, Ref],
        record: StageRecord,
    ) -> dict[str, float]:
        cluster = self._open_cluster()
        self._store.discard_leftovers(ref.stage, ref.key)
        opened = {name: self._store.open(input_.stage, input_.key) for name, input_ in inputs.items()}
        self._reporter.start(ref.stage, self._estimates.get(ref.stage))
        checkpoints = self._store.checkpoints(ref.stage, ref.key)
        scratch = self._store.root / ".tmp" / f"{ref.name}.scratch"
        try:
            with Meter(lambda: folder_bytes([checkpoints, scratch])) as meter:
                run = StageRun(cluster, checkpoints, self._reporter, record, scratch=scratch)
                with ray_failures_explained(cluster):
                    output = compute(config, opened, run)
                meter.look_at_disk()
                bundle = self._store.commit(
                    output.tables,
                    texts=output.texts,
                    stage=ref.stage,
                    key=ref.key,
                    code=code,
                    config=slice_,
                    inputs={name: input_.key for name, input_ in inputs.items()},
                    metrics=output.metrics,
                )
        finally:
            self._reporter.stop()
            shutil.rmtree(scratch, ignore_errors=True)
        cost = meter.seconds * cluster.num_cpus
        self.core_seconds += cost
        self.peak_bytes = max(self.peak_bytes, meter.peak_bytes)
        self.computed.append(ref.stage)
        measured = {
            "core_seconds": cost,
            "peak_bytes": meter.peak_bytes,
            "bundle_bytes": bundle.manifest.total_bytes,
            "scratch_bytes": meter.peak_disk_bytes,
        }
        self._costs.remember(ref.name, ref.signature, measured)
        written = size(bundle.manifest.total_bytes)
        self._reporter.finish(
            f"done in {duration(meter.seconds)}, {written} in {os.path.relpath(bundle.path)}"
        )
        return {
            "seconds": meter.seconds,
            "core_hours": cost / 3600,
            "peak_memory_bytes": float(meter.peak_bytes),
        }


def _address(
    name: str, compute: Compute, config: Any, inputs: Mapping[str, Ref]
) -> tuple[Ref, dict[str, Any], str]:
    slice_: dict[str, Any] = json.loads(json.dumps(_slice(config)))
    code = code_version(compute)
    key = stage_key(name, code, _slice(config, with_content=True), {k: ref.key for k, ref in inputs.items()})
    signature = stage_key(name, "", slice_, {k: ref.signature for k, ref in inputs.items()})
    return Ref(name, key, signature), slice_, code


def _slice(value: Any, *, with_content: bool = False) -> Any:
    """A config as plain values, without the fields that do not change the result.

    `with_content` puts what a name stands for beside it.
    """
    if not dataclasses.is_dataclass(value):
        items = value if isinstance(value, list | tuple) else None
        return value if items is None else [_slice(item, with_content=with_content) for item in items]
    parts: dict[str, Any] = {}
    for part in dataclasses.fields(value):
        own = getattr(value, part.name)
        if part.metadata.get("effect", True):
            parts[part.name] = _slice(own, with_content=with_content)
        if with_content and "content" in part.metadata:
            parts[part.name] = [own, _slice(part.metadata["content"](own))]
    return parts
