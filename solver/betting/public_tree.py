"""The public tree: every betting line of a game or a spot, as a struct of arrays.

The tree holds betting only; cards are dealt on top of it by the solvers. Nodes are in depth-first
order, so a parent comes before its children and a subtree is a contiguous run of nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from solver.betting.lines import PREFLOP, Letter, scaled, walk
from solver.betting.rules import Action

#: First letter of the token of each action.
LETTER_OF: dict[Action, str] = {
    action: Letter[action.name].value for action in Action if action != Action.NONE
}


class NodeKind(IntEnum):
    """What happens at a node."""

    DECISION = 0
    CHANCE = 1
    FOLD = 2
    SHOWDOWN = 3


@dataclass(frozen=True, eq=False)
class PublicTree:
    """A betting tree.

    Attributes
    ----------
    kind, player, street
        `NodeKind`, seat to act (-1 elsewhere) and street (0 preflop .. 3 river) of each node.
    parent, action, amount
        Parent (-1 at the root), the action that led here and its street total in chips.
    child_start, num_children, children
        Children of node `i` are ``children[child_start[i] : child_start[i] + num_children[i]]``.
        A chance node has one child, the root of the next street, or none when the tree stops at
        its street. Betting that ends all-in leads to a showdown at once, on the street it ended.
    committed
        Chips each seat has put in since the start of the hand, antes included; at terminals the
        uncalled part of a bet is returned.
    folded
        Whether each seat has folded.
    pot
        Dead money plus the chips committed.
    dead, antes, rake, rake_cap, no_flop_no_drop
        What the payoffs need besides.
    """

    num_seats: int
    kind: NDArray[np.int8]
    player: NDArray[np.int8]
    street: NDArray[np.int8]
    parent: NDArray[np.int32]
    action: NDArray[np.int8]
    amount: NDArray[np.int32]
    child_start: NDArray[np.int32]
    num_children: NDArray[np.int32]
    children: NDArray[np.int32]
    committed: NDArray[np.int32]
    folded: NDArray[np.uint8]
    pot: NDArray[np.int32]
    dead: int
    antes: tuple[int, ...]
    rake: float = 0.0
    rake_cap: float = 0.0
    no_flop_no_drop: bool = False

    def __len__(self) -> int:
        return len(self.kind)

    def children_of(self, node: int) -> NDArray[np.int32]:
        """Children of a node, in the order fold, check or call, bets ascending."""
        start = self.child_start[node]
        return self.children[start : start + self.num_children[node]]

    @cached_property
    def subtree_end(self) -> NDArray[np.int32]:
        """One past the last node of each node's subtree."""
        parent = self.parent.tolist()
        end = list(range(1, len(self) + 1))
        for node in range(len(self) - 1, 0, -1):
            if end[parent[node]] < end[node]:
                end[parent[node]] = end[node]
        return np.array(end, dtype=np.int32)

    def token(self, node: int, scale: float = 1.0) -> str:
        """Line token of the action that led to a node (`b300`, `c`, `/`), its chips times `scale`."""
        action = Action(int(self.action[node]))
        letter = LETTER_OF.get(action, "")
        if action in (Action.BET, Action.RAISE):
            return scaled(f"{letter}{self.amount[node]}", scale)
        return letter

    def line(self, node: int) -> str:
        """Tokens from the root to a node, such as ``b250c/xb125``."""
        tokens = []
        while node > 0:
            tokens.append(self.token(node))
            node = int(self.parent[node])
        return "".join(reversed(tokens))

    @cached_property
    def lines(self) -> list[str]:
        """The line of every node."""
        keys = list(zip(self.action.tolist(), self.amount.tolist()))
        tokens = {key: self.token(node) for key, node in dict(zip(keys, range(len(self)))).items()}
        parent = self.parent.tolist()
        lines = [""] * len(self)
        for node in range(1, len(self)):
            lines[node] = lines[parent[node]] + tokens[keys[node]]
        return lines

    def node_at(self, line: str, *, root: int = 0, start: str = "", scale: float = 1.0) -> int:
        """Node reached by a line; a preflop key (``||p|b250``) is understood too.

        Parameters
        ----------
        root, start
            Where to begin, and the beginning of the line that leads there.
        scale
            The line's chips for one chip of the tree.

        Raises
        ------
        ValueError
            If a token cannot be read or is not an action there.
        """

        def offered(node: int) -> dict[str, int]:
            return {self.token(int(child), scale): int(child) for child in self.children_of(node)}

        return walk(line, root, offered, begun=start)[-1]

    def rake_of(self, node: int) -> float:
        """Rake taken at a terminal, in chips."""
        if self.no_flop_no_drop and self.kind[node] == NodeKind.FOLD and self.street[node] == PREFLOP:
            return 0.0
        return min(self.rake * float(self.pot[node]), self.rake_cap)

    def payoffs(self, node: int, strengths: Sequence[float] | None = None) -> NDArray[np.float64]:
        """Net chips of each seat at the end of a line, relative to the start of the hand.

        A line that the tree stops before its next street counts as checked down. Side pots are
        settled exactly, rake is taken from each pot in proportion and dead money is won like any
        other chip, so the payoffs sum to ``dead - rake``.

        Parameters
        ----------
        strengths
            Hand strength by seat (higher wins, equal splits); not needed after a fold.
        """
        if self.num_children[node]:
            raise ValueError(f"node {node} ({self.line(node)!r}) is not the end of a line")
        live = [seat for seat in range(self.num_seats) if not self.folded[node, seat]]
        if strengths is None:
            if len(live) > 1:
                raise ValueError(f"node {node} ({self.line(node)!r}) is a showdown: strengths are needed")
            strengths = [0.0] * self.num_seats
        stakes = self.committed[node] - np.array(self.antes, dtype=np.int64)
        won = np.zeros(self.num_seats)
        low = 0
        carried = float(self.dead + sum(self.antes))
        for high in sorted({int(stakes[seat]) for seat in live}):
            amount = carried + float((np.minimum(stakes, high) - np.minimum(stakes, low)).sum())
            contenders = [seat for seat in live if stakes[seat] >= high]
            best = max(strengths[seat] for seat in contenders)
            winners = [seat for seat in contenders if strengths[seat] == best]
            won[winners] += amount / len(winners)
            carried, low = 0.0, high
        won *= 1.0 - self.rake_of(node) / max(float(self.pot[node]), 1.0)
        return won - self.committed[node]

    @cached_property
    def heads_up_payoffs(self) -> NDArray[np.float64]:
        """Payoffs of a two-seat tree, ``[node, outcome, seat]``, zero where the line goes on.

        Outcome 0: seat 0 wins the pot, 1: seat 1 wins it, 2: it is split. After a fold all three
        are the same. As in `payoffs`, a line cut before its next street counts as checked down.
        """
        if self.num_seats != 2:
            raise ValueError(f"heads_up_payoffs: the tree has {self.num_seats} seats, not 2")
        rake = np.minimum(self.rake * self.pot, self.rake_cap)
        if self.no_flop_no_drop:
            rake[(self.kind == NodeKind.FOLD) & (self.street == PREFLOP)] = 0.0
        net = self.pot - rake
        share = np.empty((len(self), 3, 2))
        share[:, 0] = np.stack([net, 0 * net], axis=1)
        share[:, 1] = share[:, 0, ::-1]
        share[:, 2] = 0.5 * net[:, None]
        for seat in range(2):
            lost = self.folded[:, seat] != 0
            share[lost] = share[lost, 1 - seat][:, None, :]
        share -= self.committed[:, None, :]
        share[self.num_children > 0] = 0.0
        return share
