"""A chained solve for readers: street by street who acts, what for, how often, and how well it is solved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipelines.run.progress import duration
from solver.betting.lines import without_prefix

#: How a solve ended, by the reason that the solver gives.
ENDINGS = {
    "target": "target reached",
    "iterations": "stopped at the number of iterations",
    "time": "stopped at the time limit",
    "stopped": "interrupted",
}


def chained_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a summary.

    Parameters
    ----------
    result
        What `pipelines.commands.chained.chained_result` returns.
    """
    players = {name: f"{name} ({result[name]['seat']}, {result[name]['position']})" for name in _PLAYERS}
    yield f"{players['hero']} against {players['villain']} on {result['board']}"
    yield from _preflop_lines(result["preflop"])
    if result["folded_seats"]:
        yield f"  folded on the line: {', '.join(result['folded_seats'])}"
    for street in result["streets"]:
        yield ""
        yield from _street_lines(street, players, cleaned=result["cleaned"])


_PLAYERS = ("hero", "villain")


def _preflop_lines(preflop: Mapping[str, Any]) -> Iterator[str]:
    source = f"live solve of {preflop['game']}" if preflop["source"] == "live" else preflop["source"]
    line = without_prefix(preflop["line"])
    yield f"preflop: {line}, played with {preflop['probability']:.2%} of the deals of these ranges"
    if "gain_mean_mbb" in preflop:
        yield f"  strategy: {source}, a responder gains {preflop['gain_mean_mbb']:.1f} mbb/hand on average"
    else:
        yield f"  strategy: {source}, {preflop['exploitability_mbb']:.4f} mbb/hand exploitable"


def _street_lines(street: Mapping[str, Any], players: Mapping[str, str], *, cleaned: bool) -> Iterator[str]:
    name, board, pot, stack = (street[key] for key in ("street", "board", "pot", "stack"))
    after = f" after {street['line']}" if street["line"] else ""
    yield f"{name} {board}{after}: pot {pot}, {stack} behind"
    root = street["root"]
    yield f"  {players[root['player']]} acts: {_shares(root['actions'], root['frequencies'])}"
    for player in _PLAYERS:
        ev, equity = street["ev"][player], street["equity"][player]
        hands = len(street["ranges"][player])
        yield f"  {player:8}EV {ev:.2f} of {pot} chips, equity {equity:.2%}, {hands} combos"
    off_path = {player: sum(street["off_path"][player].values()) for player in _PLAYERS}
    if any(off_path.values()):
        words = ", ".join(f"{player} {count}" for player, count in off_path.items())
        yield f"  off-path rows ({'cleaned' if cleaned else 'as solved'}): {words}"
    yield f"  {_solved(street['solve'])}"


def _shares(actions: Sequence[str], frequencies: Sequence[float]) -> str:
    return ", ".join(f"{action} {share:.1%}" for action, share in zip(actions, frequencies))


def _solved(solve: Mapping[str, Any] | None) -> str:
    if solve is None:
        return "solved: read from the flop's solve"
    found = solve["exploitability_pct"]
    quality = (
        f"street by street, depth {solve['depth']}," if found is None else f"{found:.3f} % of pot exploitable"
    )
    folded = solve.get("folded", {"exact": True})
    sampled = "" if folded["exact"] else f", weights of deals sampled within {folded['relative_error']:.1%}"
    return (
        f"solved: {quality} after {solve['iterations']} iterations,"
        f" {duration(solve['seconds'])}, {ENDINGS[solve['reason']]}{sampled}"
    )
