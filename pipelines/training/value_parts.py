"""Parts of a data set for value networks: so many states, solved, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, TypeAlias

import numpy as np

from abstractions.cards import format_cards, live_combos
from artifacts.format.arrow_file import Column
from solver.betting.lines import PUBLIC_CARDS, STREETS
from solver.value_states.labels import (
    Labelled,
    Labelling,
    label,
    label_with_every_river,
    label_with_rivers,
)
from solver.value_states.public_state import PublicState, random_state

Columns: TypeAlias = dict[str, Column]
#: Column of turn states: rivers that their solve reaches, also those that are too exploitable to be written.
RIVERS_READ = "rivers_read"
#: Renamings of suits other than the one that changes nothing.
RENAMINGS = np.array(list(permutations(range(4)))[1:])


@dataclass(frozen=True)
class ValueDataConfig:
    """What a data set holds.

    Attributes
    ----------
    street
        "flop", "turn" or "river".
    samples, part_rows
        States, and how many of them a part holds.
    accuracy, max_iterations, bet, raise_
        See `solver.value_states.labels.Labelling`.
    stack_low, stack_high
        Least and largest stack of a random state, in pots.
    blueprint_share, noise
        Share of the states that come from a blueprint, and how far their ranges are changed.
    suit_copies
        Copies of each row with suits renamed at random.
    rivers
        River states below each solved turn that are drawn by how often they are played, and solved on their own.
    every_river, river_accuracy
        Whether every river is read from the turn's solve instead, and the exploitability up to which it is written, in
        percent of the pot at the river.
    """

    street: str
    samples: int
    part_rows: int
    accuracy: float
    max_iterations: int
    bet: str
    raise_: str
    stack_low: float
    stack_high: float
    blueprint_share: float
    noise: float
    suit_copies: int
    rivers: int
    every_river: bool
    river_accuracy: float
    seed: int

    @property
    def num_parts(self) -> int:
        """Parts of the data set."""
        return -(-self.samples // self.part_rows)

    def rows_of(self, part: int) -> int:
        """States of a part; the last may be short."""
        return min(self.part_rows, self.samples - part * self.part_rows)

    def generator(self, part: int, row: int, purpose: int) -> np.random.Generator:
        """Random numbers of one row, whoever draws them."""
        return np.random.default_rng([self.seed, part, row, purpose])


@dataclass(frozen=True)
class PartTask:
    """A part to make: the states that come from a blueprint, None for those to draw."""

    part: int
    states: tuple[PublicState | None, ...]


def make_part(task: PartTask, config: ValueDataConfig) -> tuple[Columns, Columns | None]:
    """The columns of a part, and those of its river states if the data set has them."""
    how = Labelling(config.bet, config.raise_, config.accuracy, config.max_iterations)
    cards = PUBLIC_CARDS[STREETS.index(config.street)]
    rows: list[tuple[Labelled, str]] = []
    rivers: list[tuple[Labelled, str]] = []
    num_read: list[int] = []
    for number, given in enumerate(task.states):
        rng = config.generator(task.part, number, 1)
        state = random_state(cards, (config.stack_low, config.stack_high), rng) if given is None else given
        source = "recursive" if given is None else "blueprint"
        below: list[Labelled] = []
        if config.every_river:
            labelled, below, count = label_with_every_river(state, how, config.river_accuracy)
            num_read += [count] * (1 + config.suit_copies)
        elif config.rivers:
            labelled, below = label_with_rivers(state, how, config.rivers, rng)
        else:
            labelled = label(state, how)
        rivers += [(copy, "turn") for river in below for copy in _copies(river, config, rng)]
        rows += [(copy, source) for copy in _copies(labelled, config, rng)]
    columns = columns_of(rows)
    if config.every_river:
        columns[RIVERS_READ] = np.array(num_read, dtype=np.int32)
    return columns, columns_of(rivers) if rivers else None


def _copies(labelled: Labelled, config: ValueDataConfig, rng: np.random.Generator) -> list[Labelled]:
    """The row and its copies with suits renamed."""
    picked = rng.choice(len(RENAMINGS), config.suit_copies, replace=False)
    return [labelled, *(labelled.renamed(RENAMINGS[k]) for k in picked)]


def columns_of(rows: Sequence[tuple[Labelled, str]]) -> Columns:
    """Rows as columns of a table."""
    states = [labelled.state for labelled, _ in rows]
    boards = np.array([state.board for state in states], dtype=np.uint8)
    return {
        "board": [format_cards(list(state.board)) for state in states],
        "board_cards": boards,
        "pot": np.array([state.pot for state in states], dtype=np.int32),
        "stack": np.array([state.stack for state in states], dtype=np.int32),
        "oop_range": np.array([state.ranges[0] for state in states], dtype=np.float32),
        "ip_range": np.array([state.ranges[1] for state in states], dtype=np.float32),
        "oop_cfv": np.array([labelled.values[0] for labelled, _ in rows], dtype=np.float32),
        "ip_cfv": np.array([labelled.values[1] for labelled, _ in rows], dtype=np.float32),
        "mask": np.array([live_combos(board) for board in boards]).astype(np.uint8),
        "game_value": np.array([labelled.game_value for labelled, _ in rows], dtype=np.float32),
        "exploitability": np.array([labelled.exploitability for labelled, _ in rows], dtype=np.float32),
        "source": [source for _, source in rows],
    }


def figures_of(parts: Sequence[Mapping[str, Any]], accuracy: float) -> dict[str, float]:
    """What is said of the rows of some parts: how many, how far from zero-sum and how well solved."""
    rows, worst, over = 0, 0.0, 0
    errors: list[float] = []
    for part in parts:
        balance = sum(
            (part[f"{player}_range"].astype(np.float64) * part[f"{player}_cfv"]).sum(axis=1)
            for player in ("oop", "ip")
        )
        rows += len(balance)
        worst = max(worst, float(np.abs(balance).max()))
        over += int((part["exploitability"] > accuracy).sum())
        errors += part["exploitability"].tolist()
    return {
        "rows": rows,
        "worst_imbalance": worst,
        "rows_over_accuracy": over,
        "mean_exploitability_pct": float(np.mean(errors)),
        "worst_exploitability_pct": float(np.max(errors)),
    }
