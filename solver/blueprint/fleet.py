"""A fleet: the shards of a trainer, wherever they are, and what the trunk asks of them.

`LocalFleet` holds them in this process. The same calls, with the shards behind actors, make the distributed trainer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from solver.blueprint.boards import BoardBatch
from solver.blueprint.flop_values import FlopBoards, Response
from solver.blueprint.rows import ALL_TEXTURES, RowKey
from solver.blueprint.shard import Shard
from solver.cfr.schedules import Schedule
from solver.preflop.probabilities import Floats

#: A shard's answer about boards or flops: its lines, which of the boards it took, values [board, line, ...].
Answer = tuple[tuple[int, ...], NDArray[np.bool_], NDArray[np.float64]]


def board_values(num_lines: int, answers: Sequence[Answer]) -> Floats:
    """Value of every flop line on every board from the answers of all shards, ``[board, line, ...]``."""
    _, taken, first = answers[0]
    values = np.zeros((len(taken), num_lines, *first.shape[2:]))
    for lines, taken, answer in answers:
        values[np.ix_(np.flatnonzero(taken), np.array(lines))] = answer
    return values


def sum_boards(values: Floats) -> Floats:
    """The sum of ``values[board, ...]``, boards added in their order."""
    total = np.zeros(values.shape[1:])
    for board in values:
        total += board
    return total


@dataclass(frozen=True)
class ShardSpec:
    """What a shard owns: numbers of pot types, and textures (None: all, sharing their tables)."""

    types: tuple[int, ...]
    textures: tuple[int, ...] | None = None


class Update(NamedTuple):
    """Which player a sweep values and updates.

    Attributes
    ----------
    own
        The player.
    trained
        In whose game: the player who is trained there. None: both play from the trained tables.
    """

    own: int
    trained: int | None = None


def owned(textures: Sequence[int] | NDArray[np.integer], owner: Sequence[int] | None) -> NDArray[np.bool_]:
    """Which of some textures belong to a shard that owns those given (None: all)."""
    return np.ones(len(textures), dtype=np.bool_) if owner is None else np.isin(textures, owner)


def balanced(costs: Sequence[float], groups: int) -> list[tuple[int, ...]]:
    """Items in at most so many groups of about equal cost, the longest item first to the least loaded group.

    >>> balanced([7, 1, 3, 3, 2], 2)
    [(0, 1), (2, 3, 4)]
    """
    loads = [0.0] * min(groups, len(costs))
    members: list[list[int]] = [[] for _ in loads]
    for item in sorted(range(len(costs)), key=lambda k: (-costs[k], k)):
        least = loads.index(min(loads))
        loads[least] += costs[item]
        members[least].append(item)
    return [tuple(sorted(group)) for group in members]


class Fleet(Protocol):
    """The shards of a trainer, wherever they are."""

    def prepare(self, batch: BoardBatch) -> None:
        """Get ready for the sweeps of a batch; called from a second thread while another batch is swept."""

    def begin_phase(self, first_epoch: int, schedule: Schedule) -> None:
        """Discount by a schedule from an epoch on, with a fresh average."""

    def sweep(
        self,
        updates: Sequence[Update],
        batch: BoardBatch,
        reach: NDArray[np.float32],
        epoch: int,
        prune_below: float | None = None,
    ) -> list[Answer]:
        """Update players on the boards of an iteration: values ``[board, line, update, 169]``.

        Parameters
        ----------
        reach
            That of the opponent of each update, ``[update, line, 169]``.
        prune_below
            Regret under which actions are skipped (None: no action).
        """

    def flop_values(
        self,
        table: str,
        epoch: int,
        flops: Sequence[FlopBoards],
        reach: Sequence[NDArray],
        responses: Sequence[Response],
    ) -> list[Answer]:
        """Values of all lines under the strategy in a table: see `Shard.flop_values`."""

    def rows(self, table: str, epoch: int) -> dict[RowKey, NDArray[Any]]:
        """Rows of table `regret` or `average` by pot type, texture (-1: shared by all) and street."""

    def state(self) -> dict[str, NDArray[Any]]:
        """The tables of all shards."""

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Continue from a saved `state`, whatever the grouping into shards was."""


def shard_values(
    shard: Shard,
    updates: Sequence[Update],
    batch: BoardBatch,
    reach: NDArray[np.float32],
    epoch: int,
    prune_below: float | None,
) -> NDArray[np.float64]:
    """What one shard answers to `Fleet.sweep`, for boards that are all its own."""
    swept = [
        shard.sweep(update.own, batch, seen, epoch, trained=update.trained, prune_below=prune_below)
        for update, seen in zip(updates, reach)
    ]
    return np.stack(swept, axis=2)


class LocalFleet:
    """Shards in this process, swept one after the other."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self.shards = list(shards)

    def prepare(self, batch: BoardBatch) -> None:
        """See `Fleet.prepare`: nothing to do."""

    def begin_phase(self, first_epoch: int, schedule: Schedule) -> None:
        """See `Fleet.begin_phase`."""
        for shard in self.shards:
            shard.begin_phase(first_epoch, schedule)

    def sweep(
        self,
        updates: Sequence[Update],
        batch: BoardBatch,
        reach: NDArray[np.float32],
        epoch: int,
        prune_below: float | None = None,
    ) -> list[Answer]:
        """See `Fleet.sweep`."""
        answers: list[Answer] = []
        for shard in self.shards:
            mine = owned(batch.textures, shard.textures)
            if mine.any():
                answer = shard_values(shard, updates, batch.select(mine), reach, epoch, prune_below)
                answers.append((shard.lines, mine, answer))
        return answers

    def flop_values(
        self,
        table: str,
        epoch: int,
        flops: Sequence[FlopBoards],
        reach: Sequence[NDArray],
        responses: Sequence[Response],
    ) -> list[Answer]:
        """See `Fleet.flop_values`."""
        answers: list[Answer] = []
        for shard in self.shards:
            mine = owned([flop.texture for flop in flops], shard.textures)
            if mine.any():
                given = [flop for flop, wanted in zip(flops, mine) if wanted]
                answers.append((shard.lines, mine, shard.flop_values(table, epoch, given, reach, responses)))
        return answers

    def rows(self, table: str, epoch: int) -> dict[RowKey, NDArray[Any]]:
        """See `Fleet.rows`."""
        found: dict[RowKey, NDArray[Any]] = {}
        for shard in self.shards:
            for texture in (ALL_TEXTURES,) if shard.textures is None else shard.textures:
                source = shard.up_to_date(table, epoch, texture)
                for street in range(3):
                    for pot_type, rows in shard.rows(source, street).items():
                        found[RowKey(pot_type, texture, street)] = rows
        return found

    def state(self) -> dict[str, NDArray[Any]]:
        """See `Fleet.state`."""
        return {key: array for shard in self.shards for key, array in shard.state().items()}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """See `Fleet.restore`."""
        for shard in self.shards:
            shard.restore(state)
