"""`python -m pipelines.lbr`: what a local best response wins from a strategy (Lisy & Bowling 2017).

The responder knows the strategy. It assumes that both check or call from the next action on, and takes the best action
under that assumption. What it wins is a lower bound of exploitability and can be far below it. The exact figure of the
bundle is shown beside it. That is of a best response with the blueprint's own bet sizes, and a local one that bets
other sizes may win more. Tasks that were played are kept, so a batch that is cut off goes on where it was.

    python -m pipelines.lbr bundle=STRATEGY actions=fc|fcpa|56 [streets=turn,river] hands=N [seed=1]
        [resolve_from=flop|turn|river] [iterations=100] [game=hu100] [store.root=DIR] [tracking.uri=URI] [cluster=ray]

A strategy is named as in `pipelines.match`. `actions`: fold and call (`fc`), these with bets of the pot and all-in
(`fcpa`), or with 56 sizes (`56`). `streets` are those on which the responder chooses; on others it checks and calls. By
default they are the published ones: all for `fc`, turn and river for `fcpa` and `56`. `hands` counts deals; each is
played in both seats.
"""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass

from pipelines.commands.entrants import RESOLVING_KEYS, read_entrants
from pipelines.commands.own_keys import one_of, split_keys, whole_number
from pipelines.config.composition import compose_config
from pipelines.config.schema import Config
from pipelines.matches.batch import run_batch
from pipelines.matches.entrants import Entrant
from pipelines.matches.hands import Floats, Shared, by_hand, play_lbr
from pipelines.run.command import run_command
from pipelines.run.errors import UserError
from pipelines.run.progress import Reporter, plain_console
from solver.betting.lines import STREETS
from solver.match.local_best_response import SIZES, STREETS_OF, Setting
from solver.match.play import Interval

OWN_KEYS = ("bundle", "actions", "streets", "hands", *RESOLVING_KEYS)
MAX_HANDS = 100_000_000
WARNING = (
    "local best response is a lower bound of exploitability and can be far below it; with sizes that the blueprint "
    "does not know it may also win more than the exact response, which keeps to the blueprint's sizes"
)


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    entrant: Entrant
    setting: Setting
    hands: int
    config: Config


def read_request(arguments: list[str]) -> Request:
    """The command line, checked."""
    own, others = split_keys(arguments, OWN_KEYS)
    config = compose_config(others)
    if "bundle" not in own:
        raise UserError("bundle: give a strategy, bundle=STORE/export-KEY or bundle=always-call")
    actions = one_of("actions", own.get("actions", "fcpa"), tuple(SIZES))
    streets = STREETS_OF[actions]
    if "streets" in own:
        named = [one_of("streets", name, STREETS) for name in own["streets"].split(",")]
        streets = tuple(sorted({STREETS.index(name) for name in named}))
    hands = whole_number("hands", own.get("hands", "10000"), least=2, most=MAX_HANDS)
    (entrant,) = read_entrants({"bundle": own["bundle"]}, own, config.game.game_config())
    return Request(entrant, Setting(actions, streets), hands, config)


def respond(request: Request) -> str:
    """Play, record, and return the last line to print."""
    entrant, setting = request.entrant, request.setting
    game = entrant.blueprint.game.preflop.config
    streets = ",".join(STREETS[street] for street in setting.streets)
    reporter = Reporter(plain_console())
    reporter.say(
        f"local best response to {entrant.name}: actions {setting.actions} on {streets}, "
        f"{request.hands:,} deals, each in both seats"
    )
    exact = {} if entrant.bundle is None else entrant.bundle.metrics

    def figures(found: dict[str, Floats]) -> dict[str, float]:
        won = Interval.of(by_hand(found["chips"], game))
        beside = {name: exact[name] for name in ("exploitability_raw",) if name in exact}
        return {
            "lbr": won.mean,
            "lbr_low": won.mean - won.half_width,
            "lbr_high": won.mean + won.half_width,
            "lbr_hands": float(request.hands),
            **beside,
        }

    def run_page(found: dict[str, Floats]) -> dict[str, float]:
        name = f"lbr_{setting.actions}" + ("" if entrant.resolving is None else "_resolved")
        known = figures(found)
        return {name: known["lbr"], f"{name}_low": known["lbr_low"], f"{name}_high": known["lbr_high"]}

    found = run_batch(
        "lbr_hands",
        play_lbr,
        Shared(game, (entrant,), request.config.seed, setting),
        request.hands,
        config=request.config,
        reporter=reporter,
        name=f"lbr-{setting.actions}-{entrant.name}".replace(" ", "-"),
        tags={"command": "lbr", "actions": setting.actions, "streets": streets, "strategy": entrant.name}
        | {"mlflow.note.content": WARNING}
        | ({} if entrant.bundle is None else {"key.export": entrant.bundle.key}),
        params={"hands": request.hands, "seed": request.config.seed},
        figures=figures,
        beside=run_page,
    )
    reporter.say(WARNING)
    if entrant.bundle is not None and "exploitability_raw" in exact:
        tier = entrant.bundle.configuration.get("evaluate", {}).get("tier")
        reporter.say(
            f"exact exploitability of the blueprint alone: {exact['exploitability_raw']:.1f} on tier {tier}"
        )
    won = Interval.of(by_hand(found["chips"], game))
    return f"lbr: {won.text}, actions {setting.actions} on {streets}, from {entrant.name}"


def main() -> None:
    """Run the batch of the command line."""
    arguments = sys.argv[1:]
    if not arguments or "-h" in arguments or "--help" in arguments:
        print((__doc__ or "").strip())
        return
    print(respond(read_request(arguments)), flush=True)


if __name__ == "__main__":
    again = shlex.join([os.path.basename(sys.executable), "-m", "pipelines.lbr", *sys.argv[1:]])
    run_command(main, resume=f"played hands are kept. Resume with: {again}")
