"""`python -m pipelines.resolve`: how exploitable a blueprint is that solves again from a street on.

On every board of a tier the spots of that street are solved again, hand by hand. The solves are safe by default:
opponents may stay out. With safety=unsafe they trust the ranges that the blueprint leaves. An exact best responder then
plays against the result, free on every street, before the flop too. Re-solver and responder are dealt the same
run-outs. Solved flops are kept, so a batch that is cut off goes on where it was.

    python -m pipelines.resolve bundle=PATH [tier=small] [streets=river|turn|flop] [flops=N] [iterations=N]
        [safety=reach|resolve|unsafe] [store.root=DIR] [tracking.uri=URI] [cluster=ray]
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.readers import read_flop_lines, read_textures
from pipelines.commands.own_keys import one_of, open_source, split_keys, whole_number
from pipelines.config.composition import compose_config
from pipelines.config.schema import Config
from pipelines.run.batch import recorded_batch
from pipelines.run.bundle_source import maker_run
from pipelines.run.command import run_command
from pipelines.run.errors import UserError
from pipelines.run.progress import Reporter, plain_console, size
from pipelines.run.recorded_runs import ALL_FLOPS, HELD_OUT, RESOLVED
from pipelines.run.tracking import flatten
from pipelines.training.evaluation_boards import (
    TIERS,
    EvaluationBoards,
    evaluation_boards,
    flop_line_values,
    sampled_value,
    tier_label,
    value_over_all_flops,
)
from pipelines.training.resolved_flops import Resolving, resolved_flop_values
from solver.betting.lines import FLOP, PREFLOP, STREETS
from solver.blueprint.evaluation import BlueprintValue, Evaluation
from solver.subgame.resolved_flop import table_bytes

#: Streets that may be solved again.
SOLVED = STREETS[FLOP:]
#: Tiers with few run-outs of each flop: with all of them the tables of a flop would not fit.
SAMPLED_TIERS = tuple(name for name, tier in TIERS.items() if not tier.complete)
SAFETIES = ("reach", "resolve", "unsafe")
OWN_KEYS = ("bundle", "tier", "streets", "flops", "iterations", "safety")


@dataclass(frozen=True)
class Request:
    """What the command line asks for.

    Attributes
    ----------
    bundle
        The exported blueprint.
    tier, flops
        Boards, and how many flops of the tier are used (0: all).
    resolving
        From which street on, and how.
    config
        Store, tracker and cluster.
    """

    bundle: Path
    tier: str
    flops: int
    resolving: Resolving
    config: Config


def read_request(arguments: list[str]) -> Request:
    """The command line, checked."""
    own, others = split_keys(arguments, OWN_KEYS)
    config = compose_config(others)
    if not own.get("bundle"):
        raise UserError("bundle: give the folder of an exported blueprint, bundle=STORE/export-KEY")
    tier = one_of("tier", own.get("tier", "small"), SAMPLED_TIERS)
    street = one_of("streets", own.get("streets", SOLVED[-1]), SOLVED)
    default = "reach" if street == SOLVED[0] else "resolve"
    safety = one_of("safety", own.get("safety", default), SAFETIES)
    flops = whole_number("flops", own.get("flops", "0"), least=0, most=len(TIERS[tier].flops))
    iterations = whole_number("iterations", own.get("iterations", "200"), least=1, most=1_000_000)
    resolving = Resolving(SOLVED.index(street), iterations, safety)
    return Request(Path(own["bundle"]), tier, flops, resolving, config)


def chosen_boards(bundle: BlueprintBundle, tier: str, flops: int) -> EvaluationBoards:
    """The boards of a tier, or of some of its flops, evenly picked and with their weights brought to 1."""
    boards = evaluation_boards(tier, read_textures(bundle), bundle, "all")
    if flops in (0, len(boards.flops)):
        return boards
    picked = np.linspace(0, len(boards.flops) - 1, flops).round().astype(int)
    total = sum(boards.flops[k].weights.sum() for k in picked)
    kept = [replace(boards.flops[k], weights=boards.flops[k].weights / total) for k in picked]
    return EvaluationBoards.build(kept, bundle, np.ones((len(kept), 1)))


def resolve(request: Request) -> str:
    """Evaluate, record, and return the last line to print."""
    bundle = open_source(request.bundle)
    resolving, config = request.resolving, request.config
    reporter = Reporter(plain_console())
    boards = chosen_boards(bundle, request.tier, request.flops)
    blueprint = bundle.blueprint
    street = SOLVED[resolving.street]
    safe = resolving.safety != "unsafe"
    most = max(table_bytes(blueprint, flop, safe=safe) for flop in boards.flops)
    reporter.say(
        f"{len(boards.flops)} flops, {boards.num_boards:,} boards, solved again from the {street} on "
        f"({resolving.safety}); {size(most)} of tables for each core"
    )
    with recorded_batch(
        config,
        reporter,
        stage="resolve",
        name=f"resolve-{street}-{bundle.key[:6]}",
        tags={"command": "resolve", "tier": tier_label(request.tier), "key.export": bundle.key},
        params=flatten({**vars(resolving), "tier": request.tier, "flops": len(boards.flops)}),
    ) as batch:
        plain, evaluation = Evaluation(blueprint), Evaluation(blueprint, by_street=True)
        own = flop_line_values(blueprint, plain.responses, boards, batch.cluster())
        alone = sampled_value(plain, boards, own)
        values = resolved_flop_values(
            bundle, evaluation, boards, resolving, batch.store, batch.cluster, reporter.advance
        )
        found = sampled_value(evaluation, boards, values)
        even: dict[str, BlueprintValue] = {}
        if (all_flops := read_flop_lines(bundle)) is not None:
            for name, judge, some in ((street, evaluation, values), ("alone", plain, own)):
                even[name] = value_over_all_flops(judge, boards, some, own[:, :, 0], all_flops)
        batch.tracker.metrics(
            {
                f"{RESOLVED}{street}": found.exploitability,
                "exploitability_alone": alone.exploitability,
                **_held_out({street: found, "alone": alone}),
                **{f"{ALL_FLOPS}{name}": value.exploitability for name, value in even.items()},
                **{f"loss_{name}": loss for name, loss in found.by_street.items()},
            }
        )
        if (maker := maker_run(bundle, batch.store.root)) is not None:
            shown = {f"{RESOLVED}{street}": found.exploitability}
            batch.tracker.metrics(shown, run=batch.tracker.adopt(maker))
    losses = ", ".join(f"{name} {loss:.1f}" for name, loss in found.by_street.items())
    reporter.say(f"where the rest is lost, in mbb/hand: {losses}")
    if even:
        solved, unsolved = even[street], even["alone"]
        reporter.say(
            f"with the luck of the tier's flops taken off: {solved.exploitability:.1f} mbb/hand, of which "
            f"{solved.by_street[STREETS[PREFLOP]]:.1f} before the flop (blueprint alone {unsolved.exploitability:.1f})"
        )
        if solved.held_out is not None:
            reporter.say(
                f"the same, when the responder chooses before the flop on the other flops: {solved.held_out:.1f}"
            )
    if found.held_out is not None and alone.held_out is not None:
        reporter.say(
            f"against a responder that does not know the flops of the tier before they come: "
            f"{found.held_out:.1f} mbb/hand (blueprint alone {alone.held_out:.1f})"
        )
    return (
        f"exploitability: {found.exploitability:.1f} mbb/hand (blueprint alone {alone.exploitability:.1f}) "
        f"on {request.tier}, re-solved from {street}"
    )


def _held_out(values: Mapping[str, BlueprintValue]) -> dict[str, float]:
    return {
        f"{HELD_OUT}{name}": value.held_out for name, value in values.items() if value.held_out is not None
    }


def main() -> None:
    """Run the batch of the command line."""
    arguments = sys.argv[1:]
    if not arguments or "-h" in arguments or "--help" in arguments:
        print((__doc__ or "").strip())
        return
    print(resolve(read_request(arguments)), flush=True)


if __name__ == "__main__":
    again = shlex.join([os.path.basename(sys.executable), "-m", "pipelines.resolve", *sys.argv[1:]])
    run_command(main, resume=f"solved flops are kept. Resume with: {again}")
