"""A blueprint of three seats that needs no training."""

from __future__ import annotations

import numpy as np

from abstractions.buckets import BucketTables
from solver.betting.game import GameConfig, StreetSizes
from solver.multiplayer.blueprint import BoardColumns, MultiwayBlueprint
from solver.multiway.game import MultiwayGame
from solver.multiway.strategy import MultiwayStrategy
from solver.multiway.tables import normalised

BUCKETS = (4, 5, 6)
ROWS = {3: 1755, 4: 16_432, 5: 134_459}
GAME = GameConfig(
    stacks=(3000,) * 3,
    raise_sizes=("3", "a"),
    raise_cap=2,
    postflop=(StreetSizes("50%", None, "50%", None),) * 3,
    max_flop_players=3,
)
EVERYTHING = np.ones(1326)


def uniform_blueprint(config: GameConfig = GAME) -> MultiwayBlueprint:
    """Seats that take every action alike, with buckets by hand alone."""
    source = BucketTables(
        {
            cards: np.broadcast_to((np.arange(1326) * 7 % count).astype(np.uint16), (size, 1326))
            for (cards, size), count in zip(ROWS.items(), BUCKETS)
        }
    )
    game = MultiwayGame.build(config, buckets=BUCKETS)
    uniform = MultiwayStrategy(game, normalised(game, np.zeros(game.entries, np.float32)))
    return MultiwayBlueprint.of(uniform, BoardColumns(source, BUCKETS))
