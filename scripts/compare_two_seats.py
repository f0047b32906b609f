"""Two seats by both trainers, side by side: the heads-up one, and the one of several seats (`solver.multiway`).

    python scripts/compare_two_seats.py +preset=fast game=hu25 multiway.measured_deals=2000000
    python scripts/compare_two_seats.py +preset=smoke game=hu25 cluster=inprocess --json

It takes the overrides of `python -m pipelines.blueprint`. Both play the same game with the same textures and buckets.
The heads-up trainer plays against itself (`solver.opponent=abstract`), as the other one does. `multiway.epochs` times
`multiway.streams` times `multiway.deals` are the deals of the one, `lcfr.iterations` and `dcfr.iterations` the
iterations of the other. What is printed: what the small blind wins, in mbb/hand with its 95 % interval, and how often
each action is taken first in and in answer to each first action. Everything is cached in the store, and a run that is
cut off goes on where it was.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from abstractions.cards import CLASS_COMBOS
from artifacts.blueprint.bundle import open_blueprint
from artifacts.bundle_store import BundleStore
from artifacts.readers import read_multiway_table
from pipelines import blueprint
from pipelines.config.composition import compose_config
from pipelines.config.schema import Config
from pipelines.config.trainable import check_trainable, heads_up_game
from pipelines.run.command import run_command
from pipelines.run.engine import Ref, Stages
from pipelines.run.planned_run import run_planned
from pipelines.run.progress import Reporter
from pipelines.stages import multiway, multiway_evaluate
from pipelines.stages.estimates import core_seconds, disk_bytes
from pipelines.training.multiway import Setup
from solver.betting.game import GameConfig
from solver.betting.lines import HEADS_UP_SEATS, PREFLOP
from solver.betting.public_tree import NodeKind
from solver.betting.tree import game_tree
from solver.betting.tree_text import preflop_key
from solver.multiway.responder import NORMAL_95
from solver.multiway.strategy import MultiwayStrategy

#: How often each action is taken, by line and label.
Frequencies = dict[str, dict[str, float]]


class Side(NamedTuple):
    """What one trainer found: value of the small blind with the bounds of its interval, and frequencies."""

    value: float
    low: float
    high: float
    frequencies: Frequencies


def pipeline(config: Config, stages: dict[str, Ref], run: Stages) -> Ref:
    """Train two seats as several are trained, and measure what they win; all references go to `stages`."""
    boards, hands = blueprint.abstraction(config, run, blueprint.flop_list(run))
    stages |= {"textures": boards, "buckets": hands}
    game, inputs = heads_up_game(config), {"textures": boards, "buckets": hands}
    trained = run.stage(
        "multiway",
        multiway.compute,
        multiway.TrainConfig(game, config.multiway, config.seed, config.solver.checkpoint_minutes),
        inputs,
    )
    measured = run.stage(
        "evaluate",
        multiway_evaluate.compute,
        multiway_evaluate.GainsConfig(game, config.multiway, config.seed),
        inputs | {"multiway": trained},
    )
    stages |= {"multiway": trained, "evaluate": measured}
    return measured


def several_seats(config: Config) -> Side | None:
    """What the trainer of several seats finds; None where only the plan is wanted."""
    stages: dict[str, Ref] = {}
    finished = run_planned(
        partial(pipeline, config, stages),
        config,
        Reporter(),
        core_seconds=lambda stage: None if stage == "evaluate" else core_seconds(stage, config),
        disk_bytes=partial(disk_bytes, config=config),
        record=lambda tracker, rows: tracker.start(
            f"two_seats-{rows[-1].key[:6]}", {"command": "compare_two_seats"}, {}
        ),
    )
    if finished is None:
        return None
    store = BundleStore(config.store.root)
    found = {name: store.open(ref.stage, ref.key) for name, ref in stages.items()}
    setup = Setup.build(heads_up_game(config), {name: found[name] for name in ("textures", "buckets")})
    play = MultiwayStrategy(setup.game, read_multiway_table(found["multiway"]))
    value, low, high = (
        float(found["evaluate"].metrics[f"ev_{HEADS_UP_SEATS[0]}{end}"]) for end in ("", "_low", "_high")
    )
    return Side(value, low, high, first_frequencies(setup.game.config, play.by_line()))


def heads_up(config: Config) -> Side | None:
    """What the heads-up trainer finds; None where only the plan is wanted."""
    path = blueprint.run_pipeline(config)
    if path is None:
        return None
    bundle = open_blueprint(path)
    value, error = (float(bundle.metrics[f"ev_{HEADS_UP_SEATS[0]}{end}"]) for end in ("", "_se"))
    margin = NORMAL_95 * error
    frequencies = first_frequencies(heads_up_game(config), bundle.strategy_table(clean=False))
    return Side(value, value - margin, value + margin, frequencies)


def first_frequencies(
    game: GameConfig, table: Mapping[str, Mapping[str, Mapping[str, float]]]
) -> Frequencies:
    """Frequencies at the first decision of either seat, where all its hands are still there."""
    tree = game_tree(game, last_street=PREFLOP)
    nodes = [0, *(child for child in tree.children_of(0).tolist() if tree.kind[child] == NodeKind.DECISION)]
    weights = np.array(CLASS_COMBOS) / np.sum(CLASS_COMBOS)
    found: Frequencies = {}
    for node in nodes:
        hands = table[preflop_key(tree, node)]
        labels = list(hands["AA"])
        shares = weights @ np.array([list(row.values()) for row in hands.values()])
        found[tree.line(node)] = dict(zip(labels, shares.tolist()))
    return found


def text(first: Side, second: Side) -> list[str]:
    """Both sides in columns, and how far they are apart."""
    lines = [f"{'':24}{'heads-up':>28}{'several seats':>28}{'apart':>10}"]
    values = [f"{side.value:.1f} ({side.low:.1f} to {side.high:.1f})" for side in (first, second)]
    lines.append(
        f"{'small blind, mbb/hand':24}{values[0]:>28}{values[1]:>28}{second.value - first.value:>10.1f}"
    )
    for line, shares in first.frequencies.items():
        for label, share in shares.items():
            other = second.frequencies[line][label]
            name = f"{line or 'first in'}: {label}"
            apart = 100 * (other - share)
            lines.append(f"{name:24}{100 * share:>26.1f} %{100 * other:>26.1f} %{apart:>10.1f}")
    return lines


def main() -> None:
    """Train both, print them side by side."""
    arguments = sys.argv[1:]
    if "-h" in arguments or "--help" in arguments:
        print((__doc__ or "").strip())
        return
    as_json = "--json" in arguments
    given = [argument for argument in arguments if argument != "--json"]
    config = compose_config([*given, "solver.opponent=abstract"])
    heads_up_game(config)
    check_trainable(config)
    first, second = heads_up(config), several_seats(config)
    if first is None or second is None:
        return
    if as_json:
        print(json.dumps({"heads_up": first._asdict(), "several_seats": second._asdict()}))
        return
    print("\n".join(text(first, second)))


if __name__ == "__main__":
    run_command(main)
