"""Follow a hand street by street, and solve the spot it is in.

    hand = HandSolver(blueprint, SubgameConfig(time_s=3.0))
    hand.play("b250").play("c").deal("QsJh2h").play("x")
    hand.solution.strategy()

Every street is a subgame of its own. Its ranges are what the blueprint leaves of all hands before the first street that
was solved, and what the solutions leave from there on. A size that the solved tree does not have is solved anew,
with that size in the tree.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import format_cards, parse_cards
from solver.betting.lines import FLOP, PUBLIC_CARDS, STREETS, Letter, tokens
from solver.betting.played_lines import PlayedStreet, play_line
from solver.betting.rules import act
from solver.betting.tree import game_start
from solver.blueprint.strategy import Blueprint
from solver.subgame.config import SubgameConfig
from solver.subgame.solve import Progress, SubgameSolver
from solver.subgame.solved_street import SolutionCache, SolvedStreet, content_key
from solver.subgame.subgame import Ranges, Subgame
from solver.subgame.translation import TranslatedBlueprint, state_choice

#: Iterations without which a solve that ran out of time is not kept.
MIN_KEPT = 20


def solve_street(
    blueprint: Blueprint,
    subgame: Subgame,
    config: SubgameConfig,
    *,
    blueprint_key: str | None = None,
    cache: SolutionCache | None = None,
    locks: Mapping[str, NDArray[np.float64]] | None = None,
    prepared: Callable[[SubgameSolver], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    measure: bool = False,
) -> tuple[SolvedStreet, bool]:
    """The solution of a subgame, and whether it was kept from an earlier solve.

    Parameters
    ----------
    blueprint_key, cache
        Identity of the blueprint, and where solved streets are kept; without both, nothing is kept.
    locks
        Strategies that are given, ``[action, 1326]`` by line of the street; negative entries leave a hand free.
    prepared
        Called before the first iteration, when it is known what the solve takes.
    progress, should_stop
        As in `solve_subgame`. A solve that was told to stop is not kept, and neither is one that ran out of time
        after a few iterations, as the first one of a new installation does.
    measure
        As in `SubgameSolver.run`.
    """
    started = time.perf_counter()
    key = None
    if cache is not None and blueprint_key is not None:
        key = content_key(blueprint_key, subgame, config, locks)
        known = cache.get(key)
        if known is not None:
            return known, True
    solver = SubgameSolver(blueprint, subgame, config, locks=locks)
    if prepared is not None:
        prepared(solver)
    solution = solver.run(started=started, progress=progress, should_stop=should_stop, measure=measure)
    solved = SolvedStreet.of(solution)
    finished = solved.reason != "stopped" and (solved.reason != "time" or solved.iterations >= MIN_KEPT)
    if cache is not None and key is not None and finished:
        cache.put(key, solved)
    return solved, False


class HandSolver:
    """A hand in progress.

    Parameters
    ----------
    blueprint
        What both play where nothing was solved.
    config
        How each street is solved.
    blueprint_key, cache
        Identity of the blueprint, and where solved streets are kept. Without them a hand remembers its own solves.
    progress, should_stop
        As in `solve_subgame`.
    """

    def __init__(
        self,
        blueprint: Blueprint,
        config: SubgameConfig | None = None,
        *,
        blueprint_key: str | None = None,
        cache: SolutionCache | None = None,
        progress: Callable[[Progress], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        self.blueprint, self.config = blueprint, config or SubgameConfig()
        self.blueprint_key, self.cache = blueprint_key, cache
        self.progress, self.should_stop = progress, should_stop
        game = blueprint.game.preflop.config
        self._rules, self._start = game_start(
            game if self.config.stacks is None else replace(game, stacks=self.config.stacks)
        )
        self.line = ""
        self.board: tuple[int, ...] = ()
        self._ranges: Ranges | None = None
        self._solved: SolvedStreet | None = None
        #: Whether the last solution came from the cache.
        self.cached = False

    @property
    def streets(self) -> list[PlayedStreet]:
        """The hand so far."""
        return play_line(self._rules, self._start, self.line)

    def play(self, token: str) -> HandSolver:
        """Take an action, with any legal size; returns the hand."""
        play_line(self._rules, self._start, self.line + token)
        self.line += token
        return self

    def deal(self, cards: str | Sequence[int] | NDArray[np.integer]) -> HandSolver:
        """Deal the next public cards; returns the hand."""
        dealt = parse_cards(cards) if isinstance(cards, str) else cards
        board = (*self.board, *(int(card) for card in dealt))
        play_line(self._rules, self._start, self.line + Letter.DEAL)
        street = self.line.count(Letter.DEAL) + 1
        if len(board) != PUBLIC_CARDS[street] or len(set(board)) != len(board):
            raise ValueError(
                f"cards {format_cards(list(dealt))!r}: the {STREETS[street]} needs "
                f"{PUBLIC_CARDS[street] - len(self.board)} that are not on the board {format_cards(list(self.board))!r}"
            )
        if street > FLOP:
            self._ranges = self._ranges_after_street()
        self.line += Letter.DEAL
        self.board = board
        self._solved = None
        return self

    @property
    def solution(self) -> SolvedStreet:
        """The solution of the current street; solved when it is first asked for, and when the hand leaves it."""
        if self._solved is None or not self._solved.reaches(self.line):
            self._solved = self._solve()
        elif self._solved.line != self.line:
            self._solved = replace(self._solved, line=self.line)
        return self._solved

    def _solve(self) -> SolvedStreet:
        line = self.line
        if self.streets[-1].state.actor < 0:
            # The betting of the street is over: solve its last decision.
            line = line.removesuffix(tokens(line)[-1])
        subgame = Subgame.build(self.blueprint, line, self.board, self.config, ranges=self._ranges)
        solved, self.cached = solve_street(
            self.blueprint,
            subgame,
            self.config,
            blueprint_key=self.blueprint_key,
            cache=self.cache,
            progress=self.progress,
            should_stop=self.should_stop,
        )
        return solved

    def _ranges_after_street(self) -> Ranges | None:
        """Both ranges at the end of the street, None for the blueprint's."""
        if self._solved is not None:
            solved = self._solved if self._solved.reaches(self.line) else self._solve()
            return solved.range(0, self.line), solved.range(1, self.line)
        if self._ranges is None:
            return None
        translated, streets = TranslatedBlueprint(self.blueprint), self.streets
        here = translated.deal(translated.readings_at(self._rules, streets[:-1]))
        board = np.array(self.board, dtype=np.uint8)
        ranges, state = [self._ranges[0].copy(), self._ranges[1].copy()], streets[-1].start
        for action, to in streets[-1].actions:
            choice = state_choice(self._rules, state, action, to)
            ranges[state.actor] *= translated.likelihood(here, choice, board)
            here = translated.follow(here, choice)
            state = act(self._rules, state, action, to)
        return ranges[0], ranges[1]
