"""Where a line stands: who acts, what is in the pot, which actions lead where, and the way there."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import format_cards
from artifacts.agents import Agent
from artifacts.blueprint.betting_lines import Decision
from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.blueprint.line_reach import line_play
from artifacts.blueprint.preflop_bundle import PreflopBundle
from artifacts.spot_bundle import SpotBundle
from artifacts.subgame_bundle import SubgameBundle
from pipelines.explorer.catalogue import Catalogue, Source
from pipelines.explorer.chains import Chain
from pipelines.explorer.models import ActionModel, SeatModel, StepModel
from pipelines.explorer.refusals import Refusal
from solver.betting.game import GameConfig
from solver.betting.lines import PUBLIC_CARDS, STREETS, Letter, chips, seat_names, tokens, without_prefix
from solver.betting.played_lines import play_line
from solver.betting.rules import BettingRules, BettingState, betting_is_over, num_live
from solver.betting.tree import game_start

Cards = NDArray[np.uint8]
Kind = Literal["decision", "unsolved", "deal", "end"]
UNSOLVED = "This street is not solved yet, and the blueprint does not have these sizes. Solve it to see it."
GOES_ON = (
    "The solve goes to the river. On these cards it goes on from the ranges that the street before left."
)
#: A spot has chips and no blinds.
SPOT_BIG_BLIND = 100
#: Frequencies that are remembered: walking on asks for those of every step before.
_REMEMBERED = 4096


@dataclass(frozen=True)
class Position:
    """A line on a board.

    Attributes
    ----------
    source
        Whatever answers at the line.
    answered_by
        Its name.
    decision
        What is on offer; None where nobody acts.
    kind
        ``decision``, ``deal`` or ``end``; ``unsolved`` where somebody acts and nobody knows how.
    cards_needed
        Cards to deal before anybody acts.
    note
        What a person should know about the answer.
    goes_on
        Whether the source was solved to the river, so that the street can be solved as part of it.
    """

    source: Source
    answered_by: str
    line: str
    board: Cards
    decision: Decision | None
    kind: Kind
    street: int
    pot: int
    seats: tuple[SeatModel, ...]
    big_blind: int
    cards_needed: int = 0
    note: str | None = None
    goes_on: bool = False


class Positions:
    """Looks lines up in the sources of a catalogue."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._frequencies: OrderedDict[tuple[str, str, bytes], list[float] | None] = OrderedDict()

    def at(self, name: str, line: str, board: Cards) -> Position:
        """The position of a line of a source. A subgame leaves other streets to its blueprint."""
        source, line = self.catalogue.open(name), without_prefix(line)
        if isinstance(source, SubgameBundle):
            return self._of_subgame(name, source, line, board)
        if isinstance(source, SpotBundle):
            return self._of_spot(name, source, line, board)
        return self._of_game(name, source, line, board)

    def _of_game(
        self, name: str, source: PreflopBundle | Agent, line: str, board: Cards, note: str | None = None
    ) -> Position:
        game = source.game
        rules, state, over = played(game, line)
        decision = None
        try:
            decision = source.decision(line)
        except ValueError:
            if not over:
                if state.actor >= 0 or isinstance(source, Agent | BlueprintBundle):
                    raise
                over, note = True, _end_of_preflop(source)
            _check_steps(source, line)
        street = state.street if decision is None else decision.street
        needed = _missing(street, board, line)
        kind: Kind = "end" if over else "deal" if needed else "decision"
        if over and needed:
            # A hand that ended early needs no further cards.
            needed = 0
        return Position(
            source=source,
            answered_by=name,
            line=line,
            board=board,
            decision=decision if kind == "decision" else None,
            kind=kind,
            street=state.street if kind != "decision" else street,
            pot=rules.dead + sum(state.committed),
            seats=_seats(
                seat_names(game.num_seats),
                rules,
                state,
                decision.player if decision and kind == "decision" else -1,
            ),
            big_blind=game.big_blind,
            cards_needed=needed,
            note=note,
        )

    def _of_subgame(self, name: str, source: SubgameBundle, line: str, board: Cards) -> Position:
        blueprint, chain = self.catalogue.below(source), Chain(self.catalogue, source)
        below = blueprint.path.name
        solve = chain.answering(line, board)
        if solve is not None:
            decision = solve.decision(line)
            rules, state, _ = played(source_game(solve, blueprint), decision.line)
            return Position(
                source=solve,
                answered_by=solve.path.name,
                line=decision.line,
                board=board,
                decision=decision,
                kind="decision",
                street=decision.street,
                pot=rules.dead + sum(state.committed),
                seats=_seats(solve.seats, rules, state, decision.player),
                big_blind=blueprint.game.big_blind,
            )
        if chain.goes_on(line, board) is not None:
            return self._beyond(name, source, blueprint, line, board, goes_on=True)
        try:
            here = self._of_game(below, blueprint, line, board)
        except ValueError:
            return self._beyond(name, source, blueprint, line, board)
        if here.kind != "decision":
            return here
        note = "This street is not part of the solve: the blueprint answers. Solve it to carry the ranges on."
        return self._of_game(below, blueprint, line, board, note)

    def _beyond(
        self,
        name: str,
        source: SubgameBundle,
        blueprint: PreflopBundle,
        line: str,
        board: Cards,
        *,
        goes_on: bool = False,
    ) -> Position:
        """A line that follows a subgame: the next street of a solve to the river, or sizes that nobody knows."""
        game = source_game(source, blueprint)
        rules, state, over = played(game, line)
        if state.actor < 0 and not over and len(board) == PUBLIC_CARDS[state.street + 1]:
            line += Letter.DEAL
            rules, state, over = played(game, line)
        unsolved = state.actor >= 0
        if unsolved and _missing(state.street, board, line):
            raise Refusal(f"line {line!r}: the board needs {PUBLIC_CARDS[state.street]} cards")
        return Position(
            source=source,
            answered_by=name,
            line=line,
            board=board,
            decision=None,
            kind="unsolved" if unsolved else "end" if over else "deal",
            street=state.street,
            pot=rules.dead + sum(state.committed),
            seats=_seats(source.seats, rules, state, state.actor if unsolved else -1),
            big_blind=game.big_blind,
            cards_needed=0 if unsolved or over else PUBLIC_CARDS[state.street + 1] - len(board),
            note=None if not unsolved else GOES_ON if goes_on else UNSOLVED,
            goes_on=unsolved and goes_on,
        )

    def _of_spot(self, name: str, source: SpotBundle, line: str, board: Cards) -> Position:
        steps = source.steps(line)
        cards = board if len(board) else source.root_board
        try:
            decision = source.decision(line)
        except ValueError:
            decision = None
        last = steps[-1][0] if steps else source.decision("")
        street = last.street if decision is None else decision.street
        needed = 0 if decision is None else _missing(street, cards, line)
        here = decision or last
        stack = int(source.spot["stack"])
        seats = tuple(
            SeatModel(
                name=seat,
                stack=stack - int(here.committed[number]),
                committed=int(here.committed[number]),
                folded=False,
                acts=decision is not None and not needed and decision.player == number,
            )
            for number, seat in enumerate(source.seats)
        )
        return Position(
            source=source,
            answered_by=name,
            line=line,
            board=cards,
            decision=None if needed else decision,
            kind="end" if decision is None else "deal" if needed else "decision",
            street=street,
            pot=here.pot,
            seats=seats,
            big_blind=SPOT_BIG_BLIND,
            cards_needed=needed,
            note=None if decision else "The betting is over here, or it was not saved.",
        )

    def frequencies(self, name: str, source: Source, decision: Decision, board: Cards) -> list[float] | None:
        """How often each action is taken at a decision when its line is played; None where it never is."""
        public = board[: PUBLIC_CARDS[decision.street]]
        key = (name, decision.line, public.tobytes())
        if key not in self._frequencies:
            play = line_play(source, decision.line, public)
            self._frequencies[key] = play.frequencies.tolist() if play.reach.sum() > 0 else None
            while len(self._frequencies) > _REMEMBERED:
                self._frequencies.popitem(last=False)
        return self._frequencies[key]

    def actions(self, position: Position) -> list[ActionModel]:
        """The actions on offer, with their frequencies and where they lead."""
        decision = position.decision
        if decision is None:
            return []
        shares = self.frequencies(position.answered_by, position.source, decision, position.board)
        return self._actions(position.source, decision, shares)

    def _actions(self, source: Source, decision: Decision, shares: list[float] | None) -> list[ActionModel]:
        line = without_prefix(decision.line)
        return [
            ActionModel(
                label=label,
                token=token,
                to=chips(token) or None,
                frequency=None if shares is None else round(shares[number], 6),
                next=line + token,
                leads_to=self._leads_to(source, line + token, decision.street),
            )
            for number, (label, token) in enumerate(zip(decision.actions, decision.tokens))
        ]

    def _leads_to(self, source: Source, line: str, street: int) -> Literal["decision", "deal", "end"]:
        try:
            return "decision" if source.decision(line).street == street else "deal"
        except ValueError:
            if not isinstance(source, SubgameBundle):
                return "end"
        _, _, over = played(source_game(source, self.catalogue.below(source)), line)
        return "end" if over else "deal"

    def history(self, name: str, position: Position) -> list[StepModel]:
        """The decisions on the way to a position, each with all its actions."""
        line, board = position.line, position.board
        tellers = self._tellers(name, line, board)
        steps, here = [], ""
        for token in tokens(line):
            if token != Letter.DEAL:
                steps.append(self._step(tellers, here, token, board))
            here += token
        return steps

    def _tellers(self, name: str, line: str, board: Cards) -> list[tuple[str, Source]]:
        """Who tells the steps of a line: the solves of its streets, then the blueprint below them."""
        first = self.catalogue.open(name)
        if not isinstance(first, SubgameBundle):
            return [(name, first)]
        solves = Chain(self.catalogue, first).along(line, board) or [first]
        blueprint = self.catalogue.below(first)
        return [*((solve.path.name, solve) for solve in solves), (blueprint.path.name, blueprint)]

    def _step(self, tellers: list[tuple[str, Source]], line: str, token: str, board: Cards) -> StepModel:
        """A step, told by the first who knows it; else only the action that was taken."""
        for known, source in tellers:
            try:
                decision = source.decision(line)
            except ValueError:
                continue
            if token in decision.tokens:
                shares = self.frequencies(known, source, decision, board)
                return StepModel(
                    line=without_prefix(decision.line),
                    board=format_cards(board[: PUBLIC_CARDS[decision.street]]),
                    street=STREETS[decision.street],
                    seat=source.seats[decision.player],
                    pot=decision.pot,
                    taken=decision.tokens.index(token),
                    actions=self._actions(source, decision, shares),
                    answered_by=known,
                )
        solve = tellers[0][1]
        assert isinstance(solve, SubgameBundle)
        return self._unknown_step(solve, line, token, board)

    def _unknown_step(self, source: SubgameBundle, line: str, token: str, board: Cards) -> StepModel:
        """A step of an earlier street with a size that only the solve of that street knew."""
        rules, state, _ = played(source_game(source, self.catalogue.below(source)), line)
        size = chips(token) or None
        label = token_label(token)
        return StepModel(
            line=line,
            board=format_cards(board[: PUBLIC_CARDS[state.street]]),
            street=STREETS[state.street],
            seat=source.seats[state.actor],
            pot=rules.dead + sum(state.committed),
            taken=0,
            actions=[ActionModel(label=label, token=token, to=size, next=line + token, leads_to="decision")],
        )


def token_label(token: str) -> str:
    """Label of an action after the flop, as bundles write it.

    >>> token_label("x"), token_label("r900"), token_label("A")
    ('check', 'raise_900', 'all_in')
    """
    names = {"f": "fold", "x": "check", "c": "call", "A": "all_in"}
    return names.get(token) or f"{'bet' if token[0] == Letter.BET else 'raise'}_{chips(token)}"


def source_game(source: SubgameBundle, blueprint: PreflopBundle) -> GameConfig:
    """The game of a solved subgame: that of its blueprint, with the stacks that were played."""
    from dataclasses import replace

    stacks = source.solved.config.stacks
    return blueprint.game if stacks is None else replace(blueprint.game, stacks=tuple(stacks))


@cache
def _start(game: GameConfig) -> tuple[BettingRules, BettingState]:
    return game_start(game)


def played(game: GameConfig, line: str) -> tuple[BettingRules, BettingState, bool]:
    """Rules of a game, the state at the end of a line, and whether the hand is over there."""
    rules, start = _start(game)
    state = play_line(rules, start, line)[-1].state
    return rules, state, state.actor < 0 and (num_live(state) == 1 or betting_is_over(rules, state))


def _check_steps(source: PreflopBundle | Agent, line: str) -> None:
    """Refuse a line that the rules allow, but with an action that the source does not have."""
    here = ""
    for token in tokens(line):
        if token != Letter.DEAL:
            offered = source.decision(here).tokens
            if token not in offered:
                raise Refusal(
                    f"line {line!r}: {token} is not known at {here!r}; accepted: {', '.join(offered)}"
                )
        here += token


def _end_of_preflop(source: PreflopBundle) -> str:
    """Why a source has nothing to say after the flop."""
    if source.manifest.stage == "preflop_solve":
        return "The flop is checked down: a preflop solve ends here."
    return "This source answers before the flop only."


def _missing(street: int, board: Cards, line: str) -> int:
    """Cards that must be dealt before anybody acts on a street; a board that does not fit the line is refused."""
    public = PUBLIC_CARDS[street]
    before = PUBLIC_CARDS[max(street - 1, 0)]
    if len(board) == public:
        return 0
    if len(board) == before or len(board) == 0:
        return public - len(board)
    wanted = " or ".join(str(count) for count in sorted({before, public}))
    raise Refusal(f"board {format_cards(board)!r} has {len(board)} cards; line {line!r} needs {wanted}")


def _seats(
    names: tuple[str, ...], rules: BettingRules, state: BettingState, acting: int
) -> tuple[SeatModel, ...]:
    """The seats, of which one may be acting (-1: none)."""
    return tuple(
        SeatModel(
            name=name,
            stack=rules.stacks[number] - state.committed[number],
            committed=state.committed[number],
            folded=bool(state.folded >> number & 1),
            acts=number == acting,
        )
        for number, name in enumerate(names)
    )
