"""How many nodes a game has before the flop, counted without building them, and which menu makes them many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from solver.betting.game import GameConfig
from solver.betting.rules import BettingRules, BettingState, act, legal_actions

#: Betting states that are told apart at most; a game with more of them is only said to be larger.
MOST_STATES = 300_000


class _TooManyStates(Exception):
    pass


def count_nodes(rules: BettingRules, start: BettingState) -> int | None:
    """Nodes from a state to the end of its street; None where there are too many states to count.

    Lines that lead to the same state are counted once and multiplied.

    Examples
    --------
    >>> from solver.betting.tree import game_start
    >>> count_nodes(*game_start(GameConfig(stacks=(1000, 1000), limp=False, raise_sizes=("a",))))
    5
    """
    known: dict[BettingState, int] = {}

    def count(state: BettingState) -> int:
        if state.actor < 0:
            return 1
        found = known.get(state)
        if found is None:
            if len(known) >= MOST_STATES:
                raise _TooManyStates
            found = 1 + sum(count(act(rules, state, *choice)) for choice in legal_actions(rules, state))
            known[state] = found
        return found

    try:
        return count(start)
    except _TooManyStates:
        return None


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
