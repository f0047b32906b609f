"""What the stages of a blueprint will cost, before any of them has been computed.

Rough core-seconds (wall time times cores), fitted to runs of the presets on 2 cores with compiled kernels, and bytes on
disk, counted from the sizes of the tables. Once a stage has been computed, `pipelines.run.costs` knows better.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS
from abstractions.features.rivers import LIVE_HANDS
from pipelines.config.schema import Config
from pipelines.config.trainable import is_multiway
from pipelines.config.training import PhaseConfig
from pipelines.run.progress import StageDisk
from pipelines.training.evaluation_boards import TIERS, swept_boards
from solver.betting.game import GameConfig
from solver.betting.lines import FLOP, PREFLOP, STREETS
from solver.betting.public_tree import NodeKind
from solver.betting.tree import game_tree
from solver.multiway.game import MultiwayGame

T = TypeVar("T")
_GIGABYTE = 1e9
#: Of a training stage, before its first iteration and after its last.
_START = 6.0
#: Of one board in a sweep of both players, and of each node after the flop on it.
_SWEEP, _SWEEP_NODE = 0.012, 1.3e-6
#: So many times that where opponents respond.
_RESPONDING = 1.5
#: Hosts that own whole flop lines wait for the longest.
_WAITING_FOR_LINES = 1.4
#: Of one board in an evaluation, and of each node after the flop on it; and of one turn.
_RESPONSE, _RESPONSE_NODE = 0.001, 0.8e-6
_TURN, _TURN_NODE = 0.004, 1.5e-6
#: An evaluation of best responses alone costs so much of one that also plays the strategy.
_BEST_ALONE = 0.85
#: Of one board of the EVs before the flop, and of each node after the flop on it.
_VALUE, _VALUE_NODE = 0.003, 1.3e-6
#: Standard deviation by board of the worst EV first in, in big blinds, of 1 big blind, and how it grows with stacks.
_DEVIATION, _DEVIATION_POWER = 0.42, 0.2
#: Of collecting and saving the tables when exploitability is measured, per gigabyte.
_SAVING = 60.0
#: Canonical flops, turns and rivers.
_BOARDS = (1755, 16_432, 134_459)
#: Rows of the bucket tables of turn and river by number of textures, where each texture has rows of its own.
_ROWS_BY_TEXTURES = {
    1: (16_432, 134_459),
    8: (41_530, 555_912),
    20: (48_553, 762_218),
    50: (52_749, 893_671),
    200: (55_430, 984_372),
    500: (58_001, 1_071_376),
    1755: (63_193, 1_258_712),
}
#: Bytes of a centroid with its figures, and of the sampled hands in a bundle of buckets.
_CENTROID, _PICTURED = 230, 900_000
#: Bytes of the bundles whose size hardly varies.
_FLOPS, _EQUITY, _TEXTURES, _LINES = 57_000, 695_000, 4_950_000, 700_000
_EVALUATION, _VALUES = 2_000, 75_000
#: Of one traversal of a game of three or more seats: one deal for one seat, checked down and with play after the flop.
_TRAVERSAL, _TRAVERSAL_JOINT = 3.4e-6, 6.4e-5
#: Checkpoints at a time: the last two, the best one, and one being written.
_CHECKPOINTS = 4


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


def _opponent_buckets(config: Config) -> float:
    """The same without the river, which has most boards."""
    return 0.4 * _buckets(config)


def _bucket_equity(config: Config) -> float:
    """Hand against hand over all run-outs of all flops and turns, and all rivers."""
    if config.abstraction.boards == "medoids":
        return 10.0
    return 160.0 if config.abstraction.scope == "texture" else 80.0


def _training(config: Config, phase: PhaseConfig) -> float:
    """Sweeps of the boards of all iterations, and measurements on the way; no more than the budget."""
    plain = phase is config.lcfr
    nodes = _nodes(config)
    by_texture = config.abstraction.scope == "texture"
    sweep = (_SWEEP + _SWEEP_NODE * nodes) * (1.0 if by_texture else _WAITING_FOR_LINES)
    if config.solver.responds and not (plain and config.solver.has_plain_phase):
        sweep *= _RESPONDING
    boards = config.solver.batch or _medoids(config)
    owners = config.abstraction.textures if by_texture else 1
    # Regrets and averages, 4 bytes each; nearly all of them belong to the river.
    tables = 8 * nodes * owners * config.abstraction.buckets.river / _GIGABYTE
    measurement = _BEST_ALONE * _evaluation(config, config.evaluate.checkpoint_tier) + _SAVING * tables
    cost = (
        _START + phase.iterations * boards * sweep + min(phase.measurements, phase.iterations) * measurement
    )
    budget = config.solver.max_core_hours
    return cost if budget is None else min(cost, _START + 3600 * budget)


def _evaluate(config: Config) -> float:
    """The final tier raw and cleaned, the split by street where it needs another tier, and the medoid game."""
    final, street = (
        _evaluation(config, tier) for tier in (config.evaluate.final_tier, config.evaluate.street_tier)
    )
    other = config.evaluate.street_tier != config.evaluate.final_tier
    exact = config.evaluate.medoids and config.abstraction.boards != "medoids"
    return _START + (1 + _BEST_ALONE) * final + other * street + exact * _evaluation(config, "medoids")


def _preflop_ev(config: Config) -> float:
    """Boards until the error is small enough: deeper stacks need more."""
    if config.abstraction.boards == "medoids":
        boards = float(_medoids(config))
    else:
        game = config.game.game_config()
        deviation = _DEVIATION * (min(game.stacks) / game.big_blind) ** _DEVIATION_POWER
        wanted = 1.1 * (deviation / config.evaluate.ev_error) ** 2
        boards = min(float(config.evaluate.ev_max_boards), max(wanted, 1024.0))
    return _START + boards * (_VALUE + _VALUE_NODE * _nodes(config))


def _evaluation(config: Config, tier: str) -> float:
    small_game = tier == "medoids" or config.abstraction.boards == "medoids"
    if small_game:
        boards, rivers = _medoids(config), _transitions(config)[1]
    else:
        boards, rivers = swept_boards(TIERS[tier]), TIERS[tier].rivers
    turns = boards / rivers
    nodes = _nodes(config)
    return boards * (_RESPONSE + _RESPONSE_NODE * nodes) + turns * (_TURN + _TURN_NODE * nodes)


def _export(config: Config) -> float:
    """Mostly bytes to write."""
    return 30.0 + 0.3 * config.abstraction.textures if config.abstraction.scope == "texture" else 5.0


def _medoids(config: Config) -> int:
    """Boards of the medoid game."""
    turns, rivers = _transitions(config)
    return config.abstraction.textures * turns * rivers


def _transitions(config: Config) -> tuple[int, int]:
    """Turns of a typical flop, and rivers of such a turn."""
    turns, rivers = config.abstraction.turn_transitions, config.abstraction.river_transitions
    return 49 if turns == "all" else turns, 48 if rivers == "all" else rivers


def _nodes(config: Config) -> int:
    """Nodes of the game after the flop."""
    return _count_nodes(config.game.game_config())


@cache
def _count_nodes(game: GameConfig) -> int:
    return int(np.count_nonzero(game_tree(game).street > PREFLOP))


def disk_bytes(stage: str, config: Config) -> StageDisk | None:
    """What a stage of `pipelines.blueprint` is expected to write; None for a stage that is not known here."""
    estimate = _DISK.get(stage)
    return None if estimate is None else estimate(config)


def _buckets_disk(config: Config) -> StageDisk:
    """A bucket for every hand on every board, first in scratch files; beside them a table of all rivers."""
    tables = 2 * NUM_COMBOS * _bucket_rows(config)
    centroids = _CENTROID * _owners(config) * sum(_buckets_by_street(config))
    return StageDisk(tables + centroids + _PICTURED, tables + _river_table(config.abstraction.features))


def _opponent_buckets_disk(config: Config) -> StageDisk:
    """A bucket for every hand on every flop and turn, first in scratch files; beside them a table of all rivers."""
    counts = config.abstraction.seen_by_opponents or (0, 0)
    flops, turns, _ = _rows_by_street(config)
    tables = 2 * NUM_COMBOS * (flops + turns)
    centroids = _CENTROID * _owners(config) * sum(counts)
    return StageDisk(tables + centroids, tables + _river_table(config.abstraction.features))


def _bucket_equity_disk(config: Config) -> StageDisk:
    """Equity (4 bytes) and weight (8) of every pair of buckets, and a scratch table of all rivers."""
    pairs = _owners(config) * sum(count**2 for count in _buckets_by_street(config))
    return StageDisk(12 * pairs, _river_table("ehs"))


def _training_disk(config: Config, phase: PhaseConfig, *, tables_kept: int) -> StageDisk:
    """Regrets and averages, 4 bytes each, in every checkpoint; the bundle keeps both tables or one.

    The regrets of opponents, on flop and turn, are kept where both tables are.
    """
    table = 4.0 * _owners(config) * _action_buckets(config)
    opponents = 4.0 * _owners(config) * _opponent_entries(config)
    seconds = _training(config, phase)
    saves = min(phase.measurements, phase.iterations) + seconds // (60 * config.solver.checkpoint_minutes)
    kept = tables_kept * table + (opponents if tables_kept == 2 else 0.0)
    return StageDisk(kept, min(saves, _CHECKPOINTS) * (2 * table + opponents))


def _export_disk(config: Config) -> StageDisk:
    """The strategy, and a copy of the abstraction behind it."""
    strategy = _training_disk(config, config.dcfr, tables_kept=1).bundle
    copied = _buckets_disk(config).bundle - _PICTURED + _bucket_equity_disk(config).bundle
    return StageDisk(strategy + copied + _TEXTURES + _EQUITY + _LINES, 0)


def _multiway_export_disk(config: Config) -> StageDisk:
    """The strategy with its lines, and a copy of the abstraction where the game after the flop is trained along."""
    joint = config.solver.postflop == "joint"
    copied = _buckets_disk(config).bundle - _PICTURED + _TEXTURES if joint else 0.0
    return StageDisk(3 * _multiway_table(config) + copied, 0)


def _river_table(features: str) -> float:
    """The scratch table of all rivers that features need: equities of all combos, or the order of live hands."""
    return 2.0 * _BOARDS[2] * (NUM_COMBOS if features == "emd" else LIVE_HANDS)


def _bucket_rows(config: Config) -> float:
    """Rows of the bucket tables of all streets."""
    return float(_rows_by_street(config).sum())


def _rows_by_street(config: Config) -> NDArray[np.float64]:
    """Rows of the bucket tables of flop, turn and river."""
    abstraction = config.abstraction
    rows = np.array(_BOARDS, dtype=float)
    if abstraction.scope == "texture":
        known = np.log(list(_ROWS_BY_TEXTURES))
        for street, counts in enumerate(zip(*_ROWS_BY_TEXTURES.values()), start=1):
            rows[street] = np.interp(np.log(abstraction.textures), known, counts)
    if abstraction.boards == "medoids":
        turns, rivers = _transitions(config)
        typical = abstraction.textures * np.array([1, turns, turns * rivers])
        return np.minimum(typical, _BOARDS) * rows / _BOARDS
    return rows


def _owners(config: Config) -> int:
    """Textures that have buckets and tables of their own."""
    return config.abstraction.textures if config.abstraction.scope == "texture" else 1


def _buckets_by_street(config: Config) -> list[int]:
    return [getattr(config.abstraction.buckets, street) for street in STREETS[FLOP:]]


def _action_buckets(config: Config) -> int:
    """Entries of a table: actions after the flop times buckets of their street."""
    actions = _count_actions(config.game.game_config())
    return sum(count * buckets for count, buckets in zip(actions, _buckets_by_street(config)))


def _opponent_entries(config: Config) -> int:
    """Entries of the opponents' table: actions on flop and turn times the buckets that they see there."""
    if not config.solver.responds:
        return 0
    flop, turn, _ = _count_actions(config.game.game_config())
    own = config.abstraction.buckets
    seen_flop, seen_turn = config.abstraction.seen_by_opponents or (own.flop, own.turn)
    return flop * seen_flop + turn * seen_turn


@cache
def _count_actions(game: GameConfig) -> tuple[int, ...]:
    """Actions on flop, turn and river in all lines of a game."""
    tree = game_tree(game)
    parents = tree.parent[1:]
    streets = tree.street[parents[tree.kind[parents] == NodeKind.DECISION]]
    return tuple(np.bincount(streets, minlength=len(STREETS))[FLOP:].tolist())


def _multiway_rate(config: Config) -> float:
    """Core-seconds of one traversal: a deal for one seat."""
    return _TRAVERSAL_JOINT if config.solver.postflop == "joint" else _TRAVERSAL


def _multiway(config: Config) -> float:
    """Deals for every seat, and measurements on the way."""
    plan, seats = config.multiway, config.game.game_config().num_seats
    deals = plan.epochs * plan.streams * plan.deals
    return _START + deals * seats * _multiway_rate(config) + len(plan.marks()) * _gains(config)


def _gains(config: Config) -> float:
    """Two responders for each seat, deals to choose one on, and fresh deals for it and for the strategy."""
    plan, seats = config.multiway, config.game.game_config().num_seats
    deals = 2 * plan.responder_epochs * plan.responder_deals + 3 * plan.measured_deals
    return _START + deals * seats * _multiway_rate(config)


def _by_seats(multiway: Callable[[Config], T], heads_up: Callable[[Config], T]) -> Callable[[Config], T]:
    """An estimate that depends on the number of seats."""
    return lambda config: (multiway if is_multiway(config) else heads_up)(config)


@cache
def _multiway_entries(game: GameConfig, widths: tuple[int, int, int] | None) -> int:
    return MultiwayGame.build(game, buckets=widths).entries


def _multiway_table(config: Config) -> float:
    """Bytes of a table of a game of three or more seats."""
    widths = None
    if config.solver.postflop == "joint":
        flop, turn, river = (_owners(config) * count for count in _buckets_by_street(config))
        widths = flop, turn, river
    return 4.0 * _multiway_entries(config.game.game_config(), widths)


_STAGES: dict[str, Callable[[Config], float]] = {
    "flops": lambda _: 5.0,
    "preflop_equity": lambda _: 10.0,
    "textures": lambda _: 30.0,
    "buckets": _buckets,
    "opponent_buckets": _opponent_buckets,
    "bucket_equity": _bucket_equity,
    "lcfr": lambda config: _training(config, config.lcfr),
    "dcfr": lambda config: _training(config, config.dcfr),
    "multiway": _multiway,
    "evaluate": _by_seats(_gains, _evaluate),
    "preflop_ev": _preflop_ev,
    "export": _by_seats(lambda _: 20.0, _export),
}

_DISK: dict[str, Callable[[Config], StageDisk]] = {
    "flops": lambda _: StageDisk(_FLOPS, 0),
    "preflop_equity": lambda _: StageDisk(_EQUITY, 0),
    "textures": lambda _: StageDisk(_TEXTURES, _river_table("emd")),
    "buckets": _buckets_disk,
    "opponent_buckets": _opponent_buckets_disk,
    "bucket_equity": _bucket_equity_disk,
    "lcfr": lambda config: _training_disk(config, config.lcfr, tables_kept=2),
    "dcfr": lambda config: _training_disk(config, config.dcfr, tables_kept=1),
    "multiway": lambda config: StageDisk(_multiway_table(config), 3 * 2 * _multiway_table(config)),
    "evaluate": lambda _: StageDisk(_EVALUATION, 0),
    "preflop_ev": lambda _: StageDisk(_VALUES, 0),
    "export": _by_seats(_multiway_export_disk, _export_disk),
}
