"""A tiny trained blueprint, thin ranges and small menus, so that whole spots are solved exactly in a moment."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS, live_combos, parse_board
from abstractions.evaluator import evaluate_board
from abstractions.ranges import parse_range
from solver.betting.game import GameConfig, StreetSizes
from solver.blueprint.pot_types import pot_types
from solver.blueprint.strategy import Blueprint
from solver.blueprint.trainer import BlueprintTrainer
from solver.cfr.schedules import schedule
from solver.subgame.config import SubgameConfig
from solver.subgame.subgame import Subgame
from tests.solver.blueprint.small_games import flop_sampler, game_of

MENU = StreetSizes("75%", "a", "75%", "a")
GAME = GameConfig(stacks=(1500, 1500), raise_sizes=("2.5",), raise_cap=1, postflop=(MENU,) * 3)
FLOP, TURN, RIVER = "QsJh2h", "QsJh2h8d", "QsJh2h8d3c"
#: One size and a raise all-in: the menus of the game on every street.
PLAIN = SubgameConfig(sizes="75%", raises="a", raise_cap=1)
#: Ranges of the small blind and the big blind that leave every street something to play for.
THIN = ("AA,QJs,T9s,AhTh,KTs:0.5,77,Ah5h,A4s:0.6", "QQ:0.5,AJo:0.5,JTs,KhQh,98s,66:0.7,Kh9h,AcTc,AdTd,A5s")


class StrengthBuckets:
    """Hands by how strong they are on the river, or on average over all rivers of a turn; one bucket on the flop."""

    num_buckets = (1, 16, 24)

    def __init__(self) -> None:
        self._known: dict[bytes, NDArray[np.int64]] = {}

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:
        key = bytes(board)
        if key not in self._known:
            self._known[key] = (self._share(board) * self.num_buckets[len(board) - 3]).astype(np.int64)
        return self._known[key]

    def _share(self, board: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Share of the other hands that each hand beats, below 1."""
        if len(board) == 3:
            return np.zeros(NUM_COMBOS)
        if len(board) == 5:
            strength = evaluate_board(board)
            live = np.sort(strength[live_combos(board)])
            return np.searchsorted(live, strength) / (len(live) + 1)
        rivers = [card for card in range(52) if card not in board]
        shares = np.array([self._share(np.array([*board, river], dtype=np.uint8)) for river in rivers])
        alive = np.array([live_combos(np.array([river], dtype=np.uint8)) for river in rivers])
        return (shares * alive).sum(axis=0) / alive.sum(axis=0)


@cache
def blueprint(iterations: int = 60) -> Blueprint:
    """A blueprint of few buckets after little training."""
    game = game_of(GAME)
    trainer = BlueprintTrainer(game, pot_types(game), StrengthBuckets())
    trainer.begin_phase(schedule("lcfr"), flop_sampler())
    trainer.run(iterations)
    return trainer.blueprint()


def thin_ranges() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """`THIN` as weights."""
    return parse_range(THIN[0]), parse_range(THIN[1])


def spot(line: str, board: str, config: SubgameConfig = PLAIN) -> Subgame:
    """A spot with thin ranges."""
    return Subgame.build(blueprint(), line, board, config, ranges=thin_ranges())


class EveryHandOnEveryRiver:
    """A bucket for each hand on each river of a turn: no abstraction."""

    def __init__(self, turn: str) -> None:
        self.turn = parse_board(turn)
        self.num_buckets = (1, 1, NUM_COMBOS * 52)

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:
        if len(board) < 5:
            return np.zeros(NUM_COMBOS, dtype=np.int64)
        assert bytes(board[:4]) == bytes(self.turn)
        return np.arange(NUM_COMBOS) + NUM_COMBOS * int(board[4])


def random_ranges(board: str, count: int = 90) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two ranges of some hands each, drawn from all that a board leaves."""
    live = np.flatnonzero(live_combos(parse_board(board)))
    ranges = np.zeros((2, NUM_COMBOS))
    for seat in range(2):
        ranges[seat, np.random.default_rng(seat).choice(live, count, replace=False)] = 1.0
    return ranges[0], ranges[1]
