"""Strategies by name, as the commands about hands take them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from artifacts.blueprint.bundle import BlueprintBundle
from pipelines.commands.own_keys import one_of, open_source, whole_number
from pipelines.config.named_games import changed_keys
from pipelines.matches.entrants import Entrant, Resolving
from pipelines.run.code_version import code_version
from pipelines.run.errors import UserError
from solver.betting.game import GameConfig
from solver.betting.lines import FLOP, STREETS
from solver.blueprint.trunk import TrunkGame
from solver.match.simple import simple_blueprint
from solver.simple_strategies import SIMPLE

#: How a bundle that solves again is named.
RESOLVE = "resolve:"
#: Keys that say how it does.
RESOLVING_KEYS = ("resolve_from", "iterations")
#: Keys of a game in which two strategies may differ and still meet: their menus.
MENUS = (
    "raise_sizes",
    "over_limp_sizes",
    "raise_cap",
    "limp",
    "bet_sizes",
    "postflop_raise_cap",
    "add_allin_threshold",
    "force_allin_threshold",
    "merging_threshold",
)


def read_entrants(names: Mapping[str, str], own: Mapping[str, str], game: GameConfig) -> list[Entrant]:
    """Strategies from their names by key: a bundle, `resolve:` and a bundle, or one of `SIMPLE`.

    Parameters
    ----------
    own
        May hold `RESOLVING_KEYS`.
    game
        What is played where no bundle says so.
    """
    street = one_of("resolve_from", own.get("resolve_from", "turn"), STREETS[FLOP:])
    iterations = whole_number("iterations", own.get("iterations", "100"), least=1, most=1_000_000)
    bundles: dict[str, BlueprintBundle] = {}
    for key, name in names.items():
        if name not in SIMPLE:
            bundles[key] = _open(key, name.removeprefix(RESOLVE))
    _check_same_table(bundles)
    known = next(iter(bundles.values()), None)
    trunk = TrunkGame.build(game) if known is None else known.blueprint.game
    entrants = []
    for key, name in names.items():
        if name in SIMPLE:
            simple = simple_blueprint(name, trunk, None if known is None else known.blueprint.pots)
            identity = {"strategy": name, "code": code_version(simple_blueprint)}
            entrants.append(Entrant(name, identity, simple))
            continue
        bundle, resolving = bundles[key], Resolving(STREETS.index(street), iterations)
        label = f"{bundle.manifest.stage}-{bundle.key[:6]}"
        if name.startswith(RESOLVE):
            label += f" re-solved from the {street}"
            solved = {"export": bundle.key, **vars(resolving)}
            entrants.append(Entrant(label, solved, bundle.blueprint, bundle, resolving))
        else:
            entrants.append(Entrant(label, {"export": bundle.key}, bundle.blueprint, bundle))
    return entrants


def _open(key: str, path: str) -> BlueprintBundle:
    if not path:
        raise UserError(
            f"{key}: give a strategy: the folder of an exported blueprint, {RESOLVE}FOLDER, or {', '.join(SIMPLE)}"
        )
    bundle = open_source(Path(path), key)
    if not bundle.has_every_board:
        raise UserError(
            f"{key}: {path} has buckets for typical boards only; hands are played on real ones. "
            "Train it with abstraction.boards=all"
        )
    return bundle


def _check_same_table(bundles: Mapping[str, BlueprintBundle]) -> None:
    """Refuse two bundles of which one has other stacks, blinds, antes or rake: they cannot meet."""
    if len(bundles) < 2:
        return
    (_, first), (key, second) = list(bundles.items())[:2]
    other = [name for name in changed_keys(first.game, second.game) if name not in MENUS]
    if other:
        raise UserError(
            f"{key}: its game differs from the other's in {', '.join(other)}; only menus may differ"
        )
