"""A game has the name of the file that says the same."""

from __future__ import annotations

from dataclasses import replace

from pipelines.config.composition import compose_config
from pipelines.config.named_games import game_data, game_name, game_title, named_games


def test_the_games_are_those_that_hydra_composes() -> None:
    assert sorted(named_games()) == ["hu100", "hu200", "hu25", "nine_max100", "six_max100", "three_max25"]
    for name, game in named_games().items():
        composed = compose_config([f"game={name}"]).game
        assert (composed.name, composed.game_config()) == (name, game)
        assert game_name(game) == name


def test_a_game_that_differs_says_in_what() -> None:
    game = compose_config(["+preset=coarse25"]).game.game_config()
    assert game_title(game) == "hu25 (changed: bet_sizes), 25 bb"
    deeper = replace(named_games()["hu100"], stacks=(5000, 6000), limp=False)
    assert game_title(deeper) == "hu100 (changed: stacks, limp), 50/60 bb"
    assert game_data(deeper)["stacks_bb"] == [50, 60]
    assert game_name(replace(deeper, raise_cap=2, rake=0.05)) == "custom game"
    assert game_name(replace(named_games()["hu25"], node_limit=1000)) == "hu25"
