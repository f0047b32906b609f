"""Small games and random strategies for them, which tests of matches share."""

from __future__ import annotations

import numpy as np

from solver.betting.game import GameConfig, StreetSizes
from solver.blueprint.plan import LanePlan
from solver.blueprint.pot_types import pot_types
from solver.blueprint.strategy import Blueprint
from solver.blueprint.tables import TableLayout
from solver.preflop.probabilities import normalised
from tests.solver.blueprint.small_games import FewBuckets, game_of

#: Nobody can be all-in before the flop, so no made-up equity of `game_of` plays a part.
SHALLOW = GameConfig(
    stacks=(600, 600),
    raise_sizes=("2",),
    raise_cap=1,
    postflop=(StreetSizes("100%", None, "100%", None),) * 3,
)


def random_blueprint(seed: int, config: GameConfig = SHALLOW) -> Blueprint:
    """A strategy that takes every action with some probability."""
    game, rng, bucketing = game_of(config), np.random.default_rng(seed), FewBuckets()
    pots = pot_types(game)
    layout = TableLayout(LanePlan.build(game.tree, pots.templates), bucketing.num_buckets)
    table = (rng.random(layout.size) ** 2).astype(np.float32)
    preflop = normalised(game.preflop.tree, rng.random(game.uniform().shape))
    return Blueprint(game, preflop, layout, table, bucketing, pots)
