"""What a seat wins at the end of a line, for every rank that its own hand may have among the others.

Opponents hold known hands, so the own hand matters by its rank alone: below the weakest of them, equal to it, between
the weakest two, and so on. With k different strengths among the opponents still in there are 2 k + 1 such outcomes.
Each is settled with exact side pots; with prizes, the chips of all seats then count by the independent chip model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solver.betting.game import GameConfig
from solver.betting.icm import ICM_SETS, _icm, place_payouts
from solver.betting.lines import MAX_SEATS
from solver.betting.public_tree import NodeKind, PublicTree

#: Outcomes of a hand against at most eight others.
MAX_OUTCOMES = 2 * MAX_SEATS + 1


class Terminals(NamedTuple):
    """Ends of lines before the flop, in big blinds.

    ``committed[t, s]`` is what seat s has put in, ``live[t]`` the seats still in as a bit mask. Pot p of ``pots[t]``
    holds ``amount[t, p]``, which the seats of the mask ``members[t, p]`` play for. ``kept[t]`` is the share of all pots
    that the rake leaves.
    """

    committed: NDArray[np.float64]
    live: NDArray[np.int64]
    pots: NDArray[np.int64]
    amount: NDArray[np.float64]
    members: NDArray[np.int64]
    kept: NDArray[np.float64]


class Stakes(NamedTuple):
    """What chips are worth.

    ``stacks`` are the stacks at the start in big blinds (in chips where a subgame counts chips), ``total`` their sum.
    In a tournament ``payouts`` are the shares of the prize pool by place, and ``start`` is what each stack is worth of
    it, where the whole pool is worth ``total``; otherwise ``payouts`` is empty. ``rake`` and ``cap`` (in big blinds
    too) are for pots that end after the flop.
    """

    stacks: NDArray[np.float64]
    payouts: NDArray[np.float64]
    start: NDArray[np.float64]
    total: float
    rake: float
    cap: float


class Scratch(NamedTuple):
    """Work space: effective strengths, chips won, extra chips put in, stacks, prizes, the sums of `_icm`, outcomes."""

    rank: NDArray[np.int64]
    won: NDArray[np.float64]
    extra: NDArray[np.float64]
    final: NDArray[np.float64]
    equity: NDArray[np.float64]
    chance: NDArray[np.float64]
    level_seat: NDArray[np.int64]
    value: NDArray[np.float64]


def scratch(seats: int) -> Scratch:
    """Work space for a game of so many seats."""
    return Scratch(
        rank=np.zeros(seats, np.int64),
        won=np.zeros(seats),
        extra=np.zeros(seats),
        final=np.zeros(seats),
        equity=np.zeros(seats),
        chance=np.zeros(ICM_SETS),
        level_seat=np.zeros(MAX_SEATS, np.int64),
        value=np.zeros(MAX_OUTCOMES),
    )


def stakes_of(config: GameConfig, unit: float) -> Stakes:
    """Stacks, prizes and rake of a game, in units of so many chips."""
    stacks = np.array(config.stacks, dtype=np.float64) / unit
    payouts, start = np.zeros(0), np.zeros(len(stacks))
    if config.payouts:
        payouts = place_payouts(config.payouts, len(stacks))
        payouts = payouts / payouts.sum()
        _icm(stacks, payouts, np.zeros(ICM_SETS), start)
        start = start * stacks.sum()
    cap = config.rake_cap / unit
    return Stakes(stacks, payouts, start, float(stacks.sum()), float(config.rake), float(cap))


def terminals_of(tree: PublicTree, nodes: NDArray[np.int64], unit: float) -> Terminals:
    """Pots of the ends of lines `nodes`; a line that sees a flop is one that ends there."""
    seats = tree.num_seats
    found = [_pots_of(tree, int(node)) for node in nodes]
    width = max(len(pots) for pots in found)
    amount = np.zeros((len(nodes), width))
    members = np.zeros((len(nodes), width), np.int64)
    for row, pots in enumerate(found):
        for k, (chips, mask) in enumerate(pots):
            amount[row, k], members[row, k] = chips / unit, mask
    pot = np.maximum(tree.pot[nodes].astype(np.float64), 1.0)
    rake = np.array([tree.rake_of(int(node)) for node in nodes])
    bits = 1 << np.arange(seats)
    return Terminals(
        committed=tree.committed[nodes] / unit,
        live=((tree.folded[nodes] == 0) * bits).sum(axis=1).astype(np.int64),
        pots=np.array([len(pots) for pots in found], np.int64),
        amount=amount,
        members=members,
        kept=1.0 - rake / pot,
    )


def _pots_of(tree: PublicTree, node: int) -> list[tuple[float, int]]:
    """Main pot and side pots, each with the seats that play for it; the antes and dead money are in the main pot."""
    live = [seat for seat in range(tree.num_seats) if not tree.folded[node, seat]]
    stakes = tree.committed[node] - np.array(tree.antes, dtype=np.int64)
    pots: list[tuple[float, int]] = []
    low, carried = 0, float(tree.dead + sum(tree.antes))
    for high in sorted({int(stakes[seat]) for seat in live}):
        amount = carried + float((np.minimum(stakes, high) - np.minimum(stakes, low)).sum())
        mask = sum(1 << seat for seat in live if stakes[seat] >= high)
        pots.append((amount, mask))
        carried, low = 0.0, high
    return pots


@njit(cache=True)
def _share_pot(amount: Any, members: Any, rank: Any, won: Any) -> None:
    """Give a pot to the best of its members, in equal parts to those who tie."""
    seats = rank.shape[0]
    best = np.int64(-2)
    winners = 0
    for seat in range(seats):
        if (members >> seat) & 1:
            if rank[seat] > best:
                best = rank[seat]
                winners = 1
            elif rank[seat] == best:
                winners += 1
    for seat in range(seats):
        if (members >> seat) & 1 and rank[seat] == best:
            won[seat] += amount / winners


@njit(cache=True)
def _share_extra(live: Any, extra: Any, rank: Any, won: Any) -> None:
    """Share the chips put in after the flop: a pot for each different stake of the seats still in."""
    seats = rank.shape[0]
    low = 0.0
    while True:
        high = low
        for seat in range(seats):
            # The callers are compiled with fast arithmetic, which knows no infinity to start from.
            if (live >> seat) & 1 and extra[seat] > low and (high == low or extra[seat] < high):
                high = extra[seat]
        if high == low:
            break
        amount = 0.0
        members = np.int64(0)
        for seat in range(seats):
            amount += min(extra[seat], high) - min(extra[seat], low)
            if (live >> seat) & 1 and extra[seat] >= high:
                members |= np.int64(1) << seat
        _share_pot(amount, members, rank, won)
        low = high


@njit(cache=True)
def _settle(seat: Any, terminals: Any, end: Any, live: Any, has_extra: Any, stakes: Any, work: Any) -> Any:
    """Net big blinds of a seat at an end, with the hands' `work.rank` and the chips `work.extra` since the flop."""
    seats = work.rank.shape[0]
    won = work.won
    won[:] = 0.0
    for pot in range(terminals.pots[end]):
        _share_pot(terminals.amount[end, pot], terminals.members[end, pot] & live, work.rank, won)
    kept = terminals.kept[end]
    if has_extra:
        _share_extra(live, work.extra, work.rank, won)
        if stakes.rake > 0.0:
            pot_size = won.sum()
            kept = 1.0 - min(stakes.rake * pot_size, stakes.cap) / pot_size
    if stakes.payouts.shape[0] == 0:
        extra = work.extra[seat] if has_extra else 0.0
        return kept * won[seat] - terminals.committed[end, seat] - extra
    for other in range(seats):
        chips = stakes.stacks[other] - terminals.committed[end, other] + won[other]
        if has_extra:
            chips -= work.extra[other]
        work.final[other] = chips if chips > 1e-9 else 0.0
    _icm(work.final, stakes.payouts, work.chance, work.equity)
    return work.equity[seat] * stakes.total - stakes.start[seat]


@njit(cache=True)
def _outcomes(
    seat: Any,
    terminals: Any,
    end: Any,
    live: Any,
    has_extra: Any,
    strength: Any,
    stakes: Any,
    work: Any,
) -> Any:
    """Fill `work.value` by outcome; returns the number of different strengths of the opponents still in.

    Outcome 0 is below all of them, 2 k + 1 equal to the k-th from below and 2 k + 2 above it. `work.level_seat` names a
    seat of each strength. A seat that has folded, or that nobody opposes, has outcome 0 alone.
    """
    seats = work.rank.shape[0]
    for other in range(seats):
        work.rank[other] = 2 * strength[other]
    if not (live >> seat) & 1:
        work.value[0] = _settle(seat, terminals, end, live, has_extra, stakes, work)
        return 0
    levels = 0
    for other in range(seats):
        if other == seat or not (live >> other) & 1:
            continue
        k = levels - 1
        while k >= 0 and strength[work.level_seat[k]] > strength[other]:
            k -= 1
        if k >= 0 and strength[work.level_seat[k]] == strength[other]:
            continue
        for later in range(levels - 1, k, -1):
            work.level_seat[later + 1] = work.level_seat[later]
        work.level_seat[k + 1] = other
        levels += 1
    work.rank[seat] = -1
    work.value[0] = _settle(seat, terminals, end, live, has_extra, stakes, work)
    for k in range(levels):
        equal = 2 * strength[work.level_seat[k]]
        work.rank[seat] = equal
        work.value[2 * k + 1] = _settle(seat, terminals, end, live, has_extra, stakes, work)
        work.rank[seat] = equal + 1
        work.value[2 * k + 2] = _settle(seat, terminals, end, live, has_extra, stakes, work)
    return levels


@njit(cache=True)
def _by_hand(levels: Any, hands: Any, work: Any, out: Any) -> None:
    """What `_outcomes` found, for each of the own hands from weakest to strongest (`lower`, `upper`, `number`)."""
    start = 0
    for k in range(levels):
        other = work.level_seat[k]
        out[start : hands.lower[other]] = work.value[2 * k]
        out[hands.lower[other] : hands.upper[other]] = work.value[2 * k + 1]
        start = hands.upper[other]
    out[start : hands.number[0]] = work.value[2 * levels]


@njit(cache=True)
def _one_pot_values(seat: Any, terminals: Any, end: Any, deal: Any, out: Any) -> None:
    """The same where chips are money and all play for one pot: only the best opponent matters."""
    live = terminals.live[end]
    best: Any = np.int64(-1)
    ties = 0
    for other in range(deal.strength.shape[0]):
        if other == seat or not (live >> other) & 1:
            continue
        if best < 0 or deal.strength[other] > deal.strength[best]:
            best = other
            ties = 1
        elif deal.strength[other] == deal.strength[best]:
            ties += 1
    lost = np.float32(-terminals.committed[end, seat])
    won = np.float32(terminals.kept[end] * terminals.amount[end, 0])
    if not (live >> seat) & 1 or best < 0:
        value = lost if best >= 0 or not (live >> seat) & 1 else lost + won
        for c in range(out.shape[0]):
            out[c] = value * deal.live[c]
        return
    shared = won / np.float32(ties + 1)
    tied, better = deal.tied[deal.group[best]], deal.better[deal.position[best]]
    for c in range(out.shape[0]):
        out[c] = lost * deal.live[c] + shared * tied[c] + won * better[c]


@njit(cache=True)
def _terminal_values(
    seat: Any, terminals: Any, end: Any, stakes: Any, deal: Any, work: Any, out: Any
) -> None:
    """Value of an end before the flop to a seat by class: net big blinds times the hands that nobody blocks."""
    if terminals.pots[end] == 1 and stakes.payouts.shape[0] == 0:
        _one_pot_values(seat, terminals, end, deal, out)
        return
    levels = _outcomes(seat, terminals, end, terminals.live[end], False, deal.strength, stakes, work)
    value = work.value
    first = np.float32(value[0])
    for c in range(out.shape[0]):
        out[c] = first * deal.live[c]
    for k in range(levels):
        other = work.level_seat[k]
        below, tie, above = value[2 * k], value[2 * k + 1], value[2 * k + 2]
        if tie == below and above == below:
            continue
        tie_step, above_step = np.float32(tie - below), np.float32(above - below)
        tied, better = deal.tied[deal.group[other]], deal.better[deal.position[other]]
        for c in range(out.shape[0]):
            out[c] += tie_step * tied[c] + above_step * better[c]


@njit(cache=True, nogil=True)
def _net(terminals: Any, end: Any, strength: Any, stakes: Any, work: Any, net: Any) -> None:
    for seat in range(net.shape[0]):
        for other in range(net.shape[0]):
            work.rank[other] = 2 * strength[other]
        net[seat] = _settle(seat, terminals, end, terminals.live[end], False, stakes, work)


@dataclass(frozen=True, eq=False)
class Ends:
    """The ends of the lines of a tree before the flop.

    Attributes
    ----------
    number
        Of each node, -1 where the line goes on.
    """

    terminals: Terminals
    stakes: Stakes
    number: NDArray[np.int32]

    @classmethod
    def of(cls, tree: PublicTree, config: GameConfig) -> Ends:
        """Ends of a tree that stops before the flop; a line that sees one counts as an end."""
        nodes = np.flatnonzero(tree.kind != NodeKind.DECISION)
        number = np.full(len(tree), -1, np.int32)
        number[nodes] = np.arange(len(nodes))
        return cls(
            terminals_of(tree, nodes, config.big_blind), stakes_of(config, float(config.big_blind)), number
        )

    def net(self, node: int, strengths: NDArray[np.int64]) -> NDArray[np.float64]:
        """Net big blinds of every seat at an end, given the strength of every hand."""
        seats = len(self.stakes.stacks)
        net = np.zeros(seats)
        _net(
            self.terminals,
            np.int64(self.number[node]),
            np.asarray(strengths, np.int64),
            self.stakes,
            scratch(seats),
            net,
        )
        return net
