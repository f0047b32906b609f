"""`python -m pipelines.value_data`: solved public states as training data for value networks.

Draws public states of a street (board, pot, stack, both ranges), solves each exactly, and writes the counterfactual
values of both players for 1,326 combos as an Arrow data set in the store: part-*.arrow and manifest.json. Ranges are
DeepStack's recursive ones, or those of a blueprint at random lines with noise, or both. Parts that are finished are
kept, so a batch that is cut off goes on where it was. solver/value_states/README.md says what the columns mean.

    python -m pipelines.value_data street=river|turn|flop samples=N [accuracy=0.5] [bet=100%,a] [raise=a]
        [stack_low=0.25] [stack_high=8] [bundle=PATH] [blueprint_share=0.5] [noise=0.3] [suit_copies=0]
        [rivers=0|N|all] [river_accuracy=0.5] [part_rows=N] [max_iterations=2000] [seed=1]
        [store.root=DIR] [tracking.uri=URI] [cluster=ray]

Turns may bring river states, in rivers-*.arrow. `rivers=N` draws N of each turn, as often as its solution plays them,
and solves each on its own. `rivers=all` reads every river from the turn's own solve, which costs little more. The
exploitability of such a river is measured in the river alone and stands in its row. Rivers above `river_accuracy` (in
percent of the pot at the river, by default `accuracy`) are left out: most of them are hardly ever reached.
"""

from __future__ import annotations

import math
import os
import shlex
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.bundle import Bundle
from artifacts.bundle_store import BundleStore
from artifacts.format.arrow_file import ArrowFile, write_arrow
from pipelines.commands.own_keys import one_of, open_source, split_keys, whole_number
from pipelines.config.composition import compose_config
from pipelines.config.default_store import store_note
from pipelines.config.schema import Config
from pipelines.run.batch import Batch, recorded_batch
from pipelines.run.cluster import OnDemand
from pipelines.run.code_version import code_version
from pipelines.run.command import run_command
from pipelines.run.engine import stage_key
from pipelines.run.errors import UserError
from pipelines.run.progress import Reporter, plain_console
from pipelines.run.tracking import flatten
from pipelines.training.blueprint_states import BlueprintStates
from pipelines.training.value_parts import (
    RIVERS_READ,
    Columns,
    PartTask,
    ValueDataConfig,
    figures_of,
    make_part,
)
from solver.betting.game import street_sizes
from solver.betting.lines import FLOP, STREETS
from solver.value_states.public_state import PublicState

STAGE = "value_data"
#: Rows of a part, unless they are given: about what a core solves in some seconds, or a minute on the flop.
PART_ROWS = {"river": 512, "turn": 32, "flop": 1}
OWN_KEYS = (
    *(
        "street",
        "samples",
        "accuracy",
        "bet",
        "raise",
        "stack_low",
        "stack_high",
        "bundle",
        "blueprint_share",
    ),
    *("noise", "suit_copies", "rivers", "river_accuracy", "part_rows", "max_iterations", "seed"),
)


@dataclass(frozen=True)
class Request:
    """What the command line asks for: the data, the blueprint if any, and store, tracker and cluster."""

    data: ValueDataConfig
    bundle: Path | None
    config: Config


def read_request(arguments: list[str]) -> Request:
    """The command line, checked."""
    own, others = split_keys(arguments, OWN_KEYS)
    config = compose_config(others)
    if not own.get("samples"):
        raise UserError("samples: give the number of states, samples=10000")
    street = one_of("street", own.get("street", ""), STREETS[FLOP:])
    bundle = Path(own["bundle"]) if own.get("bundle") else None
    share = _number(
        "blueprint_share", own.get("blueprint_share", "0.5" if bundle else "0"), least=0.0, most=1.0
    )
    if share > 0.0 and bundle is None:
        raise UserError("blueprint_share: states of a blueprint need bundle=STORE/export-KEY")
    every_river = own.get("rivers") == "all"
    rivers = 0 if every_river else whole_number("rivers", own.get("rivers", "0"), least=0, most=1000)
    if (rivers or every_river) and street != "turn":
        raise UserError(
            f"rivers: a {street} has no rivers below that are solved with it; accepted for street=turn"
        )
    if "river_accuracy" in own and not every_river:
        raise UserError(
            "river_accuracy: goes with rivers=all; rivers that are solved on their own stop at accuracy"
        )
    accuracy = own.get("accuracy", "0.5")
    low = _number("stack_low", own.get("stack_low", "0.25"), least=0.01, most=1000.0)
    high = _number("stack_high", own.get("stack_high", "8"), least=low, most=1000.0)
    data = ValueDataConfig(
        street=street,
        samples=whole_number("samples", own["samples"], least=1, most=10**9),
        part_rows=whole_number(
            "part_rows", own.get("part_rows", str(PART_ROWS[street])), least=1, most=10**5
        ),
        accuracy=_number("accuracy", accuracy, least=0.001, most=100.0),
        max_iterations=whole_number("max_iterations", own.get("max_iterations", "2000"), least=1, most=10**6),
        bet=own.get("bet", "100%,a"),
        raise_=own.get("raise", "a"),
        stack_low=low,
        stack_high=high,
        blueprint_share=share,
        noise=_number("noise", own.get("noise", "0.3"), least=0.0, most=5.0),
        suit_copies=whole_number("suit_copies", own.get("suit_copies", "0"), least=0, most=23),
        rivers=rivers,
        every_river=every_river,
        river_accuracy=_number(
            "river_accuracy", own.get("river_accuracy", accuracy), least=0.001, most=100.0
        ),
        seed=whole_number("seed", own.get("seed", "1"), least=0, most=2**32 - 1),
    )
    try:
        street_sizes({STREETS[FLOP]: {"bet": data.bet, "raise": data.raise_}})
    except ValueError as error:
        raise UserError(f"bet, raise: {error}") from None
    return Request(data, bundle, config)


def _number(key: str, text: str, *, least: float, most: float) -> float:
    """A number within bounds."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not least <= value <= most:
        raise UserError(f"{key}: {text!r} is not accepted: a number from {least:g} to {most:g}")
    return value


def value_data(request: Request) -> Path:
    """Make what is missing of the data set, record it, and return its folder."""
    data, config = request.data, request.config
    source = None if request.bundle is None else open_source(request.bundle)
    reporter = Reporter(plain_console())
    inputs = {} if source is None else {"export": source.key}
    code = code_version(make_part)
    key = stage_key(STAGE, code, asdict(data), inputs)
    reporter.say(f"{data.samples:,} states in parts of {data.part_rows:,}; {store_note(config.store.root)}")
    batch_of = recorded_batch(
        config,
        reporter,
        stage=STAGE,
        name=f"value-data-{data.street}",
        tags={"command": STAGE, f"key.{STAGE}": key},
        params=flatten(asdict(data)),
    )
    store = BundleStore(config.store.root)
    with batch_of as batch, store.active([f"{STAGE}-{key}"]), store.lock(STAGE, key):
        if not store.has(STAGE, key):
            batch.tracker.metrics({"seconds": _make_parts(data, source, batch, key, reporter)})
            _commit(data, store, key, code, inputs)
        bundle = store.open(STAGE, key)
        batch.tracker.metrics(bundle.metrics)
    _say(bundle, reporter)
    return bundle.path


def _make_parts(
    data: ValueDataConfig, source: BlueprintBundle | None, batch: Batch, key: str, reporter: Reporter
) -> float:
    """Make the parts that are not there yet; returns the seconds."""
    folder = batch.store.checkpoints(STAGE, key)
    folder.mkdir(parents=True, exist_ok=True)
    waiting = [part for part in range(data.num_parts) if not (folder / part_name(part)).is_file()]
    done = data.num_parts - len(waiting)
    states = None if source is None else BlueprintStates(source, STREETS.index(data.street), data.noise)

    def task(position: int) -> PartTask:
        part = waiting[position]
        return PartTask(part, tuple(_given(data, states, part, row) for row in range(data.rows_of(part))))

    started = time.perf_counter()
    if waiting:
        for position, (rows, rivers) in batch.cluster().stream(
            make_part, OnDemand(len(waiting), task), shared=data
        ):
            if rivers is not None:
                _keep(folder / part_name(waiting[position], rivers=True), rivers)
            _keep(folder / part_name(waiting[position]), rows)
            done += 1
            reporter.advance(done, data.num_parts, f"{min(done * data.part_rows, data.samples):,} states")
    return time.perf_counter() - started


def part_name(part: int, *, rivers: bool = False) -> str:
    """File of a part, or of the river states below its turns."""
    return f"{'rivers' if rivers else 'part'}-{part:05d}.arrow"


def _given(data: ValueDataConfig, states: BlueprintStates | None, part: int, row: int) -> PublicState | None:
    """The state of a row if it comes from the blueprint."""
    if states is None:
        return None
    rng = data.generator(part, row, 0)
    return states.draw(rng) if rng.random() < data.blueprint_share else None


def _keep(path: Path, columns: Columns) -> None:
    """Write a file that is either whole or not there."""
    staging = path.with_suffix(".writing")
    write_arrow(staging, columns)
    os.replace(staging, path)


def _commit(data: ValueDataConfig, store: BundleStore, key: str, code: str, inputs: dict[str, str]) -> None:
    """Turn the parts into a bundle of the store."""
    files = sorted(store.checkpoints(STAGE, key).glob("*.arrow"))
    # Mapped, not read: a data set may be larger than the memory.
    tables = {file.stem: ArrowFile(file).columns() for file in files}
    parts, below = (
        [table for name, table in tables.items() if name.startswith(kind)] for kind in ("part-", "rivers-")
    )
    metrics = figures_of(parts, data.accuracy)
    if below:
        bound = data.river_accuracy if data.every_river else data.accuracy
        metrics |= {f"rivers_{name}": value for name, value in figures_of(below, bound).items()}
    if data.every_river:
        metrics[RIVERS_READ] = float(sum(np.sum(part[RIVERS_READ]) for part in parts))
    store.commit(tables, stage=STAGE, key=key, code=code, config=asdict(data), inputs=inputs, metrics=metrics)


def _say(bundle: Bundle, reporter: Reporter) -> None:
    figures = bundle.metrics
    reporter.say(
        f"{figures['rows']:,.0f} rows, exploitability {figures['mean_exploitability_pct']:.2f} % of pot on average, "
        f"{figures['worst_exploitability_pct']:.2f} % at most, values sum to 0 within "
        f"{figures['worst_imbalance']:.1g} pots"
    )
    if RIVERS_READ in figures:
        reporter.say(
            f"{figures.get('rivers_rows', 0.0):,.0f} of {figures[RIVERS_READ]:,.0f} rivers are within river_accuracy "
            "and written"
        )
    if not math.isclose(figures["rows_over_accuracy"], 0.0):
        reporter.say(
            f"{figures['rows_over_accuracy']:,.0f} rows did not reach the accuracy; see their exploitability"
        )


def main() -> None:
    """Run the batch of the command line."""
    arguments = sys.argv[1:]
    if not arguments or "-h" in arguments or "--help" in arguments:
        print((__doc__ or "").strip())
        return
    print(f"dataset: {os.path.relpath(value_data(read_request(arguments)))}", flush=True)


if __name__ == "__main__":
    again = shlex.join([os.path.basename(sys.executable), "-m", "pipelines.value_data", *sys.argv[1:]])
    run_command(main, resume=f"finished parts are kept. Resume with: {again}")
