"""The sources that the explorer may show: bundles of one store, by name, and simple agents on their games.

A request names a source and never a path. Whatever is not in the list below does not exist.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from artifacts.agents import Agent, locked_agent, simple_agent
from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.blueprint.multiway_bundle import MultiwayBundle
from artifacts.blueprint.preflop_bundle import PreflopBundle
from artifacts.bundle import open_bundle
from artifacts.bundle_store import BundleStore
from artifacts.errors import BundleError
from artifacts.format.manifest import MANIFEST, Manifest, read_manifest
from artifacts.spot_bundle import SpotBundle
from artifacts.subgame_bundle import SubgameBundle
from pipelines.config.named_games import game_title
from pipelines.explorer.models import SourceKind, SourceModel
from pipelines.explorer.refusals import Refusal
from pipelines.run.bundle_source import Source as BundleSource
from pipelines.run.bundle_source import SpotSource, source_of
from solver.simple_strategies import SIMPLE
from solver.subgame.locks import action_lock

Source = PreflopBundle | SpotBundle | SubgameBundle | Agent
KINDS = {
    "export": SourceKind.BLUEPRINT,
    "preflop_solve": SourceKind.PREFLOP,
    "postflop_solve": SourceKind.SPOT,
    "subgame": SourceKind.SUBGAME,
}
#: How an agent on the game of a blueprint is written: ``always-call:export-KEY``.
_AGENT = re.compile(rf"({'|'.join(SIMPLE)}):(.+)")
#: How a blueprint with a locked decision is written: ``locked:export-KEY|b250c/|x=0.4,b300=0.6``, and which hands are
#: locked behind another ``|``.
_LOCKED = re.compile(r"locked:([^|]+)\|([^|]*)\|([^|]*)(?:\|([^|]*))?")
#: Bundles that are kept open.
_OPEN = 12


class Catalogue:
    """The sources of a store.

    Parameters
    ----------
    store
        Folder whose bundles may be named.
    given
        A bundle that may be named too, wherever it lies; it comes first.
    """

    def __init__(self, store: BundleStore, given: Path | None = None) -> None:
        self.store = store
        self._given = given
        self._open: OrderedDict[str, Source] = OrderedDict()
        self._known: dict[tuple[str, int], SourceModel] = {}
        self._manifests: dict[str, tuple[int, Manifest]] = {}
        self._lock = threading.RLock()

    def folders(self) -> dict[str, Path]:
        """Folders that hold a bundle which can be shown, by name; those used last come first."""
        found = [path.parent for path in self.store.root.glob(f"*/{MANIFEST}")]
        found = [folder for folder in found if not folder.name.startswith(".") and not folder.is_symlink()]
        found.sort(key=lambda folder: (-folder.stat().st_mtime_ns, folder.name))
        if self._given is not None:
            found.insert(0, self._given)
        return {folder.name: folder for folder in reversed(found)}

    def manifests(self) -> dict[str, Manifest]:
        """Manifests of the bundles that can be shown, by name of the folder."""
        manifests = {}
        for name, folder in reversed(self.folders().items()):
            try:
                manifest = self._manifest(name, folder)
            except BundleError:
                continue
            if manifest.stage in KINDS:
                manifests[name] = manifest
        return manifests

    def _manifest(self, name: str, folder: Path) -> Manifest:
        """A manifest, read again when its file has changed: a store may hold hundreds of solves."""
        changed = (folder / MANIFEST).stat().st_mtime_ns
        known = self._manifests.get(name)
        if known is None or known[0] != changed:
            known = changed, read_manifest(folder)
            self._manifests[name] = known
        return known[1]

    def sources(self) -> list[SourceModel]:
        """All sources by kind, those used last first; a bundle that was given comes before all others."""
        listed, agents = [], []
        for name, manifest in self.manifests().items():
            try:
                listed.append(self._about(name, manifest))
            except BundleError as error:
                listed.append(
                    SourceModel(id=name, kind=KINDS[manifest.stage], title=name, problem=str(error))
                )
                continue
            if listed[-1].kind == SourceKind.BLUEPRINT and len(listed[-1].seats) == 2:
                agents += [_about_agent(agent, listed[-1]) for agent in SIMPLE]
        order = list(SourceKind)
        given = None if self._given is None else self._given.name
        listed.sort(key=lambda source: (source.id != given, order.index(source.kind)))
        return listed + agents

    @contextmanager
    def using(self, name: str) -> Iterator[Source]:
        """A source for one request at a time: readers share scratch memory."""
        with self._lock:
            yield self.open(name)

    def open(self, name: str) -> Source:
        """A source by its name."""
        with self._lock:
            if name not in self._open:
                self._open[name] = self._opened(name)
                while len(self._open) > _OPEN:
                    self._open.popitem(last=False)
            self._open.move_to_end(name)
            return self._open[name]

    def blueprint(self, name: str) -> BlueprintBundle:
        """A source that is a blueprint."""
        source = self.open(name)
        if isinstance(source, MultiwayBundle):
            raise Refusal(f"source {name!r} has {len(source.seats)} seats; this needs a blueprint of two")
        if not isinstance(source, BlueprintBundle):
            raise Refusal(f"source {name!r} is no blueprint; this needs one")
        return source

    def below(self, subgame: SubgameBundle) -> BlueprintBundle:
        """The blueprint that a subgame was solved on."""
        name = self.name_of(subgame.blueprint_key)
        if name is not None:
            return self.blueprint(name)
        raise Refusal(
            f"source {subgame.path.name!r}: its blueprint export-{subgame.blueprint_key} is not in this store",
            status=404,
        )

    def name_of(self, key: str, stage: str = "export") -> str | None:
        """Name of the bundle of a stage with a key, by default a blueprint; None if it is not in the store."""
        for name, manifest in self.manifests().items():
            if manifest.stage == stage and manifest.key == key:
                return name
        return None

    def parent(self, subgame: SubgameBundle) -> SubgameBundle | None:
        """The solve of an earlier street that a subgame goes on from; None for none, or where it is not kept."""
        key = subgame.parent_key
        return None if key is None else self._subgame(self.name_of(key, subgame.manifest.stage))

    def children(self, subgame: SubgameBundle) -> Iterator[SubgameBundle]:
        """The solves that go on from a subgame, those used last first."""
        stage = subgame.manifest.stage
        for name, manifest in self.manifests().items():
            if manifest.stage == stage and manifest.inputs.get(stage) == subgame.key:
                found = self._subgame(name)
                if found is not None:
                    yield found

    def _subgame(self, name: str | None) -> SubgameBundle | None:
        found = None if name is None else self.open(name)
        return found if isinstance(found, SubgameBundle) else None

    def _opened(self, name: str) -> Source:
        agent = _AGENT.fullmatch(name)
        if agent is not None:
            return simple_agent(self.blueprint(agent[2]), agent[1])
        locked = _LOCKED.fullmatch(name)
        if locked is not None:
            return self._locked(*locked.groups())
        folder = self.folders().get(name)
        if folder is None:
            raise Refusal(
                f"source {name[:80]!r} is not in this store; GET /api/sources lists them", status=404
            )
        opened = open_bundle(folder)
        if not isinstance(opened, PreflopBundle | SpotBundle | SubgameBundle):
            raise Refusal(
                f"source {name!r} is a bundle of stage {opened.manifest.stage}, which has no strategy"
            )
        return opened

    def _locked(self, name: str, line: str, strategy: str, hands: str | None) -> Agent:
        """The agent of a blueprint, a line, what is played there, and the hands that it is for."""
        blueprint, shares = self.blueprint(name), {}
        for part in strategy.split(","):
            token, _, share = part.partition("=")
            try:
                shares[token] = float(share)
            except ValueError:
                raise Refusal(f"lock {strategy!r}: write it as x=0.4,b300=0.6") from None
        table = action_lock(blueprint.decision(line).tokens, shares, hands or None)
        return locked_agent(blueprint, line, table)

    def _about(self, name: str, manifest: Manifest) -> SourceModel:
        key = (name, self.folders()[name].stat().st_mtime_ns)
        if key not in self._known:
            self._known[key] = self._described(name, manifest)
        return self._known[key]

    def _described(self, name: str, manifest: Manifest) -> SourceModel:
        kind = KINDS[manifest.stage]
        if kind == SourceKind.SUBGAME:
            return _about_subgame(name, manifest, self.name_of(manifest.inputs["export"]))
        bundle = self.open(name)
        assert isinstance(bundle, PreflopBundle | SpotBundle)
        about = source_of(bundle)
        model = SourceModel(id=name, kind=kind, title=about.caption, seats=list(bundle.seats))
        if isinstance(about, BundleSource):
            assert isinstance(bundle, PreflopBundle)
            model.game = game_title(about.game)
            model.exploitability_mbb = about.exploitability
            model.tier = about.tier
            model.preset = None if about.run is None else about.run.preset
        else:
            assert isinstance(about, SpotSource)
            model.board, model.exploitability_pct = about.board, about.exploitability_pct
        return model


def _about_subgame(name: str, manifest: Manifest, blueprint: str | None) -> SourceModel:
    config = manifest.config
    line, board = str(config.get("line", "")), str(config.get("board", ""))
    locked = [str(line) for line in config.get("locked", [])]
    how = "deep" if config.get("depth") == "full" else "quick"
    return SourceModel(
        id=name,
        kind=SourceKind.SUBGAME,
        title=f"{line} on {board}, {how}, {config.get('safety', '')}" + (", locked" if locked else ""),
        line=line,
        board=board,
        blueprint=blueprint,
        locked=locked,
        iterations=int(manifest.metrics.get("iterations", 0)),
    )


def _about_agent(agent: str, blueprint: SourceModel) -> SourceModel:
    return SourceModel(
        id=f"{agent}:{blueprint.id}",
        kind=SourceKind.AGENT,
        title=f"{agent}, {blueprint.game}",
        game=blueprint.game,
        seats=blueprint.seats,
        blueprint=blueprint.id,
    )
