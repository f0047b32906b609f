"""Blueprints at a table: they understand any legal size, and may solve the current street again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS
from solver.betting.lines import FLOP, PUBLIC_CARDS, STREETS, Letter, street_of, tokens
from solver.betting.played_lines import token_action
from solver.betting.rules import Action
from solver.blueprint.strategy import Blueprint, BlueprintNode
from solver.match.table import Table, last_token
from solver.strategy import Play
from solver.subgame.config import SubgameConfig
from solver.subgame.hand_solver import HandSolver
from solver.subgame.translation import Choice, Reading, TranslatedBlueprint, state_choice

Floats = NDArray[np.float64]


class BlueprintPlayer:
    """A blueprint that takes sizes which it does not know for the nearest ones that it does (`translation`)."""

    def __init__(self, table: Table, blueprint: Blueprint) -> None:
        self.table, self.blueprint = table, blueprint
        self.translated = TranslatedBlueprint(blueprint)
        self._readings: dict[str, tuple[Reading, ...]] = {"": self.translated.start()}
        self._menus: dict[str, tuple[tuple[str, ...], list[tuple[BlueprintNode, float, Floats]]]] = {}
        self._board = b""
        self._known: dict[BlueprintNode, Floats] = {}

    def play(self, line: str, board: NDArray[np.uint8]) -> Play:
        """See `solver.strategy.TableStrategy`."""
        actions, mixture = self._menu(line)
        probabilities = np.zeros((len(actions), NUM_COMBOS))
        if not mixture:
            probabilities[0] = 1.0
        for place, weight, stands_for in mixture:
            probabilities += weight * (stands_for.T @ self._probabilities(place, board))
        return Play(actions, probabilities)

    def readings(self, line: str) -> tuple[Reading, ...]:
        """The lines of the blueprint that a real line is taken for."""
        if line not in self._readings:
            before, token = last_token(line)
            here = self.readings(before)
            if token == Letter.DEAL:
                found = self.translated.deal(here)
            else:
                rules, state = self.table.rules, self.table.state(before)
                action, to = token_action(rules, state, token, line)
                found = self.translated.follow(here, state_choice(rules, state, action, to))
            self._readings[line] = found
        return self._readings[line]

    def _menu(self, line: str) -> tuple[tuple[str, ...], list[tuple[BlueprintNode, float, Floats]]]:
        """Tokens that are played at a line; places of the blueprint, their weights, and what stands for what."""
        if line not in self._menus:
            heard = [reading for reading in self.readings(line) if reading.place.player >= 0]
            named = [
                [self._token(line, choice) for choice in self.translated.choices(reading.place)]
                for reading in heard
            ]
            actions = tuple(dict.fromkeys(token for names in named for token in names))
            total = sum(reading.weight for reading in heard)
            mixture = []
            for reading, names in zip(heard, named):
                stands_for = np.zeros((len(names), len(actions)))
                stands_for[np.arange(len(names)), [actions.index(token) for token in names]] = 1.0
                mixture.append((reading.place, reading.weight / total, stands_for))
            self._menus[line] = actions or (self.table.passive(line),), mixture
        return self._menus[line]

    def _token(self, line: str, choice: Choice) -> str:
        """An action of the blueprint as it is played at a real line."""
        if choice.action == Action.FOLD and self.table.to_call(line) > 0:
            return Letter.FOLD.value
        token = None
        if choice.action == Action.ALLIN:
            token = self.table.raise_token(line, float("1e9"))
        elif choice.action in (Action.BET, Action.RAISE):
            token = self.table.raise_token(line, choice.size)
        return token or self.table.passive(line)

    def _probabilities(self, place: BlueprintNode, board: NDArray[np.uint8]) -> Floats:
        if board.tobytes() != self._board:
            self._board, self._known = board.tobytes(), {}
        if place not in self._known:
            self._known[place] = self.blueprint.probabilities(place, board)
        return self._known[place]


class ResolvingPlayer:
    """A blueprint that solves each street again, from some street on, when it comes to act there.

    Parameters
    ----------
    first_street
        Street from which on it solves (1 flop .. 3 river).
    config
        How it solves. With a number of iterations and no time limit its play depends on nothing but the hand.
    """

    def __init__(self, table: Table, blueprint: Blueprint, first_street: int, config: SubgameConfig) -> None:
        if not FLOP <= first_street < len(STREETS):
            raise ValueError(f"street {first_street}: accepted are 1 (flop) to 3 (river)")
        self.table, self.blueprint, self.first_street, self.config = table, blueprint, first_street, config
        self.plain = BlueprintPlayer(table, blueprint)
        self._hand: HandSolver | None = None
        self._seat = -1

    def play(self, line: str, board: NDArray[np.uint8]) -> Play:
        """See `solver.strategy.TableStrategy`."""
        if street_of(line) < self.first_street:
            return self.plain.play(line, board)
        solved = self._at(line, board).solution
        actions, probabilities = tuple(solved.actions(line)), np.nan_to_num(solved.strategy(line)).copy()
        # Hands that the solve left out, because they almost never get there, check or call.
        total = probabilities.sum(axis=0)
        probabilities[:, total > 0] /= total[total > 0]
        probabilities[actions.index(self.table.passive(line)), total <= 0] = 1.0
        return Play(actions, probabilities)

    def _at(self, line: str, board: NDArray[np.uint8]) -> HandSolver:
        """The hand at a line, played from its start with every solve that the seat to act makes on the way."""
        seat, cards, hand = self.table.actor(line), board.tolist(), self._hand
        if (
            hand is None
            or seat != self._seat
            or not line.startswith(hand.line)
            or cards[: len(hand.board)] != list(hand.board)
        ):
            hand = HandSolver(self.blueprint, self.config)
        for token in tokens(line[len(hand.line) :]):
            if token == Letter.DEAL:
                street = street_of(hand.line) + 1
                hand.deal(cards[len(hand.board) : PUBLIC_CARDS[street]])
                continue
            if street_of(hand.line) >= self.first_street and self.table.actor(hand.line) == seat:
                _ = hand.solution
            hand.play(token)
        self._hand, self._seat = hand, seat
        return hand
