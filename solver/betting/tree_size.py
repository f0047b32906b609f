"""How many nodes a tree has, counted without building them, and which menu of a game makes them many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from solver.betting.game import GameConfig
from solver.betting.rules import (
    BettingRules,
    BettingState,
    act,
    betting_is_over,
    legal_actions,
    num_live,
    start_street,
)

#: Betting states that are told apart at most; of a game with more of them a lower bound is known.
MOST_STATES = 300_000


class NodeCount(NamedTuple):
    """Nodes of a tree, or a number that it has more of."""

    nodes: int
    is_exact: bool

    def __str__(self) -> str:
        return f"{self.nodes:,} nodes" if self.is_exact else f"more than {self.nodes:,} nodes"


def count_nodes(
    rules: BettingRules,
    start: BettingState,
    last_street: int | None = None,
    *,
    most_states: int = MOST_STATES,
) -> NodeCount:
    """Nodes from a state to the end of `last_street`, by default that of the state.

    Lines that lead to the same state are counted once and multiplied. Beyond `most_states` states a state that was
    not met before counts as one node, which makes the count a lower bound.

    Examples
    --------
    >>> from solver.betting.tree import game_start
    >>> str(count_nodes(*game_start(GameConfig(stacks=(1000, 1000), limp=False, raise_sizes=("a",)))))
    '5 nodes'
    """
    last = start.street if last_street is None else last_street
    known: dict[tuple[BettingState, int], int] = {}
    is_exact = True

    def count(state: BettingState) -> int:
        nonlocal is_exact
        if state.actor < 0 and (
            num_live(state) == 1 or betting_is_over(rules, state) or state.street == last
        ):
            return 1
        key = _what_matters(state)
        found = known.get(key)
        if found is None:
            if len(known) >= most_states:
                is_exact = False
                return 1
            known[key] = 1  # keeps the place: a state never follows itself
            if state.actor < 0:
                next_street = state.street + 1
                found = 1 + count(
                    start_street(rules, next_street, state.committed, state.folded, state.aggressor)
                )
            else:
                found = 1 + sum(count(act(rules, state, *choice)) for choice in legal_actions(rules, state))
            known[key] = found
        return found

    return NodeCount(count(start), is_exact)


def _what_matters(state: BettingState) -> tuple[BettingState, int]:
    """What the betting after a state depends on: of seats that have folded only their chips in the pot."""
    folded = state.folded
    committed, base = (
        tuple(-1 if folded >> seat & 1 else chips for seat, chips in enumerate(stakes))
        for stakes in (state.committed, state.base)
    )
    own = state._replace(committed=committed, base=base, acted=state.acted & ~folded)
    return own, sum(state.committed)


def smaller_games(config: GameConfig) -> Iterator[tuple[str, GameConfig]]:
    """Keys that make a tree large, each with the game in which it makes it smaller."""
    for depth, menu in enumerate(config.raise_sizes):
        sizes = menu.split(",")
        if len(sizes) > 1:
            menus = (*config.raise_sizes[:depth], sizes[0], *config.raise_sizes[depth + 1 :])
            yield f"raise_sizes[{depth}] ({menu!r})", replace(config, raise_sizes=menus)
    if config.raise_cap != 1:
        cap = config.raise_cap - 1 if config.raise_cap else 3
        yield f"raise_cap ({config.raise_cap})", replace(config, raise_cap=cap)
    if config.limp:
        yield "limp (true)", replace(config, limp=False)
    if config.max_flop_players != 2:
        players = config.max_flop_players - 1 if config.max_flop_players else 3
        yield f"max_flop_players ({config.max_flop_players})", replace(config, max_flop_players=players)
