"""The solver's view of an exported blueprint: its game and strategy, reach and continuation values."""

from __future__ import annotations

from typing import Any

import numpy as np
from omegaconf import OmegaConf

from artifacts.blueprint.bundle import BlueprintBundle
from pipelines.stages.export_tables import decision_actions
from pipelines.training.phase import game_from_config, read_game
from solver.betting.game import GameConfig
from solver.betting.lines import FLOP, STREETS
from solver.blueprint.boards import SourceBuckets
from solver.blueprint.evaluation import Blueprint
from solver.blueprint.plan import LanePlan
from solver.blueprint.pot_types import pot_types
from solver.blueprint.queries import BlueprintQueries
from solver.blueprint.tables import TableLayout


def exported_game(bundle: BlueprintBundle) -> GameConfig:
    """The game that a blueprint was trained for."""
    return game_from_config(_config(bundle)["game"])


def exported_blueprint(bundle: BlueprintBundle) -> Blueprint:
    """The strategy as trained, with everything the solver needs to play and to evaluate it."""
    game = read_game(exported_game(bundle), bundle)
    preflop = game.uniform()
    tree = game.preflop.tree
    for line in bundle.lines("preflop"):
        node = tree.node_at(line)
        preflop[tree.children_of(node)] = bundle.preflop(line).raw_probability.T
    pots = pot_types(game, _config(bundle)["training"]["pot_types"])
    rows = [bundle[f"postflop_{name}"]["probability"] for name in STREETS[FLOP:]]
    flop, turn, river = (part.shape[1] for part in rows)
    textures = bundle.flop_textures()
    num_textures = 1 if textures is None else int(textures.max()) + 1
    layout = TableLayout(LanePlan.build(game.tree, pots.templates), (flop, turn, river), num_textures)
    table = np.zeros(layout.size, dtype=np.float32)
    for street, part in enumerate(rows):
        start = 0
        for texture in range(num_textures):
            for kind, root in enumerate(pots.templates):
                nodes = decision_actions(game.tree, root, street)
                here = part[start : start + len(nodes)]
                layout.fill(table, kind, street, here[np.argsort(nodes)], texture)
                start += len(nodes)
    return Blueprint(game, preflop, layout, table, SourceBuckets(bundle, layout.num_buckets), pots)


def blueprint_queries(bundle: BlueprintBundle) -> BlueprintQueries:
    """Reach and continuation values of an exported blueprint."""
    return BlueprintQueries(exported_blueprint(bundle), bundle.flop_textures())


def _config(bundle: BlueprintBundle) -> dict[str, Any]:
    return dict(OmegaConf.to_container(OmegaConf.create(bundle.text("config.yaml"))))
