"""What a chart, a table or a JSON object was made from: game, stacks, bundle, run and exploitability.

A bundle holds nothing that varies between runs, so the run that used it last is noted beside it in the store.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from artifacts.blueprint.preflop_bundle import PreflopBundle
from artifacts.bundle import Bundle
from artifacts.bundle_store import BundleStore
from artifacts.spot_bundle import SpotBundle
from pipelines.config.named_games import game_data, game_title
from solver.betting.game import GameConfig

if TYPE_CHECKING:
    from artifacts.subgame_bundle import SubgameBundle

_RUNS = ".runs"
_SHORT_KEY = 6
_BETWEEN = " · "


@dataclass(frozen=True)
class RunNote:
    """The run that made a bundle, or that used it last: its preset, and its id in MLflow where that is known."""

    preset: str
    run: str | None = None

    @property
    def text(self) -> str:
        """For a caption."""
        return f"preset {self.preset}" + (f", run {self.run[:8]}" if self.run else "")


@dataclass(frozen=True)
class Source:
    """Where the figures of an output come from.

    Attributes
    ----------
    bundle, stage, key
        Folder of the bundle, its stage and its content address.
    exploitability, tier
        Of the strategy as trained in mbb/hand, and the boards it was measured on; None where nobody measured.
    gain
        With three or more seats, what a responder gains on average over the seats, in mbb/hand.
    run
        None where the store does not know it: the bundle was unpacked, or an earlier version made it.
    """

    bundle: Path
    stage: str
    key: str
    game: GameConfig
    exploitability: float | None = None
    tier: str | None = None
    gain: float | None = None
    run: RunNote | None = None

    @property
    def caption(self) -> str:
        """One line for people: ``hu25, 25 bb · export-1a2b3c · preset fast · exploitability 556 mbb/hand``."""
        parts = [game_title(self.game), _short_name(self.stage, self.key)]
        if self.run is not None:
            parts.append(self.run.text)
        if self.exploitability is not None:
            parts.append(f"exploitability {mbb_text(self.exploitability)} mbb/hand")
        if self.gain is not None:
            parts.append(f"gain of a responder {mbb_text(self.gain)} mbb/hand")
        return _BETWEEN.join(parts)

    def data(self) -> dict[str, Any]:
        """The object `source` of a command's JSON."""
        return {
            "bundle": str(self.bundle),
            "key": self.key,
            **game_data(self.game),
            "exploitability_mbb": self.exploitability,
            **({} if self.gain is None else {"gain_mbb": self.gain}),
            "tier": self.tier,
            "preset": None if self.run is None else self.run.preset,
            "run": None if self.run is None else self.run.run,
        }


def mbb_text(value: float) -> str:
    """Exploitability with three digits that count.

    >>> mbb_text(2221.2), mbb_text(0.04567)
    ('2,221', '0.0457')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


@dataclass(frozen=True)
class SpotSource:
    """Where the figures of a saved postflop solve come from; `exploitability_pct` is in percent of the pot."""

    bundle: Path
    name: str
    board: str
    pot: int
    stack: int
    exploitability_pct: float | None = None

    @property
    def caption(self) -> str:
        """One line for people."""
        parts = [f"spot {self.board}, pot {self.pot}, stack {self.stack}", self.name]
        if self.exploitability_pct is not None:
            parts.append(f"exploitability {self.exploitability_pct:.3g} % of pot")
        return _BETWEEN.join(parts)

    def data(self) -> dict[str, Any]:
        """The object `source` of a command's JSON."""
        return {**vars(self), "bundle": str(self.bundle)}


@dataclass(frozen=True)
class SubgameSource:
    """Where the figures of a kept subgame come from: its spot, how it was solved, and on which blueprint."""

    bundle: Path
    name: str
    blueprint: str
    line: str
    board: str
    depth: str
    safety: str
    locked: tuple[str, ...]
    iterations: int

    @property
    def caption(self) -> str:
        """One line for people."""
        how = f"depth {self.depth}, {self.safety}" + (
            f", locked at {' '.join(self.locked)}" if self.locked else ""
        )
        parts = [f"subgame {self.line} on {self.board}", self.name, how, f"{self.iterations} iterations"]
        return _BETWEEN.join(parts)

    def data(self) -> dict[str, Any]:
        """The object `source` of a command's JSON."""
        return {**vars(self), "bundle": str(self.bundle), "locked": list(self.locked)}


def source_of(bundle: PreflopBundle | SpotBundle | SubgameBundle) -> Source | SpotSource | SubgameSource:
    """What a strategy that was saved is of, and which run it is from."""
    subgame = as_subgame(bundle)
    if subgame is not None:
        return _subgame_source(subgame)
    assert isinstance(bundle, PreflopBundle | SpotBundle)
    if isinstance(bundle, SpotBundle):
        spot = bundle.spot
        return SpotSource(
            bundle=bundle.path,
            name=_short_name(bundle.manifest.stage, bundle.key),
            board=spot["board"],
            pot=spot["pot"],
            stack=spot["stack"],
            exploitability_pct=bundle.metrics.get("exploitability_pct"),
        )
    return replace(_without_run(bundle), run=_read_note(bundle))


def as_subgame(bundle: Bundle) -> SubgameBundle | None:
    """A bundle as a kept subgame, None for any other. Its type is imported for it alone, as that loads the solver."""
    if bundle.manifest.stage != "subgame":
        return None
    from artifacts.subgame_bundle import SubgameBundle

    assert isinstance(bundle, SubgameBundle)
    return bundle


def _subgame_source(bundle: SubgameBundle) -> SubgameSource:
    config = bundle.config
    return SubgameSource(
        bundle=bundle.path,
        name=_short_name(bundle.manifest.stage, bundle.key),
        blueprint=bundle.blueprint_key,
        line=str(config["line"]),
        board=str(config["board"]),
        depth=str(config["depth"]),
        safety=str(config["safety"]),
        locked=tuple(map(str, config["locked"])),
        iterations=int(bundle.metrics["iterations"]),
    )


def _without_run(bundle: PreflopBundle) -> Source:
    return Source(
        bundle=bundle.path,
        stage=bundle.manifest.stage,
        key=bundle.key,
        game=bundle.game,
        exploitability=bundle.metrics.get("exploitability_raw"),
        tier=bundle.configuration.get("evaluate", {}).get("tier"),
        gain=bundle.metrics.get("gain_mean"),
    )


def bundle_caption(bundle: Bundle) -> str:
    """Caption of a stage's pictures, which all runs that find the bundle share: no run is named."""
    if isinstance(bundle, PreflopBundle):
        return _without_run(bundle).caption
    training = bundle.config.get("training")
    trained_for = training.get("game") if isinstance(training, Mapping) else None
    game = [game_title(GameConfig.from_mapping(trained_for))] if isinstance(trained_for, Mapping) else []
    return _BETWEEN.join([*game, _short_name(bundle.manifest.stage, bundle.key)])


def _short_name(stage: str, key: str) -> str:
    return f"{stage}-{key[:_SHORT_KEY]}"


def note_run(store: BundleStore, name: str, note: RunNote) -> None:
    """Remember the run that made or used a bundle. A store that cannot be written only costs captions the run."""
    file = store.root / _RUNS / f"{name}.json"
    temporary = file.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps(vars(note)), encoding="utf-8")
        temporary.replace(file)


def maker_run(bundle: Bundle, root: str | Path) -> str | None:
    """Id of the recorded run that made or last used a bundle of the store `root`; None where nobody knows it."""
    if bundle.path.resolve().parent != Path(root).resolve():
        return None
    note = _read_note(bundle)
    return None if note is None else note.run


def _read_note(bundle: Bundle) -> RunNote | None:
    """The run of a bundle; None where there is no note, or it cannot be read."""
    file = bundle.path.resolve().parent / _RUNS / f"{bundle.manifest.name}.json"
    try:
        note = json.loads(file.read_text(encoding="utf-8"))
        preset, run = note["preset"], note["run"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not isinstance(preset, str) or not isinstance(run, str | None):
        return None
    return RunNote(preset, run)
