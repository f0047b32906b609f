"""What the stages of a blueprint will cost, before any of them has been timed.

Rough core-seconds (wall time times cores), fitted to runs of the presets on 2 cores with compiled kernels. Once
a stage has been computed, `pipelines.run.engine.Costs` knows better.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from pipelines.config.schema import Config
from pipelines.config.training import PhaseConfig
from pipelines.training.evaluation_boards import TIERS
from solver.betting.game import GameConfig
from solver.betting.lines import PREFLOP
from solver.betting.tree import game_tree

_GIGABYTE = 1e9
#: Of a training stage, before its first iteration and after its last.
_START = 6.0
#: Of one board in a sweep of both players, and of each node after the flop on it.
_SWEEP, _SWEEP_NODE = 0.012, 1.3e-6
#: Hosts that own whole flop lines wait for the longest.
_WAITING_FOR_LINES = 1.4
#: Of one board in an evaluation, and of each node after the flop on it.
_RESPONSE, _RESPONSE_NODE = 0.007, 2.9e-6
#: Of collecting and saving the tables when exploitability is measured, per gigabyte.
_SAVING = 60.0


def core_seconds(stage: str, config: Config) -> float | None:
    """Expected cost of a stage of `pipelines.blueprint`; None for a stage that is not known here."""
    estimate = _STAGES.get(stage)
    return None if estimate is None else estimate(config)


def _buckets(config: Config) -> float:
    """The features of all boards twice; clustering and assignment by the number of buckets or of textures."""
    abstraction = config.abstraction
    if abstraction.boards == "medoids":
        return 20.0
    if abstraction.scope == "texture":
        return 290.0 + 0.4 * abstraction.textures
    return 100.0 + 0.05 * sum(abstraction.buckets.model_dump().values())


def _bucket_equity(config: Config) -> float:
    """Hand against hand over all run-outs of all flops and turns, and all rivers."""
    if config.abstraction.boards == "medoids":
        return 10.0
    return 160.0 if config.abstraction.scope == "texture" else 80.0


def _training(config: Config, phase: PhaseConfig) -> float:
    """Sweeps of the boards of all iterations, and measurements on the way; no more than the budget."""
    nodes = _nodes(config)
    by_texture = config.abstraction.scope == "texture"
    sweep = (_SWEEP + _SWEEP_NODE * nodes) * (1.0 if by_texture else _WAITING_FOR_LINES)
    boards = config.solver.batch or _medoids(config)
    owners = config.abstraction.textures if by_texture else 1
    # Regrets and averages, 4 bytes each; nearly all of them belong to the river.
    tables = 8 * nodes * owners * config.abstraction.buckets.river / _GIGABYTE
    measurement = _evaluation(config, config.evaluate.checkpoint_tier) + _SAVING * tables
    cost = (
        _START + phase.iterations * boards * sweep + min(phase.measurements, phase.iterations) * measurement
    )
    budget = config.solver.max_core_hours
    return cost if budget is None else min(cost, _START + 3600 * budget)


def _evaluate(config: Config) -> float:
    """The final tier raw and cleaned, the split by street at twice the price, and the medoid game."""
    final, street = (
        _evaluation(config, tier) for tier in (config.evaluate.final_tier, config.evaluate.street_tier)
    )
    exact = config.evaluate.medoids and config.abstraction.boards != "medoids"
    return _START + 1.7 * final + 2 * street + exact * _evaluation(config, "medoids")


def _evaluation(config: Config, tier: str) -> float:
    small_game = tier == "medoids" or config.abstraction.boards == "medoids"
    boards = _medoids(config) if small_game else TIERS[tier].boards
    return boards * (_RESPONSE + _RESPONSE_NODE * _nodes(config))


def _export(config: Config) -> float:
    """Mostly bytes to write."""
    return 30.0 + 0.3 * config.abstraction.textures if config.abstraction.scope == "texture" else 5.0


def _medoids(config: Config) -> int:
    """Boards of the medoid game."""
    abstraction = config.abstraction
    turns, rivers = (
        most if count == "all" else count
        for count, most in ((abstraction.turn_transitions, 49), (abstraction.river_transitions, 48))
    )
    return abstraction.textures * int(turns) * int(rivers)


def _nodes(config: Config) -> int:
    """Nodes of the game after the flop."""
    return _count_nodes(config.game.game_config())


@cache
def _count_nodes(game: GameConfig) -> int:
    return int(np.count_nonzero(game_tree(game).street > PREFLOP))


_STAGES: dict[str, Callable[[Config], float]] = {
    "flops": lambda _: 5.0,
    "preflop_equity": lambda _: 10.0,
    "textures": lambda _: 30.0,
    "buckets": _buckets,
    "bucket_equity": _bucket_equity,
    "lcfr": lambda config: _training(config, config.lcfr),
    "dcfr": lambda config: _training(config, config.dcfr),
    "evaluate": _evaluate,
    "export": _export,
}
