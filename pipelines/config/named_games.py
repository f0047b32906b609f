"""The games of `conf/game`, and which of them a game is."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

import conf
from solver.betting.game import GameConfig

_FOLDER = Path(conf.__file__).parent / "game"
#: The limit guards memory; it does not change the game.
_NO_RULE = ("node_limit",)
#: Keys of a configuration that a field has another name for.
_KEYS = {"postflop": "bet_sizes"}
#: A game that differs from every named one in more keys than this is called custom.
_MOST_CHANGES = 3


@cache
def named_games() -> dict[str, GameConfig]:
    """Games by the name of their file."""
    games = {}
    for file in sorted(_FOLDER.glob("*.yaml")):
        table: Any = OmegaConf.to_container(_read(file.stem))
        name = table.pop("name")
        games[str(name)] = GameConfig.from_mapping(table)
    return games


def _read(name: str) -> DictConfig:
    """A file merged over those that it starts from, as Hydra does it, without Hydra's second of start-up."""
    own = OmegaConf.load(_FOLDER / f"{name}.yaml")
    assert isinstance(own, DictConfig)
    merged = OmegaConf.create({})
    for part in own.pop("defaults", ["_self_"]):
        merged = OmegaConf.merge(merged, own if part == "_self_" else _read(part))
    return merged


def changed_keys(game: GameConfig, other: GameConfig) -> list[str]:
    """Keys of the configuration in which two games differ."""
    without_effect = (*_NO_RULE, "max_flop_players") if game.num_seats == other.num_seats == 2 else _NO_RULE
    names = [field.name for field in fields(GameConfig) if field.name not in without_effect]
    return [_KEYS.get(name, name) for name in names if getattr(game, name) != getattr(other, name)]


def game_name(game: GameConfig) -> str:
    """Name of a game; one that no file has gets the nearest name and the keys in which it differs.

    >>> from dataclasses import replace
    >>> game_name(named_games()["hu25"])
    'hu25'
    >>> game_name(replace(named_games()["hu25"], limp=False))
    'hu25 (changed: limp)'
    """
    changes = {name: changed_keys(game, named) for name, named in named_games().items()}
    nearest = min(changes, key=lambda name: len(changes[name]))
    if not changes[nearest]:
        return nearest
    if len(changes[nearest]) > _MOST_CHANGES:
        return "custom game"
    return f"{nearest} (changed: {', '.join(changes[nearest])})"


def game_title(game: GameConfig) -> str:
    """Name and stacks of a game.

    >>> game_title(named_games()["hu25"])
    'hu25, 25 bb'
    """
    return f"{game_name(game)}, {big_blinds(game.stacks, game.big_blind)}"


def big_blinds(stacks: tuple[int, ...], big_blind: int = 100) -> str:
    """Stacks in big blinds, all of them where they differ.

    >>> big_blinds((2500, 2500)), big_blinds((2500, 4050))
    ('25 bb', '25/40.5 bb')
    """
    sizes = [f"{stack / big_blind:g}" for stack in stacks]
    return f"{sizes[0] if len(set(sizes)) == 1 else '/'.join(sizes)} bb"


def game_data(game: GameConfig) -> dict[str, Any]:
    """Name and stacks of a game, for machines; stacks in chips and in big blinds."""
    return {
        "game": game_name(game),
        "stacks": list(game.stacks),
        "stacks_bb": [stack / game.big_blind for stack in game.stacks],
    }
