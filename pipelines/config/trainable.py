"""What can be trained: a game that the checks of a configuration accept may still be too much for the trainer."""

from __future__ import annotations

from pipelines.config.schema import Config
from pipelines.run.errors import UserError
from solver.betting.game import GameConfig
from solver.betting.public_tree import NodeKind
from solver.betting.tree import game_tree


def heads_up_game(config: Config) -> GameConfig:
    """The game of two seats that the solvers play; more seats are refused, until they can be solved."""
    game = config.game.game_config()
    if game.num_seats != 2:
        raise UserError(f"game.stacks: {game.num_seats} seats; accepted: 2, more cannot be solved yet")
    return game


def check_trainable(config: Config) -> None:
    """Refuse a game that the trainer would refuse, before the stages that come first have been computed."""
    game = heads_up_game(config)
    try:
        tree = game_tree(game)
    except ValueError as error:
        raise UserError(f"game.{error}") from None
    if not (tree.kind == NodeKind.CHANCE).any():
        raise UserError("game.raise_sizes: no line sees a flop; poker-solver preflop solves such a game")
