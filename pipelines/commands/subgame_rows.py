"""A solved subgame as it is shown: every live combo of the player to act, off-path ones marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import (
    CLASS_OF_COMBO,
    NUM_CLASSES,
    format_cards,
    format_combo,
    hole_names,
    live_combos,
)
from artifacts.postflop_offpath import clean_off_path, reasons_by_key
from artifacts.subgame_bundle import solved_history, street_key
from pipelines.commands.history_rows import by_hole
from solver.betting.lines import HEADS_UP_SEATS
from solver.betting.tree_text import action_labels
from solver.subgame.config import SubgameConfig
from solver.subgame.solved_street import SolvedStreet
from solver.subgame.subgame import Subgame

Floats = NDArray[np.float64]
#: Combos that the text lists, the heaviest first.
LISTED = 30


@dataclass(frozen=True, eq=False)
class SubgameRows:
    """The decision at the end of the line.

    Attributes
    ----------
    cached
        Whether the solution was kept from an earlier solve.
    combos
        Live combos.
    strategy, ev, weights, reasons
        By live combo: probabilities ``[combo, action]``, chips received from here on, weight in the range, and why the
        combo is off-path (None: it is not).
    """

    subgame: Subgame
    solution: SolvedStreet
    config: SubgameConfig
    cached: bool
    actions: tuple[str, ...]
    frequencies: Floats
    combos: NDArray[np.int64]
    strategy: Floats
    ev: Floats
    weights: Floats
    reasons: tuple[str | None, ...]

    def data(self) -> dict[str, Any]:
        """As plain data; EVs are null for combos outside the range."""
        solution, config, subgame = self.solution, self.config, self.subgame
        hands = {
            format_combo(int(combo)): {
                "weight": float(weight),
                "strategy": row.tolist(),
                "ev": None if np.isnan(ev) else float(ev),
                "reason": reason,
            }
            for combo, weight, row, ev, reason in zip(
                self.combos, self.weights, self.strategy, self.ev, self.reasons
            )
        }
        return {
            "line": subgame.line,
            "board": format_cards(list(subgame.board)),
            "player": HEADS_UP_SEATS[solution.player()],
            "actions": list(self.actions),
            "frequencies": self.frequencies.tolist(),
            "hands": hands,
            "iterations": solution.iterations,
            "seconds": solution.seconds,
            "depth": config.depth,
            "safety": config.safety,
            "values": config.values if config.continuation == "values" else None,
            "leaves": solution.num_leaves,
            "memory_bytes": solution.memory_bytes,
            "cached": self.cached,
        }

    def summary(self) -> list[str]:
        """What was solved, and how."""
        solution, subgame = self.solution, self.subgame
        shares = ", ".join(
            f"{action} {share:.1%}" for action, share in zip(self.actions, self.frequencies.tolist())
        )
        return [
            f"{subgame.line}: {HEADS_UP_SEATS[solution.player()]} to act on {format_cards(list(subgame.board))}, "
            f"pot {int(subgame.tree.pot[subgame.node])}",
            f"{solution.iterations:,} iterations in {solution.seconds:.2f} s, {solution.num_leaves} leaves, "
            f"{solution.memory_bytes / 2**20:,.0f} MiB, ended by {solution.reason}"
            + (" (kept from an earlier solve)" if self.cached else ""),
            shares,
        ]

    def table(self) -> list[str]:
        """The heaviest combos, one row each."""
        order = np.argsort(-self.weights, kind="stable")[:LISTED]
        rows = [f"{'hand':6}{'weight':>8}{'ev':>9}  " + "".join(f"{action:>8}" for action in self.actions)]
        for k in order.tolist():
            shares = "".join(f"{100 * share:7.1f}%" for share in self.strategy[k])
            worth = "-" if np.isnan(self.ev[k]) else f"{self.ev[k]:.1f}"
            reason = f"  {self.reasons[k]}" if self.reasons[k] else ""
            name = format_combo(int(self.combos[k]))
            rows.append(f"{name:6}{self.weights[k]:8.4f}{worth:>9}  {shares}{reason}")
        return rows

    def labels(self) -> list[str]:
        """The actions as charts name them."""
        return action_labels(self.subgame.tree, self.subgame.node)

    def class_reach(self) -> Floats:
        """Mean weight of the combos of each class."""
        classes = CLASS_OF_COMBO[self.combos]
        total = np.bincount(classes, self.weights, NUM_CLASSES)
        return total / np.maximum(np.bincount(classes, minlength=NUM_CLASSES), 1)

    def class_shares(self) -> Floats:
        """Strategy of each class: the mean of its combos by weight, ``[169, action]``."""
        classes = CLASS_OF_COMBO[self.combos]
        # A class outside the range shows the plain mean of its combos.
        weights = self.weights + 1e-12
        total = np.bincount(classes, weights, NUM_CLASSES)
        sums = [np.bincount(classes, weights * row, NUM_CLASSES) for row in self.strategy.T]
        return np.stack(sums, axis=1) / np.maximum(total, 1e-30)[:, None]

    def class_reasons(self) -> list[str | None]:
        """Why a class is off-path: the reason of its combos where all have one."""
        found: list[list[str | None]] = [[] for _ in range(NUM_CLASSES)]
        for combo, reason in zip(self.combos, self.reasons):
            found[CLASS_OF_COMBO[combo]].append(reason)
        return [here[0] if here and all(here) else (None if here else "low_reach") for here in found]


def subgame_rows(
    subgame: Subgame, solution: SolvedStreet, config: SubgameConfig, *, cached: bool, raw: bool
) -> SubgameRows:
    """The rows of a solved subgame; off-path combos give up unless `raw`."""
    player = solution.player()
    board = np.array(subgame.board, dtype=np.uint8)
    live = np.flatnonzero(live_combos(board))
    names = [hole_names()[combo] for combo in live.tolist()]
    table = solved_history(solution, player)
    hands = by_hole(subgame.ranges[player])
    # Heads-up the big blind, seat 1, acts first after the flop.
    is_oop = player == 1
    reasons = reasons_by_key(table, hands, hero_is_oop=is_oop)
    shown = table if raw else clean_off_path(table, hands, hero_is_oop=is_oop)
    here = street_key(solution, subgame.line)
    return SubgameRows(
        subgame=subgame,
        solution=solution,
        config=config,
        cached=cached,
        actions=tuple(solution.actions()),
        frequencies=solution.frequencies(),
        combos=live,
        strategy=np.array([shown[name + here] for name in names]),
        ev=solution.ev()[live],
        weights=solution.range(player)[live],
        reasons=_in_order(reasons, [name + here for name in names]),
    )


def _in_order(reasons: dict[str, str | None], keys: Sequence[str]) -> tuple[str | None, ...]:
    return tuple(reasons.get(key) for key in keys)
