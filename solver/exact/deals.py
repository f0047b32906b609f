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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import format_card
from solver.exact.allin_matrices import allin_matrix, seen_by_other
from solver.exact.card_game import CardGame, StrengthCache
from solver.exact.hand_tables import GROUP, HANDS, hand_table, padded, strength_groups
from solver.exact.suits import equivalent_suits, mirrors_of, suit_swaps, swapped_places

#: A board: its street, its boards of the next street, the exchanges of suits it allows, and as a bit mask those of
#: its parent's exchanges that turn it into other boards of the deck.
BOARD = np.dtype(
    [
        ("street", np.int32),
        ("first", np.int32),
        ("count", np.int32),
        ("num_swaps", np.int32),
        ("images", np.int32),
        ("parent", np.int32),
    ],
    align=True,
)
#: Hands that a board takes over from its parent: first there, first here, how many.
RUN = np.dtype([("source", np.int16), ("target", np.int16), ("size", np.int16)], align=True)


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


def zero_row(game: CardGame) -> int:
    """Place of a hand that nobody holds: no row of either player is that long."""
    return max(padded(len(hands)) for hands in game.hands)


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
            allins = {
                number: seen_by_other(allins.pop(number), len(boards.hands[0][number]))
                for number in tuple(allins)
            }
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
        hands.append(hand_table(cards[live], game.hands[1 - player][others], order, zero_row(game)))
        exchanges = suit_swaps(boards.suits[number])
        here = [swapped_places(cards[live], first, second) for first, second in exchanges]
        swaps += here
        mirrors.append(mirrors_of(here, len(live)))
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
