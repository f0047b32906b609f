"""The rules of a no-limit betting round, for any number of seats.

`BettingRules` is what a game config and a spot file have in common; `BettingState` is one moment
of a street. Chips here exclude antes and dead money, which never affect what a seat may do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

from solver.betting.lines import PREFLOP, RIVER
from solver.betting.sizes import Menu, Thresholds, resolve_menu


class Action(IntEnum):
    """The action that leads to a node (`DEAL`: the next street's cards; `NONE`: the root)."""

    FOLD = 0
    CHECK = 1
    CALL = 2
    BET = 3
    RAISE = 4
    ALLIN = 5
    DEAL = 6
    NONE = 7


class StreetMenus(NamedTuple):
    """Parsed menus of one street.

    ``bet`` and ``raises`` are indexed by role (0 out of position, 1 in position); ``raises``
    then by the raises made so far, the last menu repeating. ``donk``, ``over_limp`` and ``small_blind``
    (its first raise where everybody before it folded) stand in for ``bet`` when they apply. ``max_bets``
    caps bets and raises together (0 = no cap).
    """

    bet: tuple[Menu, Menu]
    raises: tuple[tuple[Menu, ...], tuple[Menu, ...]]
    donk: Menu | None = None
    over_limp: Menu | None = None
    small_blind: Menu | None = None
    max_bets: int = 0


@dataclass(frozen=True)
class BettingRules:
    """Everything that decides which actions are legal.

    Attributes
    ----------
    stacks
        Chips each seat can put in, antes excluded.
    dead
        Money in the pot that is in nobody's `stacks`: antes, or the pot of a spot.
    order
        Seats in order of action, by street.
    menus
        `StreetMenus` by street.
    blind
        The largest forced bet: the bet level that opens the preflop street.
    min_bet
        Smallest bet and smallest first raise increment.
    limp
        Whether the blind may be called before a raise.
    max_flop_players
        Before the flop nobody may call once so many seats are in; 0 = no limit.
    """

    stacks: tuple[int, ...]
    dead: int
    order: tuple[tuple[int, ...], ...]
    menus: tuple[StreetMenus | None, ...]
    thresholds: Thresholds
    blind: int
    min_bet: int
    limp: bool
    max_flop_players: int = 0
    resolved: dict[tuple[int, ...], list[int]] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def turns(self) -> tuple[dict[int, tuple[int, ...]], ...]:
        """By street and seat that acted last (-1: nobody), the seats in the order they come up."""
        return tuple(
            {-1: order} | {seat: order[i + 1 :] + order[: i + 1] for i, seat in enumerate(order)}
            for order in self.order
        )


class BettingState(NamedTuple):
    """One moment of a street, before a seat acts.

    ``committed`` counts from the start of the hand, ``base`` is its value at the start of the
    street; ``level`` is the bet level of the street; ``increment`` the last full raise;
    ``folded`` and ``acted`` are bit masks over seats, ``acted`` since the last full raise;
    ``actor`` is the seat to act, -1 when the betting of the street is over.
    """

    street: int
    committed: tuple[int, ...]
    base: tuple[int, ...]
    folded: int
    acted: int
    level: int
    increment: int
    bets: int
    aggressor: int
    previous_aggressor: int
    actor: int


def start_street(
    rules: BettingRules, street: int, committed: tuple[int, ...], folded: int, previous_aggressor: int
) -> BettingState:
    """State at the start of a postflop street."""
    actor = _next_actor(rules, street, committed, committed, folded, 0, 0, 0, -1)
    return BettingState(
        street, committed, committed, folded, 0, 0, rules.min_bet, 0, -1, previous_aggressor, actor
    )


def start_hand(rules: BettingRules, posted: tuple[int, ...]) -> BettingState:
    """State at the start of the hand, blinds posted."""
    base = (0,) * len(posted)
    actor = _next_actor(rules, PREFLOP, posted, base, 0, 0, rules.blind, 0, -1)
    return BettingState(PREFLOP, posted, base, 0, 0, rules.blind, rules.blind, 0, -1, -1, actor)


def num_live(state: BettingState) -> int:
    """Number of seats that have not folded."""
    return len(state.committed) - state.folded.bit_count()


def betting_is_over(rules: BettingRules, state: BettingState) -> bool:
    """Whether no later street can see a bet: at most one seat still in has chips behind."""
    if state.street == RIVER:
        return True
    behind = 0
    for seat, chips in enumerate(state.committed):
        if chips < rules.stacks[seat] and not state.folded >> seat & 1:
            behind += 1
    return behind <= 1


def _owed_level(rules: BettingRules, seat: int, folded: int, level: int, bets: int) -> int:
    """Bet level that `seat` has to match.

    A bet is matched by its bettor's stack and by the deepest opponent's, so it is owed in full;
    only a blind can exceed every other stack still in.
    """
    if bets or level == 0:
        return level
    others = [s for i, s in enumerate(rules.stacks) if i != seat and not folded >> i & 1]
    return min(level, max(others, default=0))


def _next_actor(
    rules: BettingRules,
    street: int,
    committed: tuple[int, ...],
    base: tuple[int, ...],
    folded: int,
    acted: int,
    level: int,
    bets: int,
    last: int,
) -> int:
    """The next seat in turn that owes chips or has yet to act, -1 when there is none."""
    stacks = rules.stacks
    for seat in rules.turns[street][last]:
        if folded >> seat & 1 or committed[seat] >= stacks[seat]:
            continue
        if committed[seat] - base[seat] < _owed_level(rules, seat, folded, level, bets):
            return seat
        if not acted >> seat & 1:
            for other, chips in enumerate(committed):
                if other != seat and not folded >> other & 1 and chips < stacks[other]:
                    return seat
    return -1


def legal_actions(rules: BettingRules, state: BettingState) -> list[tuple[Action, int]]:
    """Actions of the seat to act, with street totals: fold, check or call, then bets ascending.

    A raise that is all-in for less than a full raise does not reopen the betting to seats that
    have already acted (they fold or call), unless such raises together make up a full one.
    """
    seat = state.actor
    mine = state.committed[seat] - state.base[seat]
    call_to = call_amount(rules, state)
    maximum = all_in_to(rules, state)
    sizes = _raise_amounts(rules, state, call_to - mine, maximum)
    actions: list[tuple[Action, int]] = []
    if call_to > mine:
        actions.append((Action.FOLD, mine))
        if state.street != PREFLOP or _may_call_preflop(rules, state, bool(sizes)):
            actions.append((Action.CALL, call_to))
    else:
        actions.append((Action.CHECK, mine))
    bet_or_raise = Action.RAISE if state.bets else Action.BET
    for to in sizes:
        actions.append((Action.ALLIN if to == maximum else bet_or_raise, to))
    return actions


def _may_call_preflop(rules: BettingRules, state: BettingState, may_raise: bool) -> bool:
    """Whether a call before the flop is allowed: limps may be off, and so many seats may be in already."""
    if rules.max_flop_players and _seats_in(rules, state) >= rules.max_flop_players:
        return False
    return rules.limp or state.bets > 0 or not may_raise


def _seats_in(rules: BettingRules, state: BettingState) -> int:
    """Seats besides the one to act that have matched the bet or are all-in: they will see the flop."""
    count = 0
    for seat, chips in enumerate(state.committed):
        if seat == state.actor or state.folded >> seat & 1:
            continue
        count += chips - state.base[seat] >= state.level or chips >= rules.stacks[seat]
    return count


def call_amount(rules: BettingRules, state: BettingState) -> int:
    """Street total of the seat to act once it calls: the bet level, or all it has."""
    seat = state.actor
    owed = _owed_level(rules, seat, state.folded, state.level, state.bets)
    return min(owed, rules.stacks[seat] - state.base[seat])


def all_in_to(rules: BettingRules, state: BettingState) -> int:
    """Street total of an all-in: own stack, or what the deepest opponent can still match."""
    seat = state.actor
    deepest = 0
    for other, stack in enumerate(rules.stacks):
        if other != seat and not state.folded >> other & 1 and state.committed[other] < stack:
            deepest = max(deepest, stack - state.base[other])
    return min(rules.stacks[seat] - state.base[seat], deepest)


def _raise_amounts(rules: BettingRules, state: BettingState, to_call: int, maximum: int) -> list[int]:
    menus = rules.menus[state.street]
    if menus is None or maximum <= state.level or (menus.max_bets and state.bets >= menus.max_bets):
        return []
    seat = state.actor
    mine = state.committed[seat] - state.base[seat]
    if state.acted >> seat & 1 and state.level - mine < state.increment:
        return []
    role = _is_last(rules, state)
    kind, menu = _menu(rules, state, menus, role)
    pot = rules.dead + sum(state.committed) + to_call
    key = (state.street, role, kind, state.bets, pot, state.level, state.increment, maximum)
    if key not in rules.resolved:
        rules.resolved[key] = resolve_menu(
            menu,
            rules.thresholds,
            pot=pot,
            previous=state.level,
            minimum=min(state.level + state.increment, maximum),
            maximum=maximum,
            streets_left=RIVER - state.street + 1,
            bets=state.bets,
        )
    return rules.resolved[key]


def _menu(rules: BettingRules, state: BettingState, menus: StreetMenus, role: int) -> tuple[int, Menu]:
    """The menu of the seat to act, with a number that tells apart the menus of a first bet."""
    if state.bets:
        depths = menus.raises[role]
        return 0, depths[min(state.bets, len(depths)) - 1]
    if menus.donk is not None and _is_donk(rules, state):
        return 1, menus.donk
    limped = state.acted & ~state.folded != 0
    if limped and menus.over_limp is not None:
        return 2, menus.over_limp
    if not limped and state.actor == 0 and menus.small_blind is not None:
        return 3, menus.small_blind
    return 0, menus.bet[role]


def _is_last(rules: BettingRules, state: BettingState) -> bool:
    """Whether the seat to act has position on every seat still in."""
    for seat in reversed(rules.order[state.street]):
        if not state.folded >> seat & 1:
            return seat == state.actor
    return False


def _is_donk(rules: BettingRules, state: BettingState) -> bool:
    """Whether a bet now would run into the previous street's aggressor, who acts later."""
    aggressor = state.previous_aggressor
    if aggressor < 0 or state.folded >> aggressor & 1 or aggressor == state.actor:
        return False
    order = rules.order[state.street]
    has_chips = state.committed[aggressor] < rules.stacks[aggressor]
    return has_chips and order.index(aggressor) > order.index(state.actor)


def act(rules: BettingRules, state: BettingState, action: Action, to: int) -> BettingState:
    """State after the seat to act plays `action` to the street total `to`."""
    street, committed, base, folded, acted, level, increment, bets, aggressor, previous, seat = state
    bit = 1 << seat
    if action == Action.FOLD:
        folded |= bit
    else:
        committed = (*committed[:seat], base[seat] + to, *committed[seat + 1 :])
        if action >= Action.BET:
            if to - level >= increment:
                acted, increment = 0, to - level
            level, bets, aggressor = to, bets + 1, seat
        acted |= bit
    actor = _next_actor(rules, street, committed, base, folded, acted, level, bets, seat)
    return BettingState(
        street, committed, base, folded, acted, level, increment, bets, aggressor, previous, actor
    )
