"""Exploitability measured on the way through the phases of training: its table and its figures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from artifacts.format.arrow_file import ArrowFile, Column


@dataclass(frozen=True)
class Measurement:
    """Exploitability in mbb/hand after an iteration of the phase."""

    iteration: int
    exploitability: float


def best_of(trace: tuple[Measurement, ...]) -> list[int]:
    """Iteration with the lowest exploitability, the first of equals; none before the first measurement."""
    return [min(trace, key=lambda m: m.exploitability).iteration] if trace else []


def has_risen(trace: tuple[Measurement, ...], share: float) -> bool:
    """Whether the last two measurements are both above the best one by more than a share of it.

    One measurement above may be a wobble; after two the phase gets worse.

    >>> has_risen(tuple(Measurement(k, value) for k, value in enumerate([900.0, 925.0, 922.0])), 0.02)
    True
    """
    if len(trace) < 3:
        return False
    limit = (1 + share) * min(m.exploitability for m in trace)
    return all(m.exploitability > limit for m in trace[-2:])


def trace_table(
    phase: str, trace: tuple[Measurement, ...], before: ArrowFile | None = None
) -> dict[str, Column]:
    """Columns of the measurements of a phase, after those of the phases before."""
    phases = [phase] * len(trace)
    iterations = np.array([m.iteration for m in trace], dtype=np.int64)
    values = np.array([m.exploitability for m in trace], dtype=np.float64)
    if before is not None:
        phases = [*before["phase"].tolist(), *phases]
        iterations = np.concatenate([before["iteration"], iterations])
        values = np.concatenate([before["exploitability"], values])
    return {"phase": pa.array(phases, pa.string()), "iteration": iterations, "exploitability": values}


def trace_metrics(trace: tuple[Measurement, ...]) -> dict[str, float]:
    """Iterations run, and the last and the best exploitability measured."""
    if not trace:
        return {"iterations": 0.0}
    return {
        "iterations": float(trace[-1].iteration),
        "exploitability_last": trace[-1].exploitability,
        "exploitability_best": min(m.exploitability for m in trace),
        "best_iteration": float(best_of(trace)[0]),
    }
