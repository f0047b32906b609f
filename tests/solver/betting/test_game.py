"""One schema of a game: arguments, config tables and records of bundles are read by the same type."""

from __future__ import annotations

import dataclasses
import json
import pickle

import pytest

from solver.betting.game import GameConfig, StreetSizes
from solver.betting.tree import game_tree

GAME = GameConfig(
    stacks=(3000, 2000),
    antes=(10, 20),
    raise_sizes=("2.5", "3x,a"),
    postflop=(StreetSizes("50%", "2.5x", "100%", None, "25%"),) * 3,
    postflop_raise_cap=None,
    rake=0.05,
    rake_cap=40,
    no_flop_no_drop=True,
)


def test_the_record_of_a_bundle_reads_back_as_the_game() -> None:
    record = json.loads(json.dumps(dataclasses.asdict(GAME)))
    assert record["postflop"][0]["donk"] == "25%"
    assert GameConfig.from_mapping(record) == GAME


def test_a_record_from_before_a_key_existed_takes_its_default() -> None:
    record = dataclasses.asdict(GameConfig())
    for key in ("no_flop_no_drop", "over_limp_sizes", "small_blind_sizes", "node_limit"):
        del record[key]
    assert GameConfig.from_mapping(record) == GameConfig()


def test_a_game_is_a_value() -> None:
    same = dataclasses.replace(GAME)
    assert (same, hash(same)) == (GAME, hash(GAME))
    assert pickle.loads(pickle.dumps(GAME)) == GAME
    assert dataclasses.replace(GAME, rake=0.0) != GAME
    with pytest.raises(dataclasses.FrozenInstanceError):
        GAME.rake = 0.1  # type: ignore[misc]


def test_a_rake_written_as_a_whole_number_is_the_same_rake() -> None:
    assert json.dumps(dataclasses.asdict(GAME)) == json.dumps(
        dataclasses.asdict(dataclasses.replace(GAME, rake_cap=40.0))
    )


def test_no_flop_no_drop_takes_no_rake_from_a_fold_before_the_flop() -> None:
    tree = game_tree(GAME)
    assert tree.rake_of(tree.node_at("f")) == 0.0
    assert tree.rake_of(tree.node_at("cx/b115f")) > 0.0
    other = game_tree(dataclasses.replace(GAME, no_flop_no_drop=False))
    assert other.rake_of(other.node_at("f")) > 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stacks": (1000, -5)}, "stacks[1]: -5 is not a whole number from 0 to 100,000,000"),
        ({"stacks": "ab"}, "stacks: 'ab' is not a list"),
        ({"limp": 3}, "limp: 3 is not true or false"),
        ({"no_flop_no_drop": "no"}, "no_flop_no_drop: 'no' is not true or false"),
        ({"merging_threshold": "x"}, "merging_threshold: 'x' is not a number"),
        ({"rake_cap": float("nan")}, "rake_cap: nan is not a number of chips >= 0"),
        (
            {"small_blind_sizes": "3"},
            "small_blind_sizes: with two seats the small blind is always first in; accepted: raise_sizes",
        ),
        ({"over_limp_sizes": None}, "over_limp_sizes: None is not accepted: a menu such as"),
        ({"postflop_raise_cap": 1.5}, "postflop_raise_cap: 1.5 is not a whole number"),
    ],
)
def test_arguments_and_tables_are_refused_in_the_same_words(arguments: dict, message: str) -> None:
    said = []
    for make in (lambda: GameConfig(**arguments), lambda: GameConfig.from_mapping(arguments)):
        with pytest.raises(ValueError, match=r"^\S+: ") as error:
            make()
        said.append(str(error.value))
    assert said[0] == said[1]
    assert said[0].startswith(message)
    assert "\n" not in said[0]


def test_a_positional_argument_is_called_by_its_name() -> None:
    with pytest.raises(ValueError, match=r"^stacks\[0\]: -1 is not a whole number"):
        GameConfig((-1, 1000))


def test_menus_are_given_once() -> None:
    record = dataclasses.asdict(GAME) | {"bet_sizes": {"flop": {"bet": "50%"}}}
    with pytest.raises(ValueError, match="postflop: given beside bet_sizes"):
        GameConfig.from_mapping(record)
    with pytest.raises(ValueError, match="donk_sizes: '50%' is not a table of streets"):
        GameConfig.from_mapping({"bet_sizes": {"flop": {"bet": "50%"}}, "donk_sizes": "50%"})
