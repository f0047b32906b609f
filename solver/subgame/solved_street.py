"""What is kept of a solve: the decisions of its street as plain arrays, which a store may hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from json import dumps
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from solver.betting.tree_text import action_labels
from solver.subgame.config import SubgameConfig
from solver.subgame.solution import SubgameSolution, action_shares
from solver.subgame.subgame import Ranges, Subgame

Floats = NDArray[np.float64]
#: Settings that do not change what a solve finds.
_WITHOUT_EFFECT = ("threads", "memory_limit")


@dataclass(frozen=True, eq=False)
class SolvedDecision:
    """A decision of the street.

    Attributes
    ----------
    player, pot, committed
        Who acts, the chips in the pot, and what each seat has put in since the start of the hand.
    actions, labels
        Tokens and labels of the actions.
    strategy
        Probabilities, ``[action, 1326]``.
    ev, action_ev
        Chips received from here on, pot share included: [1326], and with each action ``[action, 1326]``.
    """

    player: int
    actions: tuple[str, ...]
    strategy: Floats
    ev: Floats
    action_ev: Floats
    labels: tuple[str, ...]
    pot: int
    committed: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class SolvedStreet:
    """The decisions of the street that a subgame starts with, by the line of the hand.

    It answers like the `SubgameSolution` it was made from, for this street.

    Attributes
    ----------
    line, board, config
        What was asked for.
    ranges
        Both ranges at the start of the street.
    locked
        Lines whose strategy was given rather than solved.
    """

    line: str
    board: tuple[int, ...]
    config: SubgameConfig
    ranges: Ranges
    by_line: Mapping[str, SolvedDecision]
    seconds: float
    iterations: int
    reason: str
    num_leaves: int
    memory_bytes: int
    locked: tuple[str, ...] = ()

    @classmethod
    def of(cls, solution: SubgameSolution) -> SolvedStreet:
        """What is kept of a solution."""
        subgame, tree = solution.subgame, solution.subgame.tree
        found = {}
        for line, (ev, action_ev) in solution.street_evs().items():
            node = subgame.node_at(line)
            found[line] = SolvedDecision(
                player=solution.player(line),
                actions=tuple(solution.actions(line)),
                strategy=solution.strategy(line),
                ev=ev,
                action_ev=action_ev,
                labels=tuple(action_labels(tree, node)),
                pot=int(tree.pot[node]),
                committed=tuple(tree.committed[node].tolist()),
            )
        return cls(
            line=subgame.line,
            board=subgame.board,
            config=solution.config,
            ranges=subgame.ranges,
            by_line=found,
            seconds=solution.seconds,
            iterations=solution.iterations,
            reason=solution.reason,
            num_leaves=solution.num_leaves,
            memory_bytes=solution.memory_bytes,
            locked=solution.locked,
        )

    @property
    def root_line(self) -> str:
        """The line on which the street begins."""
        return min(self.by_line, key=len)

    def reaches(self, line: str) -> bool:
        """Whether a line of the street follows decisions that were solved."""
        try:
            self.steps(line)
        except ValueError:
            return False
        return True

    def player(self, line: str | None = None) -> int:
        """Seat that acts."""
        return self._at(line).player

    def actions(self, line: str | None = None) -> list[str]:
        """Tokens of the actions."""
        return list(self._at(line).actions)

    def strategy(self, line: str | None = None) -> Floats:
        """Probability of each action by combo, ``[action, 1326]``."""
        return self._at(line).strategy

    def ev(self, line: str | None = None) -> Floats:
        """Chips that each combo of the player to act receives from a line on, [1326]."""
        return self._at(line).ev

    def range(self, player: int, line: str | None = None) -> Floats:
        """Weight of each combo of a player at a line, [1326]."""
        weights = self.ranges[player].copy()
        for decision, action in self.steps(self.line if line is None else line):
            if decision.player == player:
                weights *= decision.strategy[action]
        return weights

    def frequencies(self, line: str | None = None) -> Floats:
        """How often each action is taken, over the deals that get there."""
        player = self.player(line)
        own, other = (self.range(seat, line) for seat in (player, 1 - player))
        return action_shares(self.strategy(line), own, other)

    def _at(self, line: str | None) -> SolvedDecision:
        wanted = self.line if line is None else line
        if wanted not in self.by_line:
            raise ValueError(f"line {wanted!r}: not a decision of the street that was solved")
        return self.by_line[wanted]

    def steps(self, line: str) -> list[tuple[SolvedDecision, int]]:
        """The decisions on the way along a line, each with the number of the action taken."""
        root = self.root_line
        if not line.startswith(root):
            raise ValueError(f"line {line!r} does not begin with {root!r}, where the subgame starts")
        steps, here = [], root
        while here != line:
            decision = self._at(here)
            taken = [k for k, token in enumerate(decision.actions) if line.startswith(here + token)]
            # Of b5 and b50 the longer one is meant.
            action = max(taken, key=lambda k: len(decision.actions[k]), default=-1)
            if action < 0:
                raise ValueError(f"line {line!r} leaves the subgame at {here!r}")
            steps.append((decision, action))
            here += decision.actions[action]
        return steps


class SolutionCache(Protocol):
    """Where solved streets are kept between runs; the layer above knows how."""

    def get(self, key: str) -> SolvedStreet | None:
        """What was kept under a key, None for nothing."""

    def put(self, key: str, solved: SolvedStreet) -> None:
        """Keep a solved street."""


def content_key(
    blueprint: str, subgame: Subgame, config: SubgameConfig, locks: Mapping[str, Floats] | None = None
) -> str:
    """Key of a solve: the same for the same blueprint, spot, ranges, settings and locks, and for nothing else.

    Parameters
    ----------
    blueprint
        Identity of the blueprint, such as the key of its bundle.
    """
    settings: dict[str, Any] = {k: v for k, v in asdict(config).items() if k not in _WITHOUT_EFFECT}
    digest = sha256(dumps([blueprint, subgame.line, subgame.board, settings], sort_keys=True).encode())
    for weights in subgame.ranges:
        digest.update(np.ascontiguousarray(weights, dtype=np.float64).tobytes())
    for line, table in sorted((locks or {}).items()):
        digest.update(line.encode())
        digest.update(np.ascontiguousarray(table, dtype=np.float64).tobytes())
    return digest.hexdigest()
