"""A table where a person plays heads-up hands: against a blueprint, an agent, or a blueprint that solves again."""

from __future__ import annotations

import math
import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np

from abstractions.cards import (
    CLASS_OF_COMBO,
    COMBO_INDEX,
    NUM_CARDS,
    NUM_COMBOS,
    format_card,
    format_cards,
    format_combo,
)
from abstractions.evaluator import evaluate
from artifacts.agents import Agent
from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.blueprint.known_boards import draw_board
from pipelines.explorer.catalogue import Catalogue
from pipelines.explorer.models import ActionModel, ReviewModel, SeatModel, SeatRequest, TableModel
from pipelines.explorer.positions import played
from pipelines.explorer.refusals import Refusal
from solver.betting.lines import FLOP, PUBLIC_CARDS, STREETS, Letter, chips, tokens
from solver.subgame import HandSolver, SubgameConfig
from solver.subgame.subgame import Subgame

#: Tables that are kept, and hands that one may play.
MAX_TABLES, MAX_HANDS = 64, 100_000
#: How the opponent that solves does it: a street at a time, within a second or so.
SOLVING = SubgameConfig(sizes="33%,75%,150%,a", raises="2.5x,a", iterations=150, time_s=1.5)


@dataclass
class Offer:
    """What is on offer at a decision: tokens, labels, and how a combo plays."""

    tokens: tuple[str, ...]
    labels: tuple[str, ...]
    strategy: list[float]


@dataclass
class Hand:
    """A hand in progress."""

    person: int
    deck: list[int]
    line: str = ""
    story: list[str] = field(default_factory=list)
    review: list[ReviewModel] = field(default_factory=list)
    won: float | None = None
    shown: bool = False

    def hole(self, seat: int) -> tuple[int, int]:
        """Cards of a seat."""
        return self.deck[2 * seat], self.deck[2 * seat + 1]

    def combo(self, seat: int) -> int:
        """Number of a seat's combo."""
        return int(COMBO_INDEX[self.hole(seat)])

    def board(self, street: int) -> np.ndarray:
        """Public cards on a street."""
        return np.array(self.deck[4 : 4 + PUBLIC_CARDS[street]], dtype=np.uint8)


class Table:
    """A person against a strategy. Big blinds are the unit of all results.

    Parameters
    ----------
    bundle
        The blueprint by which the person's decisions are looked at afterwards.
    agent
        What the opponent plays; by default the blueprint.
    """

    def __init__(self, bundle: BlueprintBundle, request: SeatRequest, agent: Agent | None = None) -> None:
        self.id, self.bundle, self.request = secrets.token_hex(8), bundle, request
        self._opponent = agent or bundle
        self.lock = threading.Lock()
        self._rng = np.random.default_rng(request.seed)
        self.results: list[float] = []
        self.lost = 0.0
        self._deal()

    def model(self) -> TableModel:
        """The table as the person sees it."""
        hand, names = self.hand, self.bundle.seats
        rules, state, _ = played(self.bundle.game, hand.line)
        over = hand.won is not None
        street = state.street
        offer = None if over else self._offer(hand.person)
        mean, interval = self._summary()
        return TableModel(
            id=self.id,
            source=self.request.source,
            opponent=self.request.opponent,
            hand=len(self.results) + (not over),
            seat=names[hand.person],
            cards=format_combo(hand.combo(hand.person)),
            opponent_cards=format_combo(hand.combo(1 - hand.person)) if hand.shown else None,
            line=hand.line,
            board=format_cards(hand.board(street)),
            pot=rules.dead + sum(state.committed),
            big_blind=self.bundle.game.big_blind,
            seats=[
                SeatModel(
                    name=name,
                    stack=rules.stacks[seat] - state.committed[seat],
                    committed=state.committed[seat],
                    folded=bool(state.folded >> seat & 1),
                    acts=not over and seat == hand.person,
                )
                for seat, name in enumerate(names)
            ],
            actions=[] if offer is None else _actions(offer, hand.line),
            story=hand.story,
            over=over,
            won=hand.won,
            review=hand.review if over else [],
            hands_played=len(self.results),
            mean=mean,
            interval=interval,
            lost=round(self.lost, 4),
        )

    def act(self, token: str) -> None:
        """Take an action for the person, then let the opponent play on."""
        hand = self.hand
        if hand.won is not None:
            raise Refusal("the hand is over; deal the next one")
        offer = self._offer(hand.person)
        if token not in offer.tokens:
            raise Refusal(f"token {token!r} is not possible; accepted: {' '.join(offer.tokens)}")
        self._review(offer, token)
        self._take(hand.person, token)
        self._play_on()

    def next_hand(self) -> None:
        """Deal the next hand; the seats change."""
        if self.hand.won is None:
            raise Refusal("the hand is not over; act first")
        if len(self.results) >= MAX_HANDS:
            raise Refusal(f"{MAX_HANDS} hands were played at this table; open another one")
        self._deal()

    def _deal(self) -> None:
        person = len(self.results) % 2
        board = draw_board(self.bundle, self._rng)
        rest = np.setdiff1d(np.arange(NUM_CARDS), board)
        self.hand = Hand(person, [*self._rng.permutation(rest)[:4].tolist(), *board.tolist()])
        self._solver = None
        if self.request.opponent == "subgame":
            self._solver = HandSolver(self.bundle.blueprint, SOLVING)
        self._play_on()

    def _play_on(self) -> None:
        """Let the opponent act, deal cards, and settle the hand, until the person is to act."""
        hand = self.hand
        while hand.won is None:
            _, state, over = played(self.bundle.game, hand.line)
            if over:
                self._settle()
            elif state.actor < 0:
                self._next_street(state.street + 1)
            elif state.actor == hand.person:
                return
            else:
                offer = self._offer(state.actor)
                weights = np.maximum(np.array(offer.strategy), 0.0)
                chosen = self._rng.choice(len(weights), p=weights / weights.sum())
                self._take(state.actor, offer.tokens[chosen])

    def _next_street(self, street: int) -> None:
        hand = self.hand
        cards = hand.board(street)[PUBLIC_CARDS[street - 1] :]
        hand.line += Letter.DEAL
        if self._solver is not None:
            self._solver.deal(cards)
        hand.story.append(f"{STREETS[street]}: {format_cards(cards)}")

    def _take(self, seat: int, token: str) -> None:
        hand = self.hand
        hand.line += token
        if self._solver is not None:
            self._solver.play(token)
        who = "you" if seat == hand.person else "opponent"
        words = _words(token, self.bundle.game.big_blind)
        hand.story.append(f"{who} ({self.bundle.seats[seat]}): {words}")

    def _solves(self, line: str) -> bool:
        return self._solver is not None and line.count(Letter.DEAL) >= FLOP

    def _offer(self, seat: int) -> Offer:
        """What a seat may do now, and how its combo plays."""
        line, combo = self.hand.line, self.hand.combo(seat)
        if self._solves(line):
            assert self._solver is not None
            found = self._solver.solution.by_line[line]
            return Offer(found.actions, found.labels, found.strategy[:, combo].tolist())
        decision = self.bundle.decision(line)
        strategy = self.bundle if seat == self.hand.person else self._opponent
        shares = strategy.probabilities(decision, self.hand.board(decision.street))
        return Offer(decision.tokens, decision.actions, shares[:, combo].tolist())

    def _review(self, offer: Offer, token: str) -> None:
        """Note what the strategy does with the person's hand, and what each action is worth."""
        hand, line = self.hand, self.hand.line
        combo, street = hand.combo(hand.person), line.count(Letter.DEAL)
        board = hand.board(street)
        if self._solves(line):
            assert self._solver is not None
            chips_won = self._solver.solution.by_line[line].action_ev[:, combo]
        elif street == 0:
            chips_won = self.bundle.preflop(line).ev[CLASS_OF_COMBO[combo]]
        else:
            chips_won = self._action_values(line, board)[:, combo]
        values = chips_won / self.bundle.game.big_blind
        taken = offer.tokens.index(token)
        lost = None if np.isnan(values).any() else float(values.max() - values[taken])
        self.lost += lost or 0.0
        hand.review.append(
            ReviewModel(
                line=line,
                board=format_cards(board),
                actions=list(offer.labels),
                taken=taken,
                strategy=[round(share, 6) for share in offer.strategy],
                ev=[None if np.isnan(value) else round(float(value), 4) for value in values],
                lost=None if lost is None else round(lost, 4),
            )
        )

    def _action_values(self, line: str, board: np.ndarray) -> np.ndarray:
        """What each action is worth by combo; nan where the blueprint cannot play the cards to come."""
        try:
            return self.bundle.action_values(line, board)
        except ValueError:
            return np.full((len(self.bundle.decision(line).tokens), NUM_COMBOS), np.nan)

    def _settle(self) -> None:
        """Pay the hand that is over."""
        hand = self.hand
        _, state, _ = played(self.bundle.game, hand.line)
        strengths = None
        if not state.folded:
            seven = [[*hand.hole(seat), *hand.deck[4:9]] for seat in range(2)]
            strengths = evaluate(np.array(seven, dtype=np.uint8)).tolist()
            hand.shown = True
            missing = hand.deck[4 + PUBLIC_CARDS[state.street] : 9]
            if missing:
                hand.story.append(f"dealt: {' '.join(format_card(card) for card in missing)}")
        hand.won = float(self._payoffs(strengths)[hand.person]) / self.bundle.game.big_blind
        hand.story.append(f"you {'win' if hand.won >= 0 else 'lose'} {abs(hand.won):.2f} bb")
        self.results.append(hand.won)

    def _payoffs(self, strengths: list[int] | None) -> np.ndarray:
        """Net chips of both seats."""
        line = self.hand.line
        if not self._solves(line):
            tree = self.bundle.blueprint.game.tree
            return tree.payoffs(tree.node_at(line), strengths)
        assert self._solver is not None
        before = line.removesuffix(tokens(line)[-1])
        board = self.hand.board(before.count(Letter.DEAL))
        subgame = Subgame.build(self.bundle.blueprint, before, board, SOLVING)
        return subgame.tree.payoffs(subgame.node_at(line), strengths)

    def _summary(self) -> tuple[float | None, float | None]:
        """Mean of the results in big blinds per 100 hands, and half the width of its 95 % interval."""
        count = len(self.results)
        if count == 0:
            return None, None
        mean = 100 * float(np.mean(self.results))
        if count < 2:
            return mean, None
        return mean, 100 * 1.96 * float(np.std(self.results, ddof=1)) / math.sqrt(count)


def _actions(offer: Offer, line: str) -> list[ActionModel]:
    return [
        ActionModel(label=label, token=token, to=chips(token) or None, next=line + token, leads_to="decision")
        for token, label in zip(offer.tokens, offer.labels)
    ]


def _words(token: str, big_blind: int) -> str:
    """An action as the story tells it, sizes in big blinds.

    >>> _words("x", 100), _words("r750", 100)
    ('checks', 'raises to 7.5 bb')
    """
    names = {"f": "folds", "x": "checks", "c": "calls", "A": "all-in"}
    verb = "bets" if token[0] == Letter.BET else "raises to"
    return names.get(token) or f"{verb} {chips(token) / big_blind:g} bb"


class Tables:
    """All tables of a server."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, request: SeatRequest) -> Table:
        """A new table; the oldest one is cleared when there are too many."""
        source = self.catalogue.open(request.source)
        agent = source if isinstance(source, Agent) else None
        bundle = self.catalogue.blueprint(request.source) if agent is None else agent.lines
        if len(bundle.seats) != 2:
            raise Refusal(f"source {request.source!r} has {len(bundle.seats)} seats; tables are for two")
        if agent is not None and request.opponent == "subgame":
            raise Refusal(f"opponent: {agent.name} does not solve; only a blueprint can be solved further")
        table = Table(bundle, request, agent)
        with self._lock:
            self._tables[table.id] = table
            while len(self._tables) > MAX_TABLES:
                self._tables.popitem(last=False)
        return table

    def get(self, name: str) -> Table:
        """A table by its id."""
        with self._lock:
            table = self._tables.get(name)
        if table is None:
            raise Refusal(f"table {name[:40]!r} is not known; POST /api/play opens one", status=404)
        return table
