"""Tests never touch the user's caches, and say nothing to the network. A tiny exported blueprint is shared."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

#: Boards that the tiny blueprint has buckets for: a flop, a turn on it, and every river of that turn.
TINY_TURN = "QsJh2h8d"


@pytest.fixture(scope="session", autouse=True)
def _session_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files that take longest come first, so that no worker is left alone with one at the end.

    Neighbours compile other kernels: while whole runs begin with the abstraction, `training` compiles the trainer.
    """
    names = [f"test_{name}.py" for name in ("runs", "training", "abstraction_stages", "commands", "tracking")]
    items.sort(key=lambda item: names.index(item.path.name) if item.path.name in names else len(names))


@pytest.fixture(scope="session")
def export_tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`export_tiny(scope="global", pot_types="per_line")`: folder of a small exported blueprint.

    A random strategy for a game of 10 big blinds in which the small blind always folds 72o and always
    raises AA; three textures, and buckets by strength of the hand made so far on a few boards.
    """

    @cache
    def export(scope: str = "global", pot_types: str = "per_line") -> Path:
        return _export(tmp_path_factory.mktemp(f"export-{scope}-{pot_types}"), scope, pot_types)

    return export


@pytest.fixture(scope="session")
def exported(export_tiny: Callable[..., Path]) -> Path:
    """The folder of the plain tiny blueprint."""
    return export_tiny()


@pytest.fixture
def unprivileged() -> Iterator[Callable[[], Any]]:
    """`with unprivileged() as folder`: permissions of files hold, also where the tests run as root."""
    folder = Path(tempfile.mkdtemp())

    @contextlib.contextmanager
    def without_root() -> Iterator[Path]:
        root = os.geteuid() == 0
        if root:
            os.chown(folder, 65534, 65534)
            os.setresuid(65534, 65534, 0)
        try:
            yield folder
        finally:
            if root:
                os.setresuid(0, 0, 0)

    yield without_root
    subprocess.run(["chmod", "-R", "u+rwX", str(folder)], check=True)
    shutil.rmtree(folder)


def _export(root: Path, scope: str, kind: str) -> Path:
    from rich.console import Console

    from abstractions.cards import CLASS_NAMES, NUM_CLASSES
    from abstractions.equity import class_pairs
    from abstractions.textures import build_textures
    from artifacts.bundle_store import BundleStore
    from artifacts.format.array_pack import pack_arrays
    from artifacts.readers import read_game
    from pipelines.run.cluster import InProcess
    from pipelines.run.engine import StageRun
    from pipelines.run.progress import Reporter
    from pipelines.stages import evaluate, export, preflop_ev
    from solver.betting.game import GameConfig, StreetSizes
    from solver.blueprint.pot_types import pot_types
    from solver.blueprint.rows import action_nodes

    store = BundleStore(root)

    def commit(stage: str, tables: Any, config: Any, metrics: Any = None, texts: Any = None) -> Any:
        record = dataclasses.asdict(config) if dataclasses.is_dataclass(config) else config
        return store.commit(
            tables,
            texts=texts,
            stage=stage,
            key=scope,
            code="",
            config=json.loads(json.dumps(record)),
            inputs={},
            metrics=metrics or {},
        )

    spread = np.linspace(0.1, 0.3, 1755)
    textures = build_textures(
        spread, np.random.default_rng(1), textures=3, turn_transitions=1, river_transitions=1
    )
    sizes = {"flop": 4, "turn": 5, "river": 6}
    totals = class_pairs() * 1_712_304
    strength = np.arange(NUM_CLASSES)
    wins = (totals / (1 + np.exp((strength[:, None] - strength) / 60))).astype(np.int64)
    wins = np.minimum(wins, totals - wins.T)
    inputs = {
        "textures": commit(
            "textures",
            {
                "textures": {
                    "texture": textures.texture_of_flop,
                    "turn_transition": textures.turn_transition,
                    "river_transition": textures.river_transition,
                },
                "texture_summary": {
                    "weight": textures.weights,
                    "medoid": textures.medoids,
                    "turn_counts": textures.turn_counts,
                    "river_counts": textures.river_counts,
                },
            },
            {"textures": 3},
        ),
        "buckets": commit(
            "buckets",
            _bucket_tables(textures, scope, sizes),
            {"scope": scope, "boards": "medoids", **sizes},
        ),
        "preflop_equity": commit(
            "preflop_equity", {"equity": {"wins": wins, "ties": totals - wins - wins.T, "totals": totals}}, {}
        ),
        "bucket_equity": commit(
            "bucket_equity",
            {f"equity_{name}": {"equity": np.full((n, n), 0.5, np.float32)} for name, n in sizes.items()},
            {},
        ),
    }
    config = GameConfig(
        stacks=(1000, 1000),
        raise_sizes=("2.5", "a"),
        raise_cap=2,
        postflop=(StreetSizes("50%", "2.5x", "50%", "2.5x"),) * 3,
    )
    game = read_game(config, inputs["preflop_equity"])
    pots = pot_types(game, kind)
    rng = np.random.default_rng(3)
    preflop = game.uniform()
    tree = game.preflop.tree
    for node in np.flatnonzero(tree.num_children > 0).tolist():
        weights = rng.random((tree.num_children[node], NUM_CLASSES)) ** 3
        preflop[tree.children_of(node)] = weights / weights.sum(axis=0)
    for hand, line in (("72o", "f"), ("AA", "b250")):
        preflop[tree.children_of(0), CLASS_NAMES.index(hand)] = 0.0
        preflop[tree.node_at(line), CLASS_NAMES.index(hand)] = 1.0
    strategy = {"preflop": preflop}
    for number, root_node in enumerate(pots.templates):
        for texture in range(3) if scope == "texture" else [-1]:
            for street, count in enumerate(sizes.values()):
                shape = (len(action_nodes(game.tree, root_node, street)), count)
                sums = rng.random(shape) * (rng.random(shape) < 0.8)
                strategy[f"average/{number}/{texture}/{street}"] = sums.astype(np.float32)
    trace = {
        "phase": ["lcfr", "dcfr"],
        "iteration": np.array([10, 20]),
        "exploitability": np.array([900.0, 800.0]),
    }
    training = {"game": dataclasses.asdict(config), "pot_types": kind}
    inputs["lcfr"] = commit("lcfr", {"trace": trace}, {"phase": {"iterations": 10}})
    inputs["dcfr"] = commit(
        "dcfr",
        {**pack_arrays("blueprint", strategy), "trace": trace},
        {"training": training, "phase": {"iterations": 20}},
    )
    run = StageRun(InProcess(), root / ".checkpoints", Reporter(Console(quiet=True)))
    wanted = preflop_ev.PreflopEvConfig(error=0.02, max_boards=128, seed=1)
    output = preflop_ev.compute(wanted, inputs, run)
    inputs["preflop_ev"] = commit("preflop_ev", output.tables, wanted, output.metrics)
    measuring = evaluate.EvaluateConfig(tier="small", street_tier="small", medoids=True, reach_rule="max")
    output = evaluate.compute(measuring, inputs, run)
    inputs["evaluate"] = commit("evaluate", output.tables, measuring, output.metrics)
    exporting = export.ExportConfig(reach_rule="max")
    output = export.compute(exporting, inputs, run)
    return commit("export", output.tables, exporting, output.metrics, output.texts).path


def _bucket_tables(textures: Any, scope: str, sizes: dict[str, int]) -> dict[str, Any]:
    """Buckets by strength of the hand made so far, on the typical boards and those of `TINY_TURN`."""
    from abstractions.buckets import BoardRows, board_rows, row_keys
    from abstractions.cards import COMBO_CARDS, NUM_COMBOS, live_combos, parse_board
    from abstractions.evaluator import evaluate as strengths
    from abstractions.isomorphism import board_index, canonical_boards
    from abstractions.textures import medoid_boards

    turn = parse_board(TINY_TURN)
    rest = np.setdiff1d(np.arange(52), turn)
    deals = np.concatenate([medoid_boards(textures)[0], [[*turn, card] for card in rest]]).astype(np.uint8)
    tables: dict[str, Any] = {}
    for cards, (name, count) in zip((3, 4, 5), sizes.items()):
        rows = board_rows(cards, textures if scope == "texture" else None)
        kept = np.isin(rows.boards, board_index(deals[:, :cards])[0])
        rows = BoardRows(
            rows.boards[kept], rows.textures[kept], rows.weights[kept], rows.offsets, rows.num_textures
        )
        table = np.full((len(rows.boards), NUM_COMBOS), 65535, dtype=np.uint16)
        for row, number in enumerate(rows.boards):
            board = canonical_boards(cards).boards[number]
            live = np.flatnonzero(live_combos(board))
            made = strengths(np.column_stack([COMBO_CARDS[live], np.tile(board, (len(live), 1))]))
            table[row, live] = np.searchsorted(np.sort(made), made) * count // len(made)
        tables[f"buckets_{name}"] = {"bucket": table, "row_key": row_keys(rows)}
    tables["centroids"] = {"street": list(sizes), "bucket": np.arange(3), "equity": np.full(3, 0.5)}
    if scope == "texture":
        tables["flop_textures"] = {"texture": textures.texture_of_flop}
    return tables
