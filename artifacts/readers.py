"""One reader for each bundle that later stages read: what the writing stage meant, as objects of the layers below."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.buckets import BoardRows, BucketTables, covered_rows
from abstractions.streets import BOARD_STREETS
from abstractions.textures import Textures
from abstractions.three_way import ThreeWayTable
from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.bundle import Bundle
from artifacts.format.array_pack import unpack_arrays
from solver.betting.game import GameConfig
from solver.blueprint.boards import STREET_CARDS, SourceBuckets
from solver.blueprint.pot_types import pot_types
from solver.blueprint.rows import RowKey, StreetRows, rows_by_key
from solver.blueprint.strategy import Blueprint, count_textures
from solver.blueprint.trunk import TrunkGame

Arrays = dict[str, NDArray[Any]]


def read_textures(bundle: Bundle) -> Textures:
    """Of stage `textures`."""
    flops, summary = bundle["textures"], bundle["texture_summary"]
    return Textures(
        texture_of_flop=flops["texture"],
        weights=summary["weight"],
        medoids=summary["medoid"],
        turn_transition=flops["turn_transition"],
        river_transition=flops["river_transition"],
        turn_counts=summary["turn_counts"],
        river_counts=summary["river_counts"],
    )


def read_bucket_tables(bundle: Bundle) -> BucketTables:
    """Buckets of all boards as plain arrays, which can be sent to other machines; of stage `buckets` or `export`."""
    keys = {cards: bundle.bucket_rows(cards) for cards in STREET_CARDS}
    found = {cards: key for cards, key in keys.items() if key is not None}
    return BucketTables(
        {cards: bundle.bucket_table(cards) for cards in STREET_CARDS},
        found if len(found) == len(keys) else None,
        bundle.flop_textures(),
    )


def read_bucket_counts(bundle: Bundle) -> tuple[int, int, int]:
    """Of stage `buckets`: how many flop, turn and river have (of one texture, where buckets belong to textures)."""
    flop, turn, river = (int(bundle.config[name]) for name in BOARD_STREETS.values())
    return flop, turn, river


def read_bucket_rows(bundle: Bundle, num_cards: int, textures: Textures) -> BoardRows:
    """Of stage `buckets`: board, texture and weight of each row of a street's table."""
    return covered_rows(num_cards, textures, scope=bundle.config["scope"], boards=bundle.config["boards"])


def read_game(game: GameConfig, preflop_equity: Bundle) -> TrunkGame:
    """A game with its exact preflop leaves, from a bundle of stage `preflop_equity` or an exported one."""
    table = preflop_equity["equity"]
    wins, ties, totals = (np.array(table[column]) for column in ("wins", "ties", "totals"))
    return TrunkGame.build(game, (wins, ties, totals))


def read_flop_lines(bundle: Bundle) -> NDArray[np.float64] | None:
    """What the flop lines are worth over all flops when both play the blueprint, ``[seat, line, class]``.

    Of stage `preflop_ev` or `export`; None where an older bundle does not say it. In chips times deals.
    """
    if "flop_lines" not in bundle:
        return None
    values = np.array(bundle["flop_lines"]["value"])
    return values.reshape(2, -1, values.shape[-1])


def read_three_way_equity(bundle: Bundle) -> ThreeWayTable:
    """Of stage `three_way_equity`: deals by set of winners for every three hand classes, mapped from the disk."""
    return ThreeWayTable(bundle["three_way"]["winners"])


def read_state(bundle: Bundle) -> Arrays:
    """Of stage `lcfr`: the trainer's state."""
    return {key: np.asarray(array) for key, array in unpack_arrays(bundle, "state").items()}


def read_multiway_table(bundle: Bundle) -> NDArray[np.float32]:
    """Of stage `multiway`: the strategy, laid out as a table of `solver.multiway`."""
    return np.array(bundle["strategy"]["probability"])


def read_trained_blueprint(bundle: Bundle, buckets: Bundle, preflop_equity: Bundle) -> Blueprint:
    """Of stage `dcfr`: the blueprint.

    Parameters
    ----------
    buckets, preflop_equity
        Bundles of the stages that it was trained on.
    """
    training = bundle.config["training"]
    game = read_game(GameConfig.from_mapping(training["game"]), preflop_equity)
    strategy = unpack_arrays(bundle, "blueprint")
    rows = rows_by_key("average", strategy)
    return Blueprint.from_rows(
        game,
        pot_types(game, training["pot_types"]),
        SourceBuckets(buckets, read_bucket_counts(buckets)),
        np.array(strategy["preflop"]),
        rows.items(),
        num_textures=count_textures(rows),
        textures=buckets.flop_textures(),
    )


def read_exported_blueprint(bundle: BlueprintBundle) -> Blueprint:
    """Of stage `export`: the blueprint as trained."""
    game = read_game(bundle.game, bundle)
    tree, preflop = game.preflop.tree, game.uniform()
    for line in bundle.lines("preflop"):
        preflop[tree.children_of(tree.node_at(line))] = bundle.preflop(line).raw_probability.T
    pots = pot_types(game, bundle.configuration["training"]["pot_types"])
    streets = [bundle.postflop_probabilities(street) for street in range(3)]
    flop, turn, river = (rows.shape[1] for rows in streets)

    def rows() -> Iterable[tuple[RowKey, NDArray[Any]]]:
        for street, table in enumerate(streets):
            yield from StreetRows(game.tree, pots.templates, bundle.num_textures, street).decode(table)

    return Blueprint.from_rows(
        game,
        pots,
        SourceBuckets(bundle, (flop, turn, river)),
        preflop,
        rows(),
        num_textures=bundle.num_textures,
        textures=bundle.flop_textures(),
    )
