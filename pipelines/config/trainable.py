"""What can be trained: a game that the checks of a configuration accept may still be too much for the trainer."""

from __future__ import annotations

from pipelines.config.schema import Config
from pipelines.run.errors import UserError
from solver.betting.game import GameConfig
from solver.betting.lines import PREFLOP, RIVER
from solver.betting.public_tree import NodeKind
from solver.betting.tree import game_tree
from solver.multiway.templates import check_templates


def heads_up_game(config: Config) -> GameConfig:
    """The game of two seats that the exact preflop solver plays."""
    game = config.game.game_config()
    if game.num_seats != 2:
        raise UserError(
            f"game.stacks: {game.num_seats} seats; accepted: 2, python -m pipelines.blueprint trains more"
        )
    return game


def is_multiway(config: Config) -> bool:
    """Whether a game has three or more seats."""
    return config.game.game_config().num_seats > 2


#: Buckets of a street that a game of several seats has at most, shared by all textures.
MOST_SHARED_BUCKETS = 500


def fitted_to_seats(config: Config) -> Config:
    """The configuration with an abstraction whose tables fit the seats.

    A game of three or more seats has a table for every pot type, so buckets for each texture would make its tables too
    large. There textures share their buckets: as many as all textures have, but no more than `MOST_SHARED_BUCKETS`.
    """
    abstraction = config.abstraction
    if not is_multiway(config) or config.solver.postflop != "joint" or abstraction.scope != "texture":
        return config
    counts = {
        street: min(abstraction.textures * count, MOST_SHARED_BUCKETS)
        for street, count in abstraction.buckets.model_dump().items()
    }
    buckets = abstraction.buckets.model_copy(update=counts)
    return config.model_copy(
        update={"abstraction": abstraction.model_copy(update={"scope": "global", "buckets": buckets})}
    )


def check_trainable(config: Config) -> None:
    """Refuse a game that the trainer would refuse, before the stages that come first have been computed."""
    game = config.game.game_config()
    multiway = is_multiway(config)
    if not multiway and config.solver.postflop == "checkdown":
        raise UserError(
            "solver.postflop: checkdown is for three or more seats; poker-solver preflop solves such a game of two"
        )
    if not multiway and config.solver.has_plain_phase and config.lcfr.iterations == 0:
        raise UserError(
            "lcfr.iterations: 0 is not accepted: at least 1 with solver.preflop=self_play, "
            "which is learned in that phase; solver.preflop=guarded and solver.opponent=abstract do without"
        )
    try:
        tree = game_tree(game, last_street=PREFLOP if multiway else RIVER)
        if multiway and config.solver.postflop == "joint":
            check_templates(game, tree)
    except ValueError as error:
        raise UserError(f"game.{error}") from None
    if not multiway and not (tree.kind == NodeKind.CHANCE).any():
        raise UserError("game.raise_sizes: no line sees a flop; poker-solver preflop solves such a game")
