"""Checkpoints of a training phase: states of the trainer with the exploitability measured on the way."""

from __future__ import annotations

import dataclasses
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from artifacts.bundle import sync
from pipelines.training.hosts import Arrays
from pipelines.training.trace import Measurement, best_of


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A trainer's state with the measurements so far and the seconds spent."""

    state: Arrays
    trace: tuple[Measurement, ...]
    seconds: float

    @property
    def iteration(self) -> int:
        """Iteration of the phase."""
        return int(self.state["counters"][1])


class Checkpoints:
    """Checkpoints of a phase in a folder: the last two, and the one with the lowest exploitability."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def save(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint so that it is there whole or not at all, and drop those no longer needed."""
        path = self._path(checkpoint.iteration)
        temporary = path.with_suffix(".part")
        trace = np.array([dataclasses.astuple(m) for m in checkpoint.trace], dtype=np.float64).reshape(-1, 2)
        arrays: dict[str, Any] = {f"state/{key}": array for key, array in checkpoint.state.items()}
        try:
            with temporary.open("wb") as file:
                np.savez(
                    file, allow_pickle=False, trace=trace, seconds=np.array(checkpoint.seconds), **arrays
                )
            sync(temporary)
            temporary.replace(path)
        finally:
            temporary.unlink(
                missing_ok=True
            )  # still there if the disk is full: it would take room for nothing
        sync(self._folder)
        kept = {self._path(number) for number in (*self._numbers()[:2], *best_of(checkpoint.trace))}
        for old in self._folder.glob("*.npz"):
            if old not in kept:
                old.unlink()

    def load(self, iteration: int) -> Checkpoint:
        """The checkpoint of an iteration."""
        with np.load(self._path(iteration), allow_pickle=False) as file:
            state = {key.removeprefix("state/"): file[key] for key in file.files if key.startswith("state/")}
            trace = tuple(Measurement(int(n), float(value)) for n, value in file["trace"])
            return Checkpoint(state, trace, float(file["seconds"]))

    def newest(self) -> Checkpoint | None:
        """The newest checkpoint that can be read with the best one its trace needs, or None."""
        for number in self._numbers():
            try:
                checkpoint = self.load(number)
                for best in best_of(checkpoint.trace):
                    if best != number:
                        self.load(best)
            except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
                continue
            return checkpoint
        return None

    def _numbers(self) -> list[int]:
        """Iterations of the files, newest first."""
        return sorted((int(path.stem) for path in self._folder.glob("*.npz")), reverse=True)

    def _path(self, iteration: int) -> Path:
        return self._folder / f"{iteration:09d}.npz"
