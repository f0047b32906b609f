"""Lines as they are played at a table: any legal size, whether a menu offers it or not."""

from __future__ import annotations

from dataclasses import dataclass

from solver.betting.lines import FLOP, STREETS, Letter, chips, tokens
from solver.betting.rules import (
    Action,
    BettingRules,
    BettingState,
    act,
    all_in_to,
    betting_is_over,
    call_amount,
    num_live,
    start_street,
)


@dataclass(frozen=True)
class PlayedStreet:
    """A street of a hand: the state at its start, and the actions taken since with their street totals."""

    start: BettingState
    actions: tuple[tuple[Action, int], ...]
    state: BettingState


def play_line(rules: BettingRules, start: BettingState, line: str) -> list[PlayedStreet]:
    """Play a line from a state on, street by street.

    Raises
    ------
    ValueError
        If a token cannot be read or is against the rules where it stands.

    Examples
    --------
    >>> from solver.betting.game import GameConfig
    >>> from solver.betting.tree import game_start
    >>> streets = play_line(*game_start(GameConfig()), "b250c/xb333")
    >>> streets[1].start.committed, streets[1].actions[1], streets[1].state.actor
    ((250, 250), (<Action.BET: 3>, 333), 1)
    >>> play_line(*game_start(GameConfig()), "b250c/xb50")
    Traceback (most recent call last):
    ValueError: line 'b250c/xb50': 'b50' is below the smallest bet, to 100
    """
    streets = [PlayedStreet(start, (), start)]
    for token in tokens(line):
        now = streets[-1]
        if token == Letter.DEAL:
            streets.append(_next_street(rules, now.state, line))
            continue
        if now.state.actor < 0:
            over = "the hand is over" if _is_over(rules, now.state) else "the street is over, '/' comes next"
            raise ValueError(f"line {line!r}: {token!r} is not possible, {over}")
        action, to = token_action(rules, now.state, token, line)
        state = act(rules, now.state, action, to)
        streets[-1] = PlayedStreet(now.start, (*now.actions, (action, to)), state)
    return streets


def token_action(rules: BettingRules, state: BettingState, token: str, line: str = "") -> tuple[Action, int]:
    """The action that a token stands for, with its street total; refused where the rules forbid it."""
    where = f"line {line!r}: {token!r}"
    seat = state.actor
    mine = state.committed[seat] - state.base[seat]
    call_to, maximum = call_amount(rules, state), all_in_to(rules, state)
    letter = token[0]
    if letter in (Letter.FOLD, Letter.CALL):
        if call_to <= mine:
            raise ValueError(f"{where} is not possible, there is no bet to answer")
        return (Action.FOLD, mine) if letter == Letter.FOLD else (Action.CALL, call_to)
    if letter == Letter.CHECK:
        if call_to > mine:
            raise ValueError(f"{where} is not possible, there is a bet of {call_to} to answer")
        return Action.CHECK, mine
    if maximum <= state.level:
        raise ValueError(f"{where} is not possible, the other seat has no chips left to call it")
    if letter == Letter.ALLIN:
        return Action.ALLIN, maximum
    kind, name = (Action.RAISE, "raise") if state.bets else (Action.BET, "bet")
    if (letter == Letter.RAISE) != (kind == Action.RAISE):
        raise ValueError(f"{where} is written {LETTERS[kind]}{chips(token)} there")
    to, smallest = chips(token), min(state.level + state.increment, maximum)
    if to < smallest:
        raise ValueError(f"{where} is below the smallest {name}, to {smallest}")
    if to > maximum:
        raise ValueError(f"{where} is more than all-in, to {maximum}")
    return (Action.ALLIN if to == maximum else kind), to


#: How a bet and a raise are written.
LETTERS = {Action.BET: Letter.BET.value, Action.RAISE: Letter.RAISE.value}


def _is_over(rules: BettingRules, state: BettingState) -> bool:
    return num_live(state) == 1 or betting_is_over(rules, state)


def _next_street(rules: BettingRules, state: BettingState, line: str) -> PlayedStreet:
    if state.actor >= 0:
        raise ValueError(f"line {line!r}: '/' before the betting of the {STREETS[state.street]} is over")
    if _is_over(rules, state):
        raise ValueError(f"line {line!r}: '/' is not possible, the hand is over")
    street = max(FLOP, state.street + 1)
    first = start_street(rules, street, state.committed, state.folded, state.aggressor)
    return PlayedStreet(first, (), first)
