"""The flops of a tier, on which a blueprint solves again from a street on: one task per flop, kept in the store."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.bundle import Bundle
from artifacts.bundle_store import BundleStore
from artifacts.format.array_pack import pack_arrays, unpack_arrays
from pipelines.run.cluster import Cluster, OnDemand, unlocked
from pipelines.run.code_version import code_version
from pipelines.run.engine import stage_key
from pipelines.training.evaluation_boards import EvaluationBoards
from solver.betting.public_tree import NodeKind
from solver.betting.tree_text import preflop_key
from solver.blueprint.evaluation import Evaluation
from solver.blueprint.flop_values import FlopBoards, Response
from solver.blueprint.strategy import Blueprint
from solver.subgame.resolved_flop import (
    KnownRows,
    ResolvedGame,
    StayOut,
    known_rows,
    line_gifts,
    resolved_values,
    stay_out_values,
)

Floats = NDArray[np.float64]
STAGE = "resolved_flop"


@dataclass(frozen=True)
class Resolving:
    """How a blueprint solves again.

    Attributes
    ----------
    street
        From which street on, 0 flop .. 2 river.
    iterations
        Of each solve.
    safety
        ``unsafe``, ``resolve`` or ``reach``: the opponent may stay out for what the blueprint is worth to it, with
        ``reach`` for what it gave up before the flop besides.
    """

    street: int
    iterations: int
    safety: str = "unsafe"


@dataclass(frozen=True, eq=False)
class _Shared:
    game: ResolvedGame
    responses: tuple[Response, ...]


#: A flop, what is played before the first street that is solved again, and what staying out is worth.
_Item = tuple[FlopBoards, KnownRows, StayOut | None]


def _solve_flop(item: _Item, shared: _Shared) -> Floats:
    flop, known, stay_out = item
    # What Ray delivers is read-only, for which the kernels would be compiled once more.
    game = replace(shared.game, reach=copy.deepcopy(shared.game.reach))
    rows = {key: unlocked(array) for key, array in known.items()}
    worth = None if stay_out is None else [unlocked(values) for values in stay_out]
    return resolved_values(game, flop.copy(), rows, shared.responses, worth)


def given_up(bundle: BlueprintBundle, blueprint: Blueprint) -> Floats:
    """Chips by which an action before the flop is behind a hand's best one, ``[preflop node, 169]``.

    By the bundle's own EVs, which are means over all flops; 0 where one is missing.
    """
    tree, found = blueprint.game.preflop.tree, np.zeros_like(blueprint.preflop)
    for node in np.flatnonzero(tree.kind == NodeKind.DECISION):
        worth = bundle.preflop(preflop_key(tree, int(node))).ev
        best = np.where(np.isnan(worth), -np.inf, worth).max(axis=1, keepdims=True)
        found[tree.children_of(int(node))] = np.nan_to_num(best - worth, nan=0.0, posinf=0.0, neginf=0.0).T
    return found


def flop_key(bundle: Bundle, flop: FlopBoards, resolving: Resolving) -> str:
    """Content address of a flop that was solved again."""
    config = {**vars(resolving), "boards": flop.boards.tolist(), "weights": flop.weights.tolist()}
    return stage_key(STAGE, code_version(_solve_flop), config, {"export": bundle.key})


def resolved_flop_values(
    bundle: BlueprintBundle,
    evaluation: Evaluation,
    boards: EvaluationBoards,
    resolving: Resolving,
    store: BundleStore,
    cluster: Callable[[], Cluster],
    progress: Callable[[int, int], None],
) -> Floats:
    """What the flop lines are worth against a blueprint that solves again, ``[flop, seat, response, line, class]``.

    Flops that were solved before are read from the store.
    """
    blueprint = evaluation.blueprint
    game = ResolvedGame(
        blueprint.game.tree,
        blueprint.pots,
        (evaluation.reach[0], evaluation.reach[1]),
        resolving.iterations,
    )
    keys = [flop_key(bundle, flop, resolving) for flop in boards.flops]
    waiting = [k for k, key in enumerate(keys) if not store.has(STAGE, key)]
    done = len(keys) - len(waiting)
    if waiting:
        gifts = None
        if resolving.safety == "reach":
            gifts = line_gifts(blueprint.game, given_up(bundle, blueprint))

        def task(position: int) -> _Item:
            flop, street = boards.flops[waiting[position]], resolving.street
            stay_out = None
            if resolving.safety != "unsafe":
                stay_out = stay_out_values(blueprint, flop, street, gifts)
            return flop, known_rows(blueprint, flop, street), stay_out

        shared = _Shared(game, tuple(evaluation.responses))
        for position, values in cluster().stream(_solve_flop, OnDemand(len(waiting), task), shared=shared):
            number = waiting[position]
            store.commit(
                pack_arrays("values", {"values": values}),
                stage=STAGE,
                key=keys[number],
                code=code_version(_solve_flop),
                config=vars(resolving),
                inputs={"export": bundle.key},
                metrics={"boards": len(boards.flops[number].boards)},
            )
            done += 1
            progress(done, len(keys))
    return np.stack([unpack_arrays(store.open(STAGE, key), "values")["values"] for key in keys])
