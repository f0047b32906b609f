"""A phase of training: iterations, measurements and checkpoints, and what happens when something dies.

The loop is deterministic: boards come from seeds, measurements from a fixed tier at fixed iterations. A phase that
makes the strategy worse ends at the measurement that shows it (`has_risen`). Wall time only decides when a checkpoint
is saved, which changes nothing, and when the budget is spent, which ends the phase at the next measurement. After a
crash of the driver the same command continues from the last
checkpoint; after the loss of a host all hosts start again from it and replay the same iterations.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pipelines.config.training import PhaseConfig
from pipelines.run.engine import StageRun
from pipelines.training.checkpoints import Checkpoint, Checkpoints
from pipelines.training.fleet import HostFleet
from pipelines.training.hosts import Arrays
from pipelines.training.recovery import replayed
from pipelines.training.setup import Setup, TrainingConfig
from pipelines.training.trace import Measurement, best_of, has_risen, trace_metrics
from solver.blueprint.trainer import BlueprintTrainer

Result = TypeVar("Result")
#: Saving large tables takes this share of the time at most, measurements apart.
SAVING_SHARE = 1 / 20


@dataclass(frozen=True, eq=False)
class Trained:
    """A phase that has ended, and its trainer at the last iteration.

    `stopped` says in words why it ended before its last iteration; empty where it did not.
    """

    trainer: BlueprintTrainer
    trace: tuple[Measurement, ...]
    checkpoints: Checkpoints
    stopped: str = ""

    def metrics(self) -> dict[str, float]:
        """`trace_metrics`, and whether the phase was stopped early."""
        return trace_metrics(self.trace) | {"stopped_early": float(bool(self.stopped))}

    def go_to_best(self) -> int:
        """Bring the trainer to the measurement with the lowest exploitability and return its iteration."""
        for iteration in best_of(self.trace):
            if iteration != self.trainer.iteration:
                self.trainer.restore(self.checkpoints.load(iteration).state)
        return self.trainer.iteration


#: Starts this phase, and those before it, on a fresh trainer.
StartPhases = Callable[[BlueprintTrainer], None]


def train_phase(
    setup: Setup,
    phase: PhaseConfig,
    start_phases: StartPhases,
    run: StageRun,
    finish: Callable[[Trained], Result],
    *,
    initial: Arrays | None = None,
) -> Result:
    """Run a phase to its end, whatever dies on the way, and return what `finish` makes of it.

    Parameters
    ----------
    start_phases
        Starts this phase, and those before it, on a fresh trainer.
    finish
        Called while the hosts are there; called again if they are lost under it.
    initial
        State to start from when there is no checkpoint.
    """
    checkpoints = Checkpoints(run.checkpoints)

    def work(fleet: HostFleet) -> Result:
        return finish(_train(setup, phase, start_phases, run, fleet, checkpoints, initial))

    return replayed(lambda: setup.open_fleet(run), work, checkpoints)


def _train(
    setup: Setup,
    phase: PhaseConfig,
    start_phases: StartPhases,
    run: StageRun,
    fleet: HostFleet,
    checkpoints: Checkpoints,
    initial: Arrays | None,
) -> Trained:
    """The loop: iterate, measure where the phase asks for it, save now and then, stop when it is good enough."""
    config = setup.config
    trainer = setup.trainer(fleet)
    start_phases(trainer)
    saved = checkpoints.newest()
    trace: tuple[Measurement, ...] = ()
    seconds_before = 0.0
    if saved is not None:
        trainer.restore(saved.state)
        trace, seconds_before = saved.trace, saved.seconds
    elif initial is not None:
        trainer.restore(initial)
    loop_started = time.monotonic()
    last_save, save_seconds = loop_started, 0.0
    first_iteration = trainer.iteration
    run.begin(first_iteration)
    marks = set(phase.marks())
    stopped = ""
    while trainer.iteration < phase.iterations:
        just_measured = bool(trace) and trace[-1].iteration == trainer.iteration
        seconds = seconds_before + time.monotonic() - loop_started
        if just_measured:
            stopped = _reason_to_stop(config, trace, seconds * run.cluster.num_cpus)
        if stopped:
            run.say(f"stopped after {trainer.iteration:,} of {phase.iterations:,} iterations: {stopped}")
            break
        trainer.run(1)
        time_between_saves = max(60 * config.checkpoint_minutes, save_seconds / SAVING_SHARE)
        save_due = time.monotonic() - last_save > time_between_saves
        if trainer.iteration in marks:
            value = trainer.exploitability(setup.flops)
            trace = (*trace, Measurement(trainer.iteration, value))
            save_due = True
            pace = (trainer.iteration - first_iteration) / (time.monotonic() - loop_started)
            figures = {"exploitability": value, "iterations_per_second": pace, **fleet.traffic.figures()}
            run.log(figures, step=trainer.iteration)
        if save_due:
            save_started = time.monotonic()
            seconds = seconds_before + save_started - loop_started
            checkpoints.save(Checkpoint(trainer.state(), trace, seconds))
            last_save = time.monotonic()
            save_seconds = last_save - save_started
        run.progress(trainer.iteration, phase.iterations, _status(trace))
    return Trained(trainer, trace, checkpoints, stopped)


def _reason_to_stop(config: TrainingConfig, trace: tuple[Measurement, ...], core_seconds: float) -> str:
    """Why the phase ends here, in words: it is good enough, has cost enough or gets worse; empty if it goes on."""
    target, budget, rise = config.target_exploitability, config.max_core_hours, config.stop_above_best
    last, best = trace[-1].exploitability, min(m.exploitability for m in trace)
    if target is not None and last <= target:
        return f"exploitability {last:.1f} mbb/hand reaches solver.target_exploitability, {target:g}"
    if budget is not None and core_seconds >= 3600 * budget:
        return f"it has cost solver.max_core_hours, {budget:g}"
    if rise is not None and has_risen(trace, rise):
        best_iteration = best_of(trace)[0]
        return (
            f"exploitability has risen from {best:.1f} mbb/hand after {best_iteration:,} iterations to {last:.1f} "
            f"(solver.stop_above_best, {rise:g})"
        )
    return ""


def _status(trace: tuple[Measurement, ...]) -> str:
    return f"exploitability {trace[-1].exploitability:.1f} mbb/hand" if trace else ""
