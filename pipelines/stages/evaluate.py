"""Stage `evaluate`: how good the blueprint is, by exact best responses, and what it plays before the flop.

The responder sees its real cards and the real board, and no buckets. Raw is the blueprint as trained;
cleaned is the same with hands that are off-path before the flop folded (`artifacts.preflop_offpath`).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa

from abstractions.cards import CLASS_NAMES
from artifacts.preflop_offpath import clean_off_path
from artifacts.readers import read_flop_lines, read_textures, read_trained_blueprint
from pipelines.run.engine import Inputs, Output, StageRun
from pipelines.training.evaluation_boards import (
    TIER_NAME,
    Progress,
    evaluate_blueprint,
    evaluation_boards,
    exploitability,
    flop_line_values,
    sampled_value,
    value_over_all_flops,
)
from solver.betting.lines import HEADS_UP_SEATS, PREFLOP, STREETS
from solver.betting.public_tree import NodeKind
from solver.betting.tree_text import action_labels, preflop_key
from solver.blueprint.evaluation import BlueprintValue, Evaluation
from solver.blueprint.strategy import Blueprint
from solver.blueprint.trunk import Floats
from solver.preflop.solver import PreflopStrategy

PREMIUM = ("AA", "KK", "QQ", "AKs", "AKo")
LIMP_TRAPS = ("T2s", "94s", "93s")
JUNK = ("72o", "62o", "42o", "32o")


@dataclass(frozen=True)
class EvaluateConfig:
    """Boards to evaluate on.

    Attributes
    ----------
    tier
        For the headline figures.
    street_tier
        For the split of the loss by street; where it is the same tier, both come from one evaluation.
    medoids
        Whether to evaluate the exact small game of typical boards too.
    reach_rule
        Of the cleaning.
    """

    tier: str = field(metadata=TIER_NAME)
    street_tier: str = field(metadata=TIER_NAME)
    medoids: bool
    reach_rule: str


def compute(config: EvaluateConfig, inputs: Inputs, run: StageRun) -> Output:
    """Exploitability, expected values and preflop play of the blueprint.

    Inputs: `dcfr`, `textures`, `buckets`, `preflop_equity`, `preflop_ev`.
    """
    textures, buckets = read_textures(inputs["textures"]), inputs["buckets"]
    raw = read_trained_blueprint(inputs["dcfr"], buckets, inputs["preflop_equity"])
    cleaned = cleaned_blueprint(raw, config.reach_rule)
    covered = buckets.config["boards"]
    over = partial(evaluation_boards, textures=textures, source=buckets, covered=covered)
    boards = over(config.tier)
    evaluation = Evaluation(raw, by_street=config.street_tier == config.tier)
    values = flop_line_values(
        raw, evaluation.responses, boards, run.cluster, _progress(run, f"{config.tier} tier")
    )
    value = sampled_value(evaluation, boards, values)
    metrics = {
        "exploitability_raw": value.exploitability,
        "exploitability_cleaned": exploitability(
            cleaned, boards, run.cluster, progress=_progress(run, f"{config.tier} tier, cleaned")
        ),
        "boards": float(boards.num_boards),
        **_value_metrics(value),
    }
    if value.standard_error is not None:
        metrics["exploitability_raw_se"] = value.standard_error
    if value.held_out is not None:
        metrics["exploitability_held_out"] = value.held_out
    # Boards that are the whole game bring no luck.
    all_flops = None if boards.balanced is None else read_flop_lines(inputs["preflop_ev"])
    if all_flops is not None:
        even = value_over_all_flops(evaluation, boards, values, values[:, :, 0], all_flops)
        metrics |= _all_flops_metrics(even)
    by_street = value.by_street
    if config.street_tier != config.tier:
        by_street = evaluate_blueprint(
            raw,
            over(config.street_tier),
            run.cluster,
            by_street=True,
            progress=_progress(run, "by street"),
        ).by_street
    metrics |= {f"loss_{street}": by_street[street] for street in STREETS}
    metrics |= {f"loss_line_{line}": loss for line, loss in value.by_line.items()}
    if config.medoids and covered != "medoids":
        exact = evaluate_blueprint(raw, over("medoids"), run.cluster, progress=_progress(run, "medoid game"))
        metrics |= {
            f"medoids_{name}": figure
            for name, figure in {"exploitability": exact.exploitability, **_value_metrics(exact)}.items()
        }
    play = PreflopStrategy(raw.game.preflop, raw.preflop)
    metrics |= preflop_metrics(play)
    return Output(
        tables={
            "loss_by_line": {
                "line": pa.array(list(value.by_line), pa.string()),
                "loss": np.array(list(value.by_line.values())),
            },
            "loss_by_street": {"street": list(by_street), "loss": np.array(list(by_street.values()))},
        },
        metrics=metrics,
    )


def _progress(run: StageRun, status: str) -> Progress:
    run.begin()
    return lambda done, total: run.progress(done, total, status)


def _value_metrics(value: BlueprintValue) -> dict[str, float]:
    """Expected value, best response and what a response before the flop alone gains, by seat."""
    figures = {}
    for seat, name in enumerate(HEADS_UP_SEATS):
        figures[f"ev_{name}"] = value.expected[seat]
        figures[f"best_response_{name}"] = value.best_response[seat]
        figures[f"preflop_gain_{name}"] = value.preflop_response[seat] - value.expected[seat]
    return figures


def _all_flops_metrics(value: BlueprintValue) -> dict[str, float]:
    """Figures of the responder that the luck of the sampled flops does not help."""
    figures = {
        "exploitability_all_flops": value.exploitability,
        "exploitability_all_flops_se": value.standard_error,
        "exploitability_all_flops_held_out": value.held_out,
        "loss_all_flops_preflop": value.by_street[STREETS[PREFLOP]],
    }
    return {name: figure for name, figure in figures.items() if figure is not None}


def cleaned_blueprint(blueprint: Blueprint, reach_rule: str = "max") -> Blueprint:
    """The blueprint with the preflop rows of off-path hands folded; postflop as it is."""
    tree = blueprint.game.preflop.tree
    play = PreflopStrategy(blueprint.game.preflop, blueprint.preflop)
    table = clean_off_path(play.by_line(), reach_rule=reach_rule)
    probabilities = blueprint.preflop.copy()
    for node in np.flatnonzero(tree.kind == NodeKind.DECISION):
        rows = table[preflop_key(tree, int(node))]
        for label, child in zip(action_labels(tree, int(node)), tree.children_of(int(node))):
            probabilities[child] = [rows[hand][label] for hand in CLASS_NAMES]
    return dataclasses.replace(blueprint, preflop=probabilities)


def _groups(play: PreflopStrategy, node: int) -> dict[str, Floats]:
    """Probability by class to fold, to check or call, and to bet, raise or go all-in at a decision."""
    tree = play.game.tree
    groups = {name: np.zeros(len(CLASS_NAMES)) for name in ("fold", "call", "raise")}
    for label, child in zip(action_labels(tree, node), tree.children_of(node)):
        name = {"fold": "fold", "check": "call", "call": "call"}.get(label, "raise")
        groups[name] += play.probabilities[child]
    return groups


def _facing_raise(play: PreflopStrategy) -> dict[str, Floats]:
    """The big blind's play against the smallest first raise."""
    tree = play.game.tree
    for label, child in zip(action_labels(tree, 0), tree.children_of(0)):
        if label not in ("fold", "check", "call") and tree.kind[child] == NodeKind.DECISION:
            return _groups(play, int(child))
    return {name: np.full(len(CLASS_NAMES), np.nan) for name in ("fold", "call", "raise")}


def preflop_metrics(play: PreflopStrategy) -> dict[str, float]:
    """Aggregate frequencies and the hands that show whether preflop play is sound.

    `first_in_raise_over_limp` of the worst suited hands is the limp trap: with raw-equity leaves they limp.
    """
    first_in, facing = _groups(play, 0), _facing_raise(play)
    combos = play.game.combos / play.game.combos.sum()
    metrics = {f"first_in_{name}": float(combos @ share) for name, share in first_in.items()}
    if not np.isnan(facing["fold"]).any():
        metrics |= {f"facing_raise_{name}": float(combos @ share) for name, share in facing.items()}
        metrics |= {f"facing_raise_fold_{hand}": _of(facing["fold"], hand) for hand in JUNK}
    metrics |= {f"first_in_raise_{hand}": _of(first_in["raise"], hand) for hand in PREMIUM}
    metrics["first_in_fold_premium"] = max(_of(first_in["fold"], hand) for hand in PREMIUM)
    metrics |= {
        f"first_in_raise_over_limp_{hand}": _of(first_in["raise"] - first_in["call"], hand)
        for hand in LIMP_TRAPS
    }
    return metrics


def _of(shares: Floats, hand: str) -> float:
    return float(shares[CLASS_NAMES.index(hand)])
