"""`python -m pipelines.match`: two strategies play the same cards in both seats.

A strategy is the folder of an exported blueprint, `resolve:FOLDER` for one that solves each street again from
`resolve_from` on, `always-fold`, `always-call` or `uniform`. The result is what `a` wins from `b`, estimated with
little variance (AIVAT): ranges stand for hands, and the values of the blueprints take off the luck of the actions.
Tasks that were played are kept, so a match that is cut off goes on where it was.

    python -m pipelines.match a=STRATEGY b=STRATEGY hands=N [seed=1] [resolve_from=flop|turn|river] [iterations=100]
        [game=hu100] [store.root=DIR] [tracking.uri=URI] [cluster=ray]

`hands` counts deals; each is played twice, once in each seat. `game` is for matches without a bundle.
"""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass

import numpy as np

from pipelines.commands.entrants import RESOLVING_KEYS, read_entrants
from pipelines.commands.own_keys import split_keys, whole_number
from pipelines.config.composition import compose_config
from pipelines.config.schema import Config
from pipelines.matches.batch import run_batch
from pipelines.matches.entrants import Entrant
from pipelines.matches.hands import Floats, Shared, by_hand, play_match
from pipelines.run.command import run_command
from pipelines.run.errors import UserError
from pipelines.run.progress import Reporter, plain_console
from solver.match.play import Interval

OWN_KEYS = ("a", "b", "hands", *RESOLVING_KEYS)
MAX_HANDS = 100_000_000


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    entrants: tuple[Entrant, Entrant]
    hands: int
    config: Config


def read_request(arguments: list[str]) -> Request:
    """The command line, checked."""
    own, others = split_keys(arguments, OWN_KEYS)
    config = compose_config(others)
    for key in ("a", "b"):
        if key not in own:
            raise UserError(f"{key}: give a strategy, {key}=STORE/export-KEY or {key}=always-call")
    hands = whole_number("hands", own.get("hands", "1000"), least=2, most=MAX_HANDS)
    first, second = read_entrants({"a": own["a"], "b": own["b"]}, own, config.game.game_config())
    return Request((first, second), hands, config)


def play(request: Request) -> str:
    """Play, record, and return the last line to print."""
    first, second = request.entrants
    game = first.blueprint.game.preflop.config
    reporter = Reporter(plain_console())
    reporter.say(f"{first.name} against {second.name}: {request.hands:,} deals, each in both seats")

    def intervals(found: dict[str, Floats]) -> tuple[Interval, Interval]:
        return Interval.of(by_hand(found["estimate"], game)), Interval.of(by_hand(found["chips"], game))

    def figures(found: dict[str, Floats]) -> dict[str, float]:
        estimate, chips = intervals(found)
        return {
            "match": estimate.mean,
            "match_low": estimate.mean - estimate.half_width,
            "match_high": estimate.mean + estimate.half_width,
            "match_chips": chips.mean,
            "match_chips_half_width": chips.half_width,
            "match_hands": float(request.hands),
        }

    def run_page(found: dict[str, Floats]) -> dict[str, float]:
        name = f"match{'' if first.resolving is None else '_resolved'}_{second.name}".replace(" ", "_")
        known = figures(found)
        return {name: known["match"], f"{name}_low": known["match_low"], f"{name}_high": known["match_high"]}

    names = {"a": first, "b": second}
    found = run_batch(
        "match_hands",
        play_match,
        Shared(game, (first, second), request.config.seed),
        request.hands,
        config=request.config,
        reporter=reporter,
        name=f"match-{first.name}-{second.name}".replace(" ", "-"),
        tags={"command": "match"}
        | {key: entrant.name for key, entrant in names.items()}
        | {f"key.{key}": each.bundle.key for key, each in names.items() if each.bundle is not None},
        params={"hands": request.hands, "seed": request.config.seed},
        figures=figures,
        beside=run_page,
    )
    estimate, chips = intervals(found)
    cut = float(np.var(found["chips"])) / max(float(np.var(found["estimate"])), 1e-12)
    reporter.say(f"as it was played: {chips.text}")
    reporter.say(f"variance of that over the variance of the estimate: {cut:,.1f}")
    return f"match: {first.name} wins {estimate.text}, from {second.name}"


def main() -> None:
    """Play the match of the command line."""
    arguments = sys.argv[1:]
    if not arguments or "-h" in arguments or "--help" in arguments:
        print((__doc__ or "").strip())
        return
    print(play(read_request(arguments)), flush=True)


if __name__ == "__main__":
    again = shlex.join([os.path.basename(sys.executable), "-m", "pipelines.match", *sys.argv[1:]])
    run_command(main, resume=f"played hands are kept. Resume with: {again}")
