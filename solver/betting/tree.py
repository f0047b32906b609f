"""Builds public trees: of a whole game from its config, of a postflop spot from its sizes, of any subgame.

All three are `subgame_tree` from some betting state on. A subgame of a game states where it starts like this:

    rules, start = game_start(config)
    root = state_at(rules, start, tree, tree.node_at("b250c/xb300c/"))
    subgame = subgame_tree(rules, root, menus, last_street, antes=config.posted_antes, rake=config.rake, ...)

The state carries the seat to act, the chips that each seat has put in since the start of the hand (unequal when
blinds, antes or folds made them so), the seats still in and the aggressor; the rules carry stacks, dead money, order of
action and thresholds. Chips and payoffs of the subgame count from the start of the hand, so they are those of
the game, rake included.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.betting.game import (
    DEFAULT_NODE_LIMIT,
    GameConfig,
    StreetSizes,
    require_chips,
    require_rake,
    street_sizes,
)
from solver.betting.lines import FLOP, PREFLOP, RIVER, action_order
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.rules import (
    Action,
    BettingRules,
    BettingState,
    StreetMenus,
    act,
    betting_is_over,
    legal_actions,
    num_live,
    start_hand,
    start_street,
)
from solver.betting.sizes import Menu, Thresholds, parse_menu, parse_preflop_menu
from solver.betting.tree_parts import child_links
from solver.betting.tree_size import count_nodes, smaller_games

__all__ = [
    "Action",
    "NodeKind",
    "PublicTree",
    "game_start",
    "game_tree",
    "spot_tree",
    "state_at",
    "subgame_tree",
]


#: States that are told apart in each of the games that are a step smaller: there are several of them to count.
_STATES_OF_SMALLER_GAMES = 100_000


def game_tree(config: GameConfig, *, last_street: int = RIVER) -> PublicTree:
    """Betting tree of a game from the first preflop action to the end of `last_street`.

    Examples
    --------
    >>> tree = game_tree(GameConfig(stacks=(1000, 1000), limp=False, raise_sizes=("a",)))
    >>> tree.lines
    ['', 'f', 'A', 'Af', 'Ac']
    """
    rules, root = game_start(config)
    if last_street == PREFLOP and config.num_seats > 2:
        _check_size(config, rules, root)
    return subgame_tree(
        rules,
        root,
        last_street=last_street,
        antes=config.posted_antes,
        rake=config.rake,
        rake_cap=config.rake_cap,
        no_flop_no_drop=config.no_flop_no_drop,
        node_limit=config.node_limit,
    )


def _check_size(config: GameConfig, rules: BettingRules, root: BettingState) -> None:
    """Refuse a game of several seats over the node limit, with its size and what makes it large."""
    limit, found = config.node_limit, count_nodes(rules, root)
    if found.nodes <= limit:
        return
    sizes = {
        key: count_nodes(*game_start(game), most_states=_STATES_OF_SMALLER_GAMES)
        for key, game in smaller_games(config)
    }
    advice = ""
    if sizes:
        # A lower bound says little, so exact counts come first.
        key = min(sizes, key=lambda name: (not sizes[name].is_exact, sizes[name].nodes))
        advice = f"; the key that adds most is {key}, one step less gives {sizes[key]}"
    raise ValueError(f"node_limit: the tree has {found} before the flop, the limit is {limit:,}{advice}")


def game_start(config: GameConfig) -> tuple[BettingRules, BettingState]:
    """Rules of a game, and the state of the first preflop action.

    Raises
    ------
    ValueError
        If nobody has a decision.
    """
    seats = config.num_seats
    preflop, postflop = action_order(seats, PREFLOP), action_order(seats, FLOP)
    stacks = tuple(stack - ante for stack, ante in zip(config.stacks, config.posted_antes))
    posted = [0] * seats
    posted[0], posted[1] = config.small_blind, config.big_blind
    if config.straddle:
        # The straddler buys the last word: the seat after it opens the action.
        posted[preflop[0]] = config.straddle
        preflop = (*preflop[1:], preflop[0])
    rules = BettingRules(
        stacks=stacks,
        dead=sum(config.posted_antes),
        order=(preflop, postflop, postflop, postflop),
        menus=(_preflop_menus(config), *(_menus(s, config.postflop_raise_cap) for s in config.postflop)),
        thresholds=Thresholds.of(
            config.add_allin_threshold, config.force_allin_threshold, config.merging_threshold
        ),
        blind=config.blind_unit,
        min_bet=config.big_blind,
        limp=config.limp,
        max_flop_players=config.max_flop_players,
    )
    root = start_hand(rules, tuple(min(chips, stack) for chips, stack in zip(posted, stacks)))
    if root.actor < 0:
        raise ValueError("stacks: nobody has a decision, the blinds put everybody all-in")
    return rules, root


def spot_tree(
    street: int,
    pot: int,
    stack: int,
    bet_sizes: Mapping[str, Any],
    donk_sizes: Mapping[str, Any] | None = None,
    *,
    add_allin_threshold: float = 1.5,
    force_allin_threshold: float = 0.15,
    merging_threshold: float = 0.1,
    rake: float = 0.0,
    rake_cap: float = 0.0,
    node_limit: int = DEFAULT_NODE_LIMIT,
) -> PublicTree:
    """Betting tree of a heads-up spot that starts on the flop (1), turn (2) or river (3).

    Seat 0 is out of position. The pot is dead money and nothing is committed at the root, so the
    payoffs of a terminal sum to the pot less rake. `bet_sizes` and `donk_sizes` as in spot files.

    Examples
    --------
    >>> tree = spot_tree(3, 200, 900, {"river": {"bet": "50%", "raise": "2.5x"}})
    >>> [tree.token(child) for child in tree.children_of(0)]
    ['x', 'b100']
    """
    if street not in (1, 2, 3):
        raise ValueError(f"street: {street!r} is not 1 (flop), 2 (turn) or 3 (river)")
    require_chips("pot", pot)
    require_chips("stack", stack)
    if pot == 0 or stack == 0:
        raise ValueError(f"{'pot' if pot == 0 else 'stack'}: 0 chips; accepted: a positive number")
    require_rake(rake, rake_cap)
    sizes = street_sizes(bet_sizes, donk_sizes, first_street=street)
    rules = BettingRules(
        stacks=(stack, stack),
        dead=pot,
        order=((0, 1),) * 4,
        menus=(None,) * street + tuple(_menus(s, None) for s in sizes),
        thresholds=Thresholds.of(add_allin_threshold, force_allin_threshold, merging_threshold),
        blind=0,
        min_bet=1,
        limp=True,
    )
    root = start_street(rules, street, (0, 0), 0, -1)
    return subgame_tree(rules, root, rake=rake, rake_cap=rake_cap, node_limit=node_limit)


def subgame_tree(
    rules: BettingRules,
    state: BettingState,
    menus: Mapping[int, StreetSizes] | None = None,
    last_street: int = RIVER,
    *,
    raise_cap: int | None = None,
    played: Sequence[tuple[Action, int]] = (),
    antes: tuple[int, ...] | None = None,
    rake: float = 0.0,
    rake_cap: float = 0.0,
    no_flop_no_drop: bool = False,
    node_limit: int = DEFAULT_NODE_LIMIT,
) -> PublicTree:
    """Betting tree from any betting state on, to the end of `last_street`.

    Lines that go on after `last_street` end there at a chance node without children.

    Parameters
    ----------
    rules
        Stacks, dead money, order of action, thresholds and menus.
    state
        Where the tree starts, for example from `state_at` or `start_street`.
    menus
        Sizes by street (1 flop, 2 turn, 3 river) in place of those of the rules.
    raise_cap
        Raises allowed after a bet on the streets of `menus`, ``None`` = no cap.
    played
        Actions that were taken from `state` on, with their street totals. The tree has them all, whether its
        menus offer them or not.
    antes
        Part of the dead money that each seat has paid; it counts as committed. The rest is nobody's.
    rake, rake_cap, no_flop_no_drop
        As in `GameConfig`; the rake of a terminal is taken from the whole pot.
    node_limit
        Largest tree that may be built.

    Notes
    -----
    The tree has a seat for each of the rules. To play on heads-up once other seats have folded, state rules for
    the two seats alone and add what the others put in to the dead money.

    Examples
    --------
    Heads-up on the flop: 250 chips from each seat and 30 of dead money, the button has 1,750 behind.

    >>> rules, start = game_start(GameConfig(stacks=(2000, 3000)))
    >>> rules = replace(rules, dead=30)
    >>> root = start_street(rules, 1, (250, 250), 0, 0)
    >>> tree = subgame_tree(rules, root, {1: StreetSizes("50%", "none", "a", "none")}, last_street=1)
    >>> [tree.lines[node] for node in np.flatnonzero(tree.kind == NodeKind.CHANCE)]
    ['xx', 'b265c']
    >>> tree.committed[0].tolist(), tree.player[0]
    ([250, 250], np.int8(1))
    """
    if state.actor < 0:
        raise ValueError("subgame: nobody has a decision at the root")
    if last_street < state.street:
        raise ValueError(
            f"last_street: {last_street} is before street {state.street}, where the subgame starts"
        )
    if menus is not None:
        streets = enumerate(rules.menus)
        chosen = tuple(_menus(menus[k], raise_cap) if k in menus else menu for k, menu in streets)
        # Resolved amounts belong to the menus they came from.
        rules = replace(rules, menus=chosen, resolved={})
    paid = (0,) * len(rules.stacks) if antes is None else antes
    rows = _TreeBuilder(rules, last_street, node_limit).build(state, played=played)
    return _finish(rows, rules.dead - sum(paid), paid, rake, rake_cap, no_flop_no_drop)


def state_at(rules: BettingRules, start: BettingState, tree: PublicTree, node: int) -> BettingState:
    """Betting state at a node of a tree that was built from the state `start`.

    Examples
    --------
    >>> config = GameConfig(stacks=(1000, 1000), raise_sizes=("2.5",), raise_cap=1)
    >>> tree = game_tree(config)
    >>> state_at(*game_start(config), tree, tree.node_at("b250c/")).committed
    (250, 250)
    """
    path = []
    while node > 0:
        path.append(node)
        node = int(tree.parent[node])
    state = start
    for step in reversed(path):
        if tree.action[step] == Action.DEAL:
            state = start_street(rules, state.street + 1, state.committed, state.folded, state.aggressor)
        else:
            state = act(rules, state, Action(int(tree.action[step])), int(tree.amount[step]))
    return state


def _menus(sizes: StreetSizes, raise_cap: int | None) -> StreetMenus:
    return StreetMenus(
        bet=(parse_menu(sizes.oop_bet, raising=False), parse_menu(sizes.ip_bet, raising=False)),
        raises=(_raise_menus(sizes.oop_raise, sizes.reraise), _raise_menus(sizes.ip_raise, sizes.reraise)),
        donk=None if sizes.donk is None else parse_menu(sizes.donk, raising=False),
        max_bets=0 if raise_cap is None else raise_cap + 1,
    )


def _raise_menus(after_bet: str | None, after_raise: str | None) -> tuple[Menu, ...]:
    texts = (after_bet,) if after_raise is None else (after_bet, after_raise)
    return tuple(parse_menu(text, raising=True) for text in texts)


def _preflop_menus(config: GameConfig) -> StreetMenus:
    unit, texts = config.blind_unit, config.raise_sizes
    first_in = parse_preflop_menu(texts[0], depth=0, blind=unit)
    raises = tuple(
        parse_preflop_menu(texts[min(depth, len(texts) - 1)], depth=depth, blind=unit)
        for depth in range(1, max(len(texts), 2))
    )
    own = {
        key: parse_preflop_menu(text, depth=0, blind=unit, where=f"{key}_sizes") if text else None
        for key, text in (("over_limp", config.over_limp_sizes), ("small_blind", config.small_blind_sizes))
    }
    return StreetMenus((first_in, first_in), (raises, raises), max_bets=config.raise_cap, **own)


def _with_action(
    actions: list[tuple[Action, int]], taken: tuple[Action, int] | None
) -> list[tuple[Action, int]]:
    """Legal actions with one that was taken in its place among them."""
    if taken is None or taken in actions:
        return actions
    return sorted([*actions, taken], key=lambda choice: (min(choice[0], Action.BET), choice[1]))


# Columns of a row of the builder, followed by the chips committed by each seat.
_KIND, _PLAYER, _STREET, _ACTION, _PARENT, _AMOUNT, _FOLDED, _CHIPS = range(8)


class _TreeBuilder:
    """Grows the rows of a tree street by street.

    The subtree below a street depends only on the chips, the seats still in and (with donk
    menus) the aggressor; lines that agree on these share one built block, which is copied.
    """

    def __init__(self, rules: BettingRules, last_street: int, limit: int) -> None:
        self.rules = rules
        self.last_street = last_street
        self.limit = limit
        self.blocks: dict[tuple[Any, ...], NDArray[np.int32]] = {}

    def build(
        self, root: BettingState, arrival: Action = Action.NONE, played: Sequence[tuple[Action, int]] = ()
    ) -> NDArray[np.int32]:
        """Rows of the subtree of a street's first state, depth first, with all actions of `played`."""
        rules = self.rules
        # The last number counts the actions of `played` that lead to the state, -1 where it is off their way.
        pending = [(root, -1, arrival, 0, 0)]
        rows = array("i")
        positions = array("i")
        copies: list[tuple[int, int, NDArray[np.int32]]] = []
        size = 0
        while pending:
            state, parent, action, amount, step = pending.pop()
            node, size = size, size + 1
            kind = self._kind(state)
            positions.append(node)
            rows.extend((kind, state.actor, state.street, action, parent, amount, state.folded))
            rows.extend(state.committed)
            if kind == NodeKind.DECISION:
                taken = played[step] if 0 <= step < len(played) else None
                for choice, to in reversed(_with_action(legal_actions(rules, state), taken)):
                    after = step + 1 if (choice, to) == taken else -1
                    pending.append((act(rules, state, choice, to), node, choice, to, after))
            elif kind == NodeKind.CHANCE and state.street < self.last_street:
                block = self._next_street(state)
                copies.append((size, node, block))
                size += len(block)
            if size > self.limit:
                raise ValueError(
                    f"node_limit: the tree has more than {self.limit:,} nodes; use fewer sizes, a raise "
                    "cap or larger all-in and merging thresholds"
                )
        block = np.empty((size, _CHIPS + len(rules.stacks)), dtype=np.int32)
        block[positions] = np.frombuffer(rows, dtype=np.int32).reshape(len(positions), -1)
        for start, parent, copied in copies:
            target = block[start : start + len(copied)]
            target[:] = copied
            target[:, _PARENT] += start
            target[0, _PARENT] = parent
        return block

    def _next_street(self, state: BettingState) -> NDArray[np.int32]:
        menus = self.rules.menus[state.street + 1]
        aggressor = state.aggressor if menus is not None and menus.donk is not None else -1
        key = (state.street, state.committed, state.folded, aggressor)
        if key not in self.blocks:
            root = start_street(self.rules, state.street + 1, state.committed, state.folded, aggressor)
            self.blocks[key] = self.build(root, Action.DEAL)
        return self.blocks[key]

    def _kind(self, state: BettingState) -> NodeKind:
        if state.actor >= 0:
            return NodeKind.DECISION
        if num_live(state) == 1:
            return NodeKind.FOLD
        return NodeKind.SHOWDOWN if betting_is_over(self.rules, state) else NodeKind.CHANCE


def _finish(
    rows: NDArray[np.int32],
    dead: int,
    antes: tuple[int, ...],
    rake: float,
    rake_cap: float,
    no_flop_no_drop: bool,
) -> PublicTree:
    columns = np.ascontiguousarray(rows.T)
    kind, parent = columns[_KIND].astype(np.int8), columns[_PARENT]
    committed = np.ascontiguousarray(rows[:, _CHIPS:])
    terminal = np.flatnonzero((kind == NodeKind.FOLD) | (kind == NodeKind.SHOWDOWN))
    largest = committed[terminal].argmax(axis=1)
    # Nobody called the part of the largest stake above the second largest: it goes back.
    committed[terminal, largest] = np.sort(committed[terminal], axis=1)[:, -2]
    committed += np.array(antes, dtype=np.int32)
    seats = committed.shape[1]
    child_start, num_children, children = child_links(parent)
    return PublicTree(
        num_seats=seats,
        kind=kind,
        player=columns[_PLAYER].astype(np.int8),
        street=columns[_STREET].astype(np.int8),
        parent=parent.copy(),
        action=columns[_ACTION].astype(np.int8),
        amount=columns[_AMOUNT].copy(),
        child_start=child_start,
        num_children=num_children,
        children=children,
        committed=committed,
        folded=(columns[_FOLDED][:, None] >> np.arange(seats) & 1).astype(np.uint8),
        pot=(committed.sum(axis=1) + dead).astype(np.int32),
        dead=dead,
        antes=antes,
        rake=rake,
        rake_cap=rake_cap,
        no_flop_no_drop=no_flop_no_drop,
    )
