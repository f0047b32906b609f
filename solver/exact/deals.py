"""Hands and boards of a game, street by street, with equivalent suits dealt once.

Two suits are equivalent on a board when exchanging them changes neither the board nor either range. Of the
cards that equivalent suits would bring, only the lowest suit's are dealt; the values of the others are those
of the dealt card with the two suits exchanged, for both players at once. This needs strategies that treat
equivalent suits exactly alike; as rounding would break ties between them, hands copy the regrets of their
mirror image.

Every board keeps only the hands it leaves possible. What belongs to boards and hands is held in arrays of
records, with the start of each board's part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import NUM_CARDS, NUM_HAND_NUMBERS, format_card, hand_numbers
from abstractions.isomorphism import permute_cards
from solver.cfr.simd import WIDTH
from solver.exact.folded_hands import FoldedHands

_INT = np.int32
#: Run-outs that are counted together.
_RUNOUT_BLOCK = 32
Strengths = Callable[[Sequence[int], NDArray[np.uint8]], NDArray[np.integer]]


@dataclass(frozen=True)
class CardGame:
    """What is dealt: the hands each player may hold, the board so far and the rest of the deck.

    Attributes
    ----------
    hands : two uint8 arrays [hand, 2]
        Cards of each player's hands; hands of one card have `NO_CARD` of their player second.
    weights : two float64 arrays
        Weight of each hand in its range.
    board : tuple of int
        Public cards at the root.
    deck : tuple of int
        Cards that chance may deal.
    num_deals : int
        Public cards still to come until the board is full.
    num_hole : int
        Private cards of one player.
    strengths : callable
        ``strengths(board, hands)`` ranks hands on a full board: higher wins, equal splits.
    folded : FoldedHands, optional
        What players who folded before may have held.
    """

    hands: tuple[NDArray[np.uint8], NDArray[np.uint8]]
    weights: tuple[NDArray[np.float64], NDArray[np.float64]]
    board: tuple[int, ...]
    deck: tuple[int, ...]
    num_deals: int
    num_hole: int
    strengths: Strengths
    folded: FoldedHands | None = None


#: A board: its street, its boards of the next street, the exchanges of suits it allows, and as a bit mask those of
#: its parent's exchanges that turn it into other boards of the deck.
BOARD = np.dtype(
    [
        ("street", _INT),
        ("first", _INT),
        ("count", _INT),
        ("num_swaps", _INT),
        ("images", _INT),
        ("parent", _INT),
    ],
    align=True,
)
#: A player's hands on a board: how many, the same rounded up to full vectors, and where its parts start in the
#: arrays of `Side` and in the player's tables. `allin` is the start of its all-in matrix, -1 for none.
HANDS = np.dtype(
    [
        ("count", _INT),
        ("pad", _INT),
        ("hands", _INT),
        ("hands_end", _INT),
        ("runs", _INT),
        ("runs_end", _INT),
        ("groups", _INT),
        ("groups_end", _INT),
        ("mirrors", _INT),
        ("mirrors_end", _INT),
        ("swaps", np.int64),
        ("allin", np.int64),
        ("table", np.int64),
        ("clock", np.int64),
    ],
    align=True,
)
#: A hand of a board, in order of strength (before the last street, as they come): its place in the rows, its
#: cards, and the opponent's hand of the same cards (or a row that is always zero).
HAND = np.dtype(
    [("place", np.int16), ("same", np.int16), ("card1", np.uint8), ("card2", np.uint8)], align=True
)
#: Hands that a board takes over from its parent: first there, first here, how many.
RUN = np.dtype([("source", np.int16), ("target", np.int16), ("size", np.int16)], align=True)
#: Own hands of equal strength up to `own_end`: they beat the opponent's hands up to `below`, tie up to `upto`.
GROUP = np.dtype([("own_end", np.int16), ("below", np.int16), ("upto", np.int16)], align=True)


#: A hand that equivalent suits turn into another one of its board: its place, and the place of the first such hand.
MIRROR = np.dtype([("target", np.int16), ("source", np.int16)], align=True)


class Side(NamedTuple):
    """One player's hands on every board of a game.

    `swap` holds, per board and exchange of suits, the place of the hand that a hand becomes; `allin` holds wins minus
    losses over all run-outs as ``[opponent hand, own hand]``, own hands padded.
    """

    boards: NDArray[np.void]
    hands: NDArray[np.void]
    runs: NDArray[np.void]
    groups: NDArray[np.void]
    swap: NDArray[np.int16]
    allin: NDArray[np.int16]
    mirrors: NDArray[np.void]


@dataclass(frozen=True)
class Deals:
    """All boards of a game, street by street, parents first.

    Attributes
    ----------
    cards, suits, hands
        Per board: its public cards, its classes of equivalent suits, and per player the root hands it leaves.
    boards
        Links between them, as `BOARD`.
    sides
        The players' hands.
    table_sizes, num_clocks
        Entries of each player's tables, and of their clocks.
    """

    cards: list[tuple[int, ...]]
    suits: list[tuple[tuple[int, ...], ...]]
    hands: tuple[list[NDArray[np.int16]], list[NDArray[np.int16]]]
    boards: NDArray[np.void]
    sides: tuple[Side, Side]
    table_sizes: tuple[int, int]
    num_clocks: tuple[int, int]

    def locate(self, cards: Sequence[int]) -> tuple[int, tuple[int, ...]]:
        """Board that stands for the root's board and further cards, and the real suit of each of its suits.

        Raises
        ------
        ValueError
            If a card is on the board already, or leaves a player without hands.
        """
        board = 0
        real = [0, 1, 2, 3]
        for card in cards:
            suit = real.index(card % 4)
            dealt = next(members[0] for members in self.suits[board] if suit in members)
            real[dealt], real[suit] = real[suit], real[dealt]
            first = int(self.boards[board]["first"])
            wanted = (*self.cards[board], card - card % 4 + dealt)
            for child in range(first, first + int(self.boards[board]["count"])):
                if self.cards[child] == wanted:
                    board = child
                    break
            else:
                raise ValueError(f"card {format_card(card)} cannot come there")
        return board, tuple(real)


def padded(count: int) -> int:
    """`count` rounded up to full vectors, and at least one."""
    return max(WIDTH, -(-count // WIDTH) * WIDTH)


def zero_row(game: CardGame) -> int:
    """Place of a hand that nobody holds: no row of either player is that long."""
    return max(padded(len(hands)) for hands in game.hands)


def exchange_of(first: int, second: int) -> NDArray[np.uint8]:
    """The renaming of suits that exchanges two of them."""
    suits = np.arange(4, dtype=np.uint8)
    suits[[first, second]] = second, first
    return suits


def exchange(cards: NDArray[np.uint8], first: int, second: int) -> NDArray[np.uint8]:
    """Cards with two suits exchanged; what is no card stays."""
    return np.where(cards < NUM_CARDS, permute_cards(cards, exchange_of(first, second)), cards)


def equivalent_suits(game: CardGame) -> tuple[tuple[int, ...], ...]:
    """Classes of suits that may be exchanged without changing the root's board, deck and ranges."""
    classes: list[list[int]] = []
    for suit in range(4):
        for members in classes:
            if _is_symmetric(game, members[0], suit):
                members.append(suit)
                break
        else:
            classes.append([suit])
    return tuple(tuple(members) for members in classes)


def _is_symmetric(game: CardGame, first: int, second: int) -> bool:
    for cards in (game.board, game.deck):
        own = np.array(cards, dtype=np.uint8)
        if set(exchange(own, first, second).tolist()) != set(own.tolist()):
            return False
    for hands, weights in zip(game.hands, game.weights):
        numbers = hand_numbers(hands)
        swapped = hand_numbers(exchange(hands, first, second))
        order, swapped_order = np.argsort(numbers), np.argsort(swapped)
        if not np.array_equal(numbers[order], swapped[swapped_order]):
            return False
        if not np.array_equal(weights[order], weights[swapped_order]):
            return False
    renamed = exchange(np.arange(NUM_CARDS, dtype=np.uint8), first, second)
    return game.folded is None or game.folded.is_unchanged_by(renamed)


def suit_swaps(suits: tuple[tuple[int, ...], ...]) -> list[tuple[int, int]]:
    """The exchanges that turn each dealt suit into its equivalents."""
    return [(members[0], other) for members in suits for other in members[1:]]


class _BoardList:
    """The boards of the first streets of a game, dealt breadth first."""

    def __init__(self, game: CardGame, suits: tuple[tuple[int, ...], ...], num_streets: int) -> None:
        self.game = game
        self.cards = [game.board]
        self.suits = [suits]
        everything = [np.arange(len(hands), dtype=np.int16) for hands in game.hands]
        self.hands: tuple[list[NDArray[np.int16]], list[NDArray[np.int16]]] = (
            [everything[0]],
            [everything[1]],
        )
        self.runs: tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]] = ([_runs()], [_runs()])
        self.links = [[0, 0, 0, len(suit_swaps(suits)), 0, -1]]
        number = 0
        while number < len(self.cards):
            if self.links[number][0] < num_streets - 1:
                self._deal(number)
            number += 1

    def _deal(self, number: int) -> None:
        game, board, suits = self.game, self.cards[number], self.suits[number]
        swaps = suit_swaps(suits)
        self.links[number][1] = len(self.cards)
        for card in game.deck:
            members = next(members for members in suits if card % 4 in members)
            if card in board or card % 4 != members[0]:
                continue
            free = [
                (game.hands[player][self.hands[player][number]] != card).all(axis=1) for player in range(2)
            ]
            if not free[0].any() or not free[1].any():
                continue
            for player in range(2):
                self.hands[player].append(self.hands[player][number][free[player]])
                self.runs[player].append(_runs(free[player]))
            rest = [m for m in suits if m != members] + [m for m in (members[1:], (card % 4,)) if m]
            images = sum(1 << k for k, swap in enumerate(swaps) if swap[0] == card % 4)
            self.cards.append((*board, card))
            self.suits.append(tuple(rest))
            self.links.append([self.links[number][0] + 1, 0, 0, len(suit_swaps(tuple(rest))), images, number])
        self.links[number][2] = len(self.cards) - self.links[number][1]


def _runs(kept: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """Runs of kept hands as rows (first in the parent, first in the child, length)."""
    if kept is None:
        return np.empty((0, 3), dtype=np.int64)
    edges = np.diff(np.concatenate([[0], kept.astype(np.int8), [0]]))
    begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    sizes = ends - begins
    return np.stack([begins, np.cumsum(sizes) - sizes, sizes], axis=1)


def deal(
    game: CardGame,
    num_rows: NDArray[np.integer],
    num_slots: NDArray[np.integer],
    allin_streets: Sequence[bool],
    *,
    isomorphism: bool = True,
) -> Deals:
    """Deal every board of a game and lay out hands, order, links and table starts.

    Parameters
    ----------
    num_rows, num_slots
        Action rows and nodes of each player, ``[street, player]``. As many streets are dealt as these have, which may
        be fewer than it takes to fill the board.
    allin_streets
        Streets on which betting can end all-in with cards to come.
    isomorphism
        Deal equivalent suits once.
    """
    suits = equivalent_suits(game) if isomorphism else tuple((suit,) for suit in range(4))
    boards = _BoardList(game, suits, len(num_rows))
    ranks = StrengthCache(game)
    allins = {
        number: allin_matrix(
            game, boards.cards[number], 0, boards.hands[0][number], boards.hands[1][number], ranks
        )
        for number, link in enumerate(boards.links)
        if link[0] < game.num_deals and allin_streets[link[0]]
    }
    sides, sizes, clocks = [], [], []
    for player in range(2):
        if player == 1:
            # One at a time, so that both players' matrices are never there twice.
            allins = {number: _seen_by_other(allins.pop(number), boards, number) for number in tuple(allins)}
        side = _side(boards, player, ranks, num_rows[:, player], num_slots[:, player], allins)
        last, street = side.boards[-1], boards.links[-1][0]
        sizes.append(int(last["table"]) + int(last["pad"]) * int(num_rows[street, player]))
        clocks.append(int(last["clock"]) + int(num_slots[street, player]))
        sides.append(side)
    return Deals(
        cards=boards.cards,
        suits=boards.suits,
        hands=boards.hands,
        boards=np.array([tuple(link) for link in boards.links], dtype=BOARD),
        sides=(sides[0], sides[1]),
        table_sizes=(sizes[0], sizes[1]),
        num_clocks=(clocks[0], clocks[1]),
    )


def dealt_hands(game: CardGame, num_streets: int) -> Iterator[tuple[int, tuple[int, int]]]:
    """Street of every board that is dealt, and how many hands it leaves each player."""
    boards = _BoardList(game, equivalent_suits(game), num_streets)
    for link, first, second in zip(boards.links, *boards.hands):
        yield link[0], (len(first), len(second))


class StrengthCache:
    """Strengths of all root hands of both players on a full board."""

    def __init__(self, game: CardGame) -> None:
        self.game = game
        self.known: dict[frozenset[int], tuple[NDArray[np.integer], NDArray[np.integer]]] = {}

    def __call__(self, board: tuple[int, ...], player: int) -> NDArray[np.integer]:
        key = frozenset(board)
        if key not in self.known:
            first, second = (self.game.strengths(board, hands) for hands in self.game.hands)
            self.known[key] = (first, second)
        return self.known[key][player]


def _side(
    boards: _BoardList,
    player: int,
    ranks: StrengthCache,
    num_rows: NDArray[np.integer],
    num_slots: NDArray[np.integer],
    allin: Mapping[int, NDArray[np.int16]],
) -> Side:
    """One player's hands on every board; `allin` has the player's all-in matrices by board."""
    game = boards.game
    cards = game.hands[player]
    rows: list[tuple[int, ...]] = []
    hands: list[NDArray[np.void]] = []
    groups: list[NDArray[np.void]] = []
    swaps: list[NDArray[np.int16]] = []
    mirrors: list[NDArray[np.void]] = []
    allins: list[NDArray[np.int16]] = []
    at = dict.fromkeys(("hands", "runs", "groups", "mirrors", "swaps", "allin", "table", "clock"), 0)
    for number, live in enumerate(boards.hands[player]):
        board, street = boards.cards[number], boards.links[number][0]
        others = boards.hands[1 - player][number]
        pad, runs = padded(len(live)), len(boards.runs[player][number])
        order = np.arange(len(live))
        num_groups = 0
        if street == game.num_deals:
            strength, against = ranks(board, player)[live], ranks(board, 1 - player)[others]
            order = np.argsort(strength, kind="stable")
            groups.append(strength_groups(strength[order], np.sort(against)))
            num_groups = len(groups[-1])
        hands.append(_hand_table(cards[live], game.hands[1 - player][others], order, zero_row(game)))
        exchanges = suit_swaps(boards.suits[number])
        here = [_swapped_places(cards[live], first, second) for first, second in exchanges]
        swaps += here
        mirrors.append(_mirrors(here, len(live)))
        has_allin = number in allin
        if has_allin:
            allins.append(allin[number].ravel())
        rows.append(
            (
                len(live),
                pad,
                at["hands"],
                at["hands"] + len(live),
                at["runs"],
                at["runs"] + runs,
                at["groups"],
                at["groups"] + num_groups,
                at["mirrors"],
                at["mirrors"] + len(mirrors[-1]),
                at["swaps"],
                at["allin"] if has_allin else -1,
                at["table"],
                at["clock"],
            )
        )
        at["hands"] += len(live)
        at["runs"] += runs
        at["groups"] += num_groups
        at["mirrors"] += len(mirrors[-1])
        at["swaps"] += len(live) * len(exchanges)
        at["allin"] += pad * len(others) if has_allin else 0
        at["table"] += pad * int(num_rows[street])
        at["clock"] += int(num_slots[street])
    runs_table = np.concatenate(boards.runs[player]).astype(np.int16)
    return Side(
        boards=np.array(rows, dtype=HANDS),
        hands=np.concatenate(hands),
        runs=np.rec.fromarrays(runs_table.T, dtype=RUN).view(np.ndarray)
        if len(runs_table)
        else np.empty(0, RUN),
        groups=np.concatenate(groups) if groups else np.empty(0, GROUP),
        swap=np.concatenate(swaps) if swaps else np.empty(0, np.int16),
        allin=np.concatenate([*allins, np.zeros(zero_row(game), np.int16)]),
        mirrors=np.concatenate(mirrors),
    )


def _hand_table(
    own: NDArray[np.uint8], opp: NDArray[np.uint8], order: NDArray[np.integer], nobody: int
) -> NDArray[np.void]:
    """Hands in `order`, as `HAND`; `nobody` is the place of a hand that the opponent does not hold."""
    theirs = hand_numbers(opp)
    place = np.full(NUM_HAND_NUMBERS, nobody, dtype=np.int16)
    place[theirs] = np.arange(len(theirs))
    table = np.empty(len(own), dtype=HAND)
    table["place"], table["same"] = order, place[hand_numbers(own[order])]
    table["card1"], table["card2"] = own[order].T
    return table


def single_board(
    own: NDArray[np.uint8],
    opp: NDArray[np.uint8],
    own_strength: NDArray[np.integer],
    opp_strength: NDArray[np.integer],
    nobody: int,
) -> tuple[NDArray[np.void], NDArray[np.void], NDArray[np.void]]:
    """Hands of both players on one board: their sizes as `HANDS`, and each player's hands by strength."""
    sizes = np.zeros(2, dtype=HANDS)
    sizes["count"] = sizes["hands_end"] = len(own), len(opp)
    own_order = np.argsort(own_strength, kind="stable")
    opp_order = np.argsort(opp_strength, kind="stable")
    return sizes, _hand_table(own, opp, own_order, nobody), _hand_table(opp, own, opp_order, nobody)


def strength_groups(own: NDArray[np.integer], opp: NDArray[np.integer]) -> NDArray[np.void]:
    """Groups of equal strength, as `GROUP`, from the sorted strengths of both players."""
    values, firsts = np.unique(own, return_index=True)
    table = np.empty(len(values), dtype=GROUP)
    table["own_end"] = np.append(firsts[1:], len(own))
    table["below"] = np.searchsorted(opp, values, side="left")
    table["upto"] = np.searchsorted(opp, values, side="right")
    return table


def _swapped_places(cards: NDArray[np.uint8], first: int, second: int) -> NDArray[np.int16]:
    position = {int(number): k for k, number in enumerate(hand_numbers(cards))}
    return np.array([position[int(n)] for n in hand_numbers(exchange(cards, first, second))], dtype=np.int16)


def _mirrors(swaps: list[NDArray[np.int16]], count: int) -> NDArray[np.void]:
    """Hands that are not the first of those that the exchanges turn into one another, as `MIRROR`."""
    first = np.arange(count, dtype=np.int16)
    changed = True
    while changed:
        lower = np.minimum.reduce([first, *(first[swap] for swap in swaps)])
        changed = not np.array_equal(lower, first)
        first = lower
    target = np.flatnonzero(first != np.arange(count))
    table = np.empty(len(target), dtype=MIRROR)
    table["target"], table["source"] = target, first[target]
    return table


def allin_matrix(
    game: CardGame,
    board: tuple[int, ...],
    own: int,
    mine: NDArray[np.int16],
    theirs: NDArray[np.int16],
    ranks: Callable[[tuple[int, ...], int], NDArray[np.integer]] | None = None,
) -> NDArray[np.int16]:
    """Wins minus losses of the own hands over all run-outs, ``[opponent hand, own hand]``, own hands padded.

    `mine` and `theirs` are root hands of the player `own` and of the other.
    """
    ranks = StrengthCache(game) if ranks is None else ranks
    matrix = np.zeros((len(theirs), padded(len(mine))), dtype=np.int16)
    missing = len(game.board) + game.num_deals - len(board)
    rest = [card for card in game.deck if card not in board]
    run_outs = list(combinations(rest, missing))
    for start in range(0, len(run_outs), _RUNOUT_BLOCK):
        some = run_outs[start : start + _RUNOUT_BLOCK]
        first, second = (
            np.stack([ranks((*board, *cards), player)[hands] for cards in some]).astype(np.int16)
            for player, hands in ((own, mine), (1 - own, theirs))
        )
        _count_wins(matrix, first, second)
    shared = np.zeros((len(theirs), len(mine)), dtype=np.bool_)
    for a in range(2):
        for b in range(2):
            shared |= game.hands[1 - own][theirs][:, a, None] == game.hands[own][mine][None, :, b]
    matrix[:, : len(mine)][shared] = 0
    return matrix


def _seen_by_other(matrix: NDArray[np.int16], boards: _BoardList, number: int) -> NDArray[np.int16]:
    """The all-in matrix of the second player from that of the first: what one wins the other loses."""
    own, opp = (len(boards.hands[player][number]) for player in range(2))
    result = np.zeros((own, padded(opp)), dtype=np.int16)
    result[:, :opp] = -matrix[:, :own].T
    return result


@njit(cache=True, nogil=True)
def _count_wins(matrix: Any, own: Any, opp: Any) -> None:
    """Add some run-outs: +1 where the own hand wins, -1 where it loses; strength -1 is a blocked hand.

    `own` and `opp` are int16 ``[run-out, hand]``. The run-outs are few enough to stay in the cache while the rows of
    the matrix pass by.
    """
    # A row of its own cannot overlap the strengths, so the compiler may use vectors.
    sums = np.empty(own.shape[1], np.int16)
    for j in range(opp.shape[1]):
        row = matrix[j]
        for i in range(len(sums)):
            sums[i] = row[i]
        for k in range(opp.shape[0]):
            other = opp[k, j]
            if other < 0:
                continue
            strengths = own[k]
            for i in range(len(sums)):
                # Without its sign a blocked hand is stronger than every other one, so it does not lose either.
                wins = np.int16(1) if strengths[i] > other else np.int16(0)
                loses = np.int16(1) if np.uint16(strengths[i]) < np.uint16(other) else np.int16(0)
                sums[i] = np.int16(sums[i] + np.int16(wins - loses))
        for i in range(len(sums)):
            row[i] = sums[i]


def num_runouts(game: CardGame, dealt: int) -> int:
    """Run-outs that any two compatible hands can see after `dealt` of the game's cards."""
    unseen = len(game.deck) - dealt - 2 * game.num_hole
    return comb(unseen, game.num_deals - dealt)
