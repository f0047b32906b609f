"""Hands in tasks: each task plays some deals and is kept, so that a batch that is cut off goes on where it was.

A deal is drawn from the seed and its number alone. So the result depends neither on the number of workers nor on how
many deals a task has been given.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from artifacts.bundle_store import BundleStore
from pipelines.matches.entrants import Entrant, TaskBuckets
from pipelines.run.cluster import Cluster, OnDemand
from pipelines.run.code_version import code_version
from pipelines.run.engine import stage_key
from solver.betting.game import GameConfig
from solver.match.board_values import BoardValues, same_betting
from solver.match.local_best_response import LocalBestResponse, Setting
from solver.match.play import Match, draw_deal, hand_rng
from solver.match.table import Table

Floats = NDArray[np.float64]
#: Deals of a task, without and with solving.
TASK_DEALS, TASK_SOLVED_DEALS = 100, 4


@dataclass(frozen=True, eq=False)
class Task:
    """Deals of a batch, with the buckets of their boards for each entrant."""

    start: int
    boards: NDArray[np.uint8]
    buckets: tuple[TaskBuckets, ...]


@dataclass(frozen=True, eq=False)
class Shared:
    """What the tasks of a batch have in common; `setting` is that of a local best response."""

    game: GameConfig
    entrants: tuple[Entrant, ...]
    seed: int
    setting: Setting | None = None


def play_match(task: Task, shared: Shared) -> dict[str, Floats]:
    """Duplicate hands of the first entrant against the second: its chips, and their estimate, by deal."""
    table = Table(shared.game)
    first, second = (
        entrant.unpacked(task.boards, buckets) for entrant, buckets in zip(shared.entrants, task.buckets)
    )
    pair = first.blueprint, second.blueprint
    together = same_betting(*pair)
    if not together:
        # The value of a line is a guess then; one blueprint stands for both seats.
        known = first.blueprint if first.resolving is None else second.blueprint
        pair = known, known
    values = BoardValues(table, pair), BoardValues(table, pair[::-1])
    exact = together and first.resolving is None and second.resolving is None
    match = Match(table, (first.sit(table), second.sit(table)), values, exact=exact)
    chips, estimates = [], []
    for number in range(task.start, task.start + len(task.boards)):
        rng = hand_rng(shared.seed, number)
        won, estimate = match.duplicate(draw_deal(rng), rng)
        chips.append(won)
        estimates.append(estimate)
    return {"chips": np.array(chips), "estimate": np.array(estimates)}


def play_lbr(task: Task, shared: Shared) -> dict[str, Floats]:
    """What a local best response wins from the entrant, by deal: the mean of both seats."""
    assert shared.setting is not None
    table = Table(shared.game)
    entrant = shared.entrants[0].unpacked(task.boards, task.buckets[0])
    game = entrant.blueprint.game.preflop
    responder = LocalBestResponse(table, entrant.sit(table), game, shared.setting)
    chips = []
    for number in range(task.start, task.start + len(task.boards)):
        rng = hand_rng(shared.seed, number)
        deal = draw_deal(rng)
        chips.append((responder.hand(deal, 0, rng) + responder.hand(deal, 1, rng)) / 2)
    return {"chips": np.array(chips)}


def play_hands(
    stage: str,
    play: Callable[[Task, Shared], dict[str, Floats]],
    shared: Shared,
    deals: int,
    store: BundleStore,
    cluster: Callable[[], Cluster],
    progress: Callable[[int, int], None],
) -> dict[str, Floats]:
    """Play so many deals; tasks that were played before are read.

    Parameters
    ----------
    stage
        Name of the stage under which tasks are kept.
    play
        `play_match` or `play_lbr`.
    shared
        With entrants as the driver has them.

    Returns
    -------
    What `play` returns, over all deals in order.
    """
    solving = any(entrant.resolving is not None for entrant in shared.entrants)
    size = TASK_SOLVED_DEALS if solving else TASK_DEALS
    starts = range(0, deals, size)
    code = code_version(play)
    records = [_record(shared, start, min(size, deals - start)) for start in starts]
    inputs = {
        f"export_{number}": entrant.bundle.key
        for number, entrant in enumerate(shared.entrants)
        if entrant.bundle is not None
    }
    keys = [stage_key(stage, code, record, inputs) for record in records]
    waiting = [k for k, key in enumerate(keys) if not store.has(stage, key)]
    done = len(keys) - len(waiting)
    if waiting:
        tasks = OnDemand(
            len(waiting), lambda k: _task(shared, starts[waiting[k]], records[waiting[k]]["deals"])
        )
        sent = Shared(
            shared.game, tuple(entrant.shipped() for entrant in shared.entrants), shared.seed, shared.setting
        )
        for position, found in cluster().stream(play, tasks, shared=sent):
            number = waiting[position]
            store.commit(
                {"hands": found},
                stage=stage,
                key=keys[number],
                code=code,
                config=records[number],
                inputs=inputs,
                metrics={},
            )
            done += 1
            progress(min(done * size, deals), deals)
    parts = [store.open(stage, key)["hands"] for key in keys]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0].names}


def _record(shared: Shared, start: int, deals: int) -> dict[str, Any]:
    """All that a task depends on besides its inputs."""
    setting: Mapping[str, Any] | None = None
    if shared.setting is not None:
        setting = {"actions": shared.setting.actions, "streets": list(shared.setting.streets)}
    return {
        "game": json.loads(json.dumps(asdict(shared.game))),
        "entrants": [entrant.identity for entrant in shared.entrants],
        "seed": shared.seed,
        "start": start,
        "deals": deals,
        "setting": setting,
    }


def _task(shared: Shared, start: int, deals: int) -> Task:
    boards = np.stack([draw_deal(hand_rng(shared.seed, start + k)).board for k in range(deals)])
    return Task(start, boards, tuple(entrant.task_buckets(boards) for entrant in shared.entrants))


def by_hand(figures: Floats, game: GameConfig) -> Floats:
    """Chips as mbb/hand."""
    return figures * 1000 / game.big_blind
