"""The training stages on a tiny game: they learn, they resume, and nothing that dies changes a byte."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rich.console import Console

from abstractions.buckets import row_keys
from abstractions.cards import COMBO_CARDS, NUM_CLASSES, NUM_COMBOS, live_combos
from abstractions.equity import class_pairs
from abstractions.evaluator import evaluate as strengths
from abstractions.isomorphism import canonical_boards
from abstractions.textures import Textures, build_textures
from artifacts.bundle import Bundle
from artifacts.bundle_store import BundleStore
from artifacts.format.array_pack import unpack_arrays
from artifacts.readers import read_bucket_rows, read_state, read_textures, read_trained_blueprint
from pipelines.config.training import PhaseConfig
from pipelines.figures.evaluate import evaluation_figures
from pipelines.figures.trace import trace_figures
from pipelines.run.cluster import Cluster, InProcess, open_cluster
from pipelines.run.engine import Output, StageRun
from pipelines.run.progress import Reporter
from pipelines.stages import dcfr, evaluate, lcfr
from pipelines.stages.dcfr import DcfrConfig
from pipelines.stages.evaluate import EvaluateConfig
from pipelines.stages.lcfr import LcfrConfig
from pipelines.training import phase as training
from pipelines.training.checkpoints import Checkpoint, Checkpoints
from pipelines.training.evaluation_boards import evaluation_boards, exploitability
from pipelines.training.setup import Setup, TrainingConfig
from pipelines.training.trace import Measurement, has_risen
from solver.betting.game import GameConfig, StreetSizes
from solver.blueprint.trainer import BlueprintTrainer

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster as ManyNodes

ray = pytest.importorskip("ray")

BUCKETS = {"flop": 20, "turn": 30, "river": 40}
STREETS = {"flop": 3, "turn": 4, "river": 5}
TINY = GameConfig(
    stacks=(400, 400),
    raise_sizes=("2", "a"),
    raise_cap=2,
    postflop=(StreetSizes("100%", None, "100%", None),) * 3,
)
TRAINING = TrainingConfig(
    game=TINY,
    pot_types="per_line",
    boards="medoids",
    batch=4,
    epoch_length=0,
    opponent="river_best_response",
    preflop="self_play",
    showdown="exact",
    tier="small",
    prune_below=None,
    seed=11,
    checkpoint_minutes=60.0,
    max_core_hours=None,
    target_exploitability=None,
)
FIRST = PhaseConfig(10, "lcfr", None, None, None, 2)
SECOND = PhaseConfig(60, "dcfr", None, None, None, 3)


def changed(config: Any, **changes: Any) -> Any:
    return type(config)(**{**vars(config), **changes})


def street_table(textures: Textures, scope: str, cards: int, count: int) -> dict[str, Any]:
    """Buckets on the typical boards by strength of the hand made so far."""
    config = SimpleNamespace(config={"scope": scope, "boards": "medoids"})
    rows = read_bucket_rows(config, cards, textures)  # type: ignore[arg-type]
    table = np.full((len(rows.boards), NUM_COMBOS), 65535, dtype=np.uint16)
    for row, number in enumerate(rows.boards):
        board = canonical_boards(cards).boards[number]
        live = np.flatnonzero(live_combos(board))
        strength = strengths(np.column_stack([COMBO_CARDS[live], np.tile(board, (len(live), 1))]))
        table[row, live] = np.searchsorted(np.sort(strength), strength) * count // len(strength)
    return {"bucket": table, "row_key": row_keys(rows)}


def make_inputs(store: BundleStore, scope: str = "global") -> dict[str, Bundle]:
    """Input bundles of a three-texture abstraction with made-up preflop equities."""

    def commit(stage: str, tables: Mapping[str, Mapping[str, Any]], config: Mapping[str, Any]) -> Bundle:
        return store.commit(tables, stage=stage, key=scope, code="", config=config, inputs={}, metrics={})

    spread = np.linspace(0.1, 0.3, 1755)
    textures = build_textures(
        spread, np.random.default_rng(1), textures=3, turn_transitions=2, river_transitions=2
    )
    flops = {
        "texture": textures.texture_of_flop,
        "turn_transition": textures.turn_transition,
        "river_transition": textures.river_transition,
    }
    summary = {
        "weight": textures.weights,
        "medoid": textures.medoids,
        "turn_counts": textures.turn_counts,
        "river_counts": textures.river_counts,
    }
    tables: dict[str, Any] = {
        f"buckets_{street}": street_table(textures, scope, cards, BUCKETS[street])
        for street, cards in STREETS.items()
    }
    if scope == "texture":
        tables["flop_textures"] = {"texture": textures.texture_of_flop}
    totals = class_pairs() * 1_712_304
    strength = np.argsort(np.argsort(-np.arange(NUM_CLASSES) % 61))
    wins = (totals / (1 + np.exp((strength[:, None] - strength[None, :]) / 60))).astype(np.int64)
    edge = np.linspace(-0.5, 0.5, BUCKETS["river"])
    equity = (0.5 + (edge[:, None] - edge) / 2).astype(np.float32)
    return {
        "textures": commit("textures", {"textures": flops, "texture_summary": summary}, {"textures": 3}),
        "buckets": commit("buckets", tables, {"scope": scope, "boards": "medoids", **BUCKETS}),
        "preflop_equity": commit(
            "preflop_equity",
            {"equity": {"wins": wins, "ties": totals - wins - wins.T, "totals": totals}},
            {},
        ),
        "bucket_equity": commit(
            "bucket_equity",
            {"equity_river": {"equity": np.tile(equity, (3 if scope == "texture" else 1, 1))}},
            {},
        ),
    }


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> BundleStore:
    return BundleStore(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def inputs(store: BundleStore) -> dict[str, Bundle]:
    return make_inputs(store)


class Run(StageRun):
    """A stage's run that calls `watch(done)` after every iteration and keeps what is logged."""

    def __init__(self, folder: Path, cluster: Cluster, watch: Callable[[float], None] | None = None) -> None:
        super().__init__(cluster, folder, Reporter(Console(quiet=True)))
        self.watch = watch
        self.logged: list[tuple[int, dict[str, float]]] = []

    def progress(self, done: float, total: float, status: str = "") -> None:
        super().progress(done, total, status)
        if self.watch is not None:
            self.watch(done)

    def log(self, figures: Mapping[str, float], *, step: int) -> None:
        self.logged.append((step, dict(figures)))


def commit(store: BundleStore, stage: str, key: str, config: Any, output: Output) -> Bundle:
    return store.commit(
        output.tables,
        stage=stage,
        key=key,
        code="",
        config=json.loads(json.dumps(dataclasses.asdict(config))),
        inputs={},
        metrics=output.metrics,
    )


def file_hashes(bundle: Bundle) -> dict[str, str]:
    return {name: entry.sha256 for name, entry in bundle.manifest.files.items()}


@pytest.fixture(scope="module")
def trained(
    store: BundleStore, inputs: dict[str, Bundle], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Bundle]:
    """Both phases without any disturbance, in this process."""
    config = LcfrConfig(TRAINING, FIRST)
    run = Run(tmp_path_factory.mktemp("lcfr"), InProcess())
    first = commit(store, "lcfr", "plain", config, lcfr.compute(config, inputs, run))
    second_config = DcfrConfig(TRAINING, SECOND)
    run = Run(tmp_path_factory.mktemp("dcfr"), InProcess())
    output = dcfr.compute(second_config, {**inputs, "lcfr": first}, run)
    assert [step for step, _ in run.logged] == SECOND.marks()
    assert run.logged[-1][1]["messages_per_iteration"] == 4
    return {
        **inputs,
        "lcfr": first,
        "dcfr": commit(store, "dcfr", "plain", second_config, output),
    }


def dcfr_again(
    trained: dict[str, Bundle], store: BundleStore, key: str, run: Run, config: DcfrConfig | None = None
) -> Bundle:
    config = config or DcfrConfig(TRAINING, SECOND)
    return commit(store, "dcfr", key, config, dcfr.compute(config, trained, run))


def test_exploitability_falls_from_measurement_to_measurement(trained: dict[str, Bundle]) -> None:
    trace = trained["dcfr"]["trace"]
    assert trace["phase"].tolist() == ["lcfr"] * 2 + ["dcfr"] * 3
    assert trace["iteration"].tolist() == [5, 10, 20, 40, 60]
    values = trace["exploitability"]
    assert 0 < values[-1] < 0.8 * values[0], values
    metrics = trained["dcfr"].metrics
    assert metrics["exploitability_last"] == values[-1]
    assert metrics["exploitability_best"] == values[2:].min()
    assert metrics["exploitability_current"] != metrics["exploitability_last"]
    for stage in ("lcfr", "dcfr"):
        for figure in trace_figures(trained[stage]).values():
            figure.canvas.draw()


def test_the_exported_blueprint_is_the_one_that_was_measured_best(trained: dict[str, Bundle]) -> None:
    blueprint = read_trained_blueprint(trained["dcfr"], trained["buckets"], trained["preflop_equity"])
    textures = read_textures(trained["textures"])
    boards = evaluation_boards("full", textures, trained["buckets"], "medoids")
    assert exploitability(blueprint, boards, InProcess()) == pytest.approx(
        trained["dcfr"].metrics["exploitability_best"], rel=1e-12
    )


def test_with_a_worse_ending_the_best_measurement_is_exported(
    trained: dict[str, Bundle], store: BundleStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = iter([5.0, 1.0, 3.0, 4.0])  # the last one is that of the current strategy
    monkeypatch.setattr(BlueprintTrainer, "exploitability", lambda *_: next(figures))
    late = dcfr_again(trained, store, "late", Run(tmp_path / "late", InProcess()))
    assert late.metrics["best_iteration"] == 40
    assert (late.metrics["exploitability_best"], late.metrics["exploitability_last"]) == (1.0, 3.0)
    figures = iter([5.0, 1.0, 4.0])
    shorter = DcfrConfig(TRAINING, changed(SECOND, iterations=40, measurements=2))
    short = dcfr_again(trained, store, "short", Run(tmp_path / "short", InProcess()), shorter)
    one, other = unpack_arrays(late, "blueprint"), unpack_arrays(short, "blueprint")
    assert one.keys() == other.keys()
    for key, array in one.items():
        assert array.tobytes() == other[key].tobytes()


def test_a_phase_that_gets_worse_stops_says_so_and_exports_its_best(
    trained: dict[str, Bundle], store: BundleStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(StageRun, "say", lambda _, words: said.append(words))
    config = DcfrConfig(
        dataclasses.replace(TRAINING, stop_above_best=0.02), changed(SECOND, iterations=10, measurements=10)
    )
    # One measurement above the best is a wobble; of the two later ones the second ends the phase.
    figures = iter([5.0, 4.0, 4.2, 4.05, 3.9, 4.1, 4.0, 7.0])
    monkeypatch.setattr(BlueprintTrainer, "exploitability", lambda *_: next(figures))
    worse = dcfr_again(trained, store, "worse", Run(tmp_path / "worse", InProcess()), config)
    assert (worse.metrics["stopped_early"], worse.metrics["iterations"]) == (1.0, 7.0)
    assert (worse.metrics["best_iteration"], worse.metrics["exploitability_best"]) == (5.0, 3.9)
    (words,) = said
    assert words.startswith(
        "stopped after 7 of 10 iterations: exploitability has risen from 3.9 mbb/hand after 5"
    )
    figures = iter([5.0, 4.0, 4.2, 4.05, 3.9, 4.1, 4.0, 4.1, 4.2, 4.3, 7.0])
    never = DcfrConfig(dataclasses.replace(config.training, stop_above_best=None), config.phase)
    whole = dcfr_again(trained, store, "whole", Run(tmp_path / "whole", InProcess()), never)
    assert (whole.metrics["stopped_early"], whole.metrics["iterations"]) == (0.0, 10.0)
    one, other = unpack_arrays(worse, "blueprint"), unpack_arrays(whole, "blueprint")
    for key, array in one.items():
        assert array.tobytes() == other[key].tobytes()


@pytest.mark.parametrize(
    ("values", "risen"),
    [
        ([], False),
        ([9.0, 8.0], False),
        ([8.0, 9.0], False),  # one measurement above the best
        ([8.0, 9.0, 9.0], True),
        ([8.0, 9.0, 8.1, 9.0], False),  # never two in a row
        ([8.0, 8.1, 8.15], False),  # not by 2 %
        ([9.0, 8.0, 8.2, 8.17], True),
    ],
)
def test_two_measurements_in_a_row_above_the_best_are_a_rise(values: list[float], risen: bool) -> None:
    assert has_risen(tuple(Measurement(k, value) for k, value in enumerate(values)), 0.02) is risen


class Killed(Exception):
    pass


@pytest.mark.parametrize("moment", [1, 21, 43])
def test_a_run_killed_at_any_moment_resumes_and_ends_with_the_same_bytes(
    trained: dict[str, Bundle],
    store: BundleStore,
    tmp_path: Path,
    moment: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    often = DcfrConfig(changed(TRAINING, checkpoint_minutes=1e-9), SECOND)
    monkeypatch.setattr(training, "SAVING_SHARE", np.inf)  # after every iteration

    def die(done: float) -> None:
        if done == moment:
            raise Killed

    with pytest.raises(Killed):
        dcfr.compute(often, trained, Run(tmp_path, InProcess(), die))
    saved = sorted(path.name for path in tmp_path.glob("*.npz"))
    assert f"{moment:09d}.npz" in saved
    assert len(saved) <= 3
    if moment == 43:  # the last file was cut off by the crash: the one before it serves
        whole = (tmp_path / saved[-1]).read_bytes()
        (tmp_path / saved[-1]).write_bytes(whole[: len(whole) // 2])
    begun: list[float] = []
    resumed = dcfr_again(trained, store, f"resumed-{moment}", Run(tmp_path, InProcess(), begun.append), often)
    assert begun[0] == (43 if moment == 43 else moment + 1)
    assert file_hashes(resumed) == file_hashes(trained["dcfr"])
    assert resumed.metrics == trained["dcfr"].metrics


def opened_fleets(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The fleets that training opens from now on."""
    fleets: list[Any] = []
    original = Setup.open_fleet

    def open_fleet(setup: Setup, run: StageRun) -> Any:
        fleets.append(original(setup, run))
        return fleets[-1]

    monkeypatch.setattr(Setup, "open_fleet", open_fleet)
    return fleets


def test_saving_takes_a_small_share_of_the_time(
    trained: dict[str, Bundle], store: BundleStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[int] = []
    original = Checkpoints.save

    def save_slowly(checkpoints: Checkpoints, checkpoint: Checkpoint) -> None:
        time.sleep(0.5)
        saved.append(checkpoint.iteration)
        original(checkpoints, checkpoint)

    monkeypatch.setattr(Checkpoints, "save", save_slowly)
    often = DcfrConfig(changed(TRAINING, checkpoint_minutes=1e-9), SECOND)
    dcfr_again(trained, store, "often", Run(tmp_path, InProcess()), often)
    # After the first iteration nothing but measurements is saved: ten seconds must pass first.
    assert saved == [1, 20, 40, 60]


@pytest.mark.whole
@pytest.mark.slow
def test_a_node_that_dies_under_its_shards_changes_nothing(
    trained: dict[str, Bundle],
    store: BundleStore,
    two_nodes: ManyNodes,
    lose_a_node: Callable[[], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fleets = opened_fleets(monkeypatch)
    moments = {int(np.random.default_rng().integers(5, SECOND.iterations - 5))}

    def kill(done: float) -> None:
        if done in moments:
            moments.clear()
            lose_a_node()

    settings = SimpleNamespace(
        kind="ray", address=two_nodes.address, num_cpus=None, object_store_mb=None, retries=10, in_flight=2
    )
    with open_cluster(settings) as cluster:  # type: ignore[arg-type]
        again = dcfr_again(trained, store, "node", Run(tmp_path, cluster, kill))
    assert len(fleets) > 1
    assert file_hashes(again) == file_hashes(trained["dcfr"])


@pytest.fixture(scope="module")
def two_cores() -> Iterator[Cluster]:
    settings = SimpleNamespace(
        kind="local", address=None, num_cpus=2, object_store_mb=128, retries=3, in_flight=2
    )
    with open_cluster(settings) as cluster:  # type: ignore[arg-type]
        yield cluster


@pytest.mark.whole
def test_actors_killed_at_random_moments_change_nothing(
    trained: dict[str, Bundle],
    store: BundleStore,
    two_cores: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fleets = opened_fleets(monkeypatch)
    rng = np.random.default_rng()
    moments = set(rng.choice(np.arange(1, SECOND.iterations), 2, replace=False).tolist())

    def kill(done: float) -> None:
        if done in moments:
            moments.remove(int(done))
            ray.kill(fleets[-1].hosts.actors[int(rng.integers(2))])

    again = dcfr_again(trained, store, "killed", Run(tmp_path, two_cores, kill))
    assert len(fleets) == 3
    assert file_hashes(again) == file_hashes(trained["dcfr"])
    assert again.metrics == trained["dcfr"].metrics


@pytest.mark.parametrize(
    "changes",
    [
        {"opponent": "abstract"},
        {"preflop": "guarded"},
        {"showdown": "bucket", "opponent": "abstract"},
        {"pot_types": "shared"},
        {"batch": 0},
        {"prune_below": -1e7},
    ],
)
def test_other_modes_train_and_export_too(
    inputs: dict[str, Bundle], store: BundleStore, tmp_path: Path, changes: dict[str, Any]
) -> None:
    settings = changed(TRAINING, **changes)
    first = LcfrConfig(settings, FIRST)
    output = lcfr.compute(first, inputs, Run(tmp_path / "lcfr", InProcess()))
    name = "-".join(changes)
    bundle = commit(store, "lcfr", f"mode-{name}", first, output)
    config = DcfrConfig(settings, SECOND)
    run = Run(tmp_path / "dcfr", InProcess())
    result = dcfr_again({**inputs, "lcfr": bundle}, store, f"mode-{name}", run, config)
    values = result["trace"]["exploitability"]
    if "showdown" not in changes:
        assert values[0] > values[-1] > 0
    # Bucket equities on so few buckets soon reach what they allow: compare with the very start.
    start = LcfrConfig(settings, changed(FIRST, iterations=1))
    untrained = lcfr.compute(start, inputs, Run(tmp_path / "start", InProcess())).tables["trace"]
    assert 0 < max(values) < untrained["exploitability"][0]
    blueprint = read_trained_blueprint(result, inputs["buckets"], inputs["preflop_equity"])
    assert np.isfinite(blueprint.table).all()


@pytest.mark.whole
@pytest.mark.parametrize("scope", ["global", "texture"])
def test_opponents_with_buckets_of_their_own_train_alike_on_hosts(
    store: BundleStore, two_cores: Cluster, tmp_path: Path, scope: str
) -> None:
    inputs = make_inputs(store, scope)
    textures = read_textures(inputs["textures"])
    seen = {"flop": 50, "turn": 70, "river": 0}
    tables = {
        f"buckets_{street}": street_table(textures, scope, STREETS[street], seen[street])
        for street in ("flop", "turn")
    }
    if scope == "texture":
        tables["flop_textures"] = {"texture": textures.texture_of_flop}
    settings = {"scope": scope, "boards": "medoids", **seen}
    inputs["opponent_buckets"] = store.commit(
        tables, stage="opponent_buckets", key=scope, code="", config=settings, inputs={}, metrics={}
    )
    config = LcfrConfig(TRAINING, FIRST)
    bundles = []
    for name, cluster in (("here", InProcess()), ("there", two_cores)):
        output = lcfr.compute(config, inputs, Run(tmp_path / name, cluster))
        bundles.append(commit(store, "lcfr", f"finer-{scope}-{name}", config, output))
    assert file_hashes(bundles[0]) == file_hashes(bundles[1])
    opponents = {
        array.shape[1] for key, array in read_state(bundles[0]).items() if key.startswith("opponent/")
    }
    assert opponents == {50, 70}
    second = DcfrConfig(TRAINING, SECOND)
    result = dcfr_again(
        {**inputs, "lcfr": bundles[0]}, store, f"finer-{scope}", Run(tmp_path / "dcfr", InProcess()), second
    )
    assert result["trace"]["exploitability"][0] > result["trace"]["exploitability"][-1] > 0


@pytest.mark.whole
def test_buckets_by_texture_train_on_hosts_that_share_the_textures(
    store: BundleStore, two_cores: Cluster, tmp_path: Path
) -> None:
    inputs = make_inputs(store, "texture")
    config = LcfrConfig(TRAINING, FIRST)
    bundles = []
    for name, cluster in (("here", InProcess()), ("there", two_cores)):
        output = lcfr.compute(config, inputs, Run(tmp_path / name, cluster))
        bundles.append(commit(store, "lcfr", f"texture-{name}", config, output))
    assert file_hashes(bundles[0]) == file_hashes(bundles[1])
    assert bundles[0].metrics["exploitability_last"] < bundles[0]["trace"]["exploitability"][0]
    by_bucket = LcfrConfig(changed(TRAINING, showdown="bucket", opponent="abstract"), FIRST)
    trace = lcfr.compute(by_bucket, inputs, Run(tmp_path / "bucket", InProcess())).tables["trace"]
    assert trace["exploitability"][-1] < trace["exploitability"][0]


def test_a_phase_ends_early_when_it_is_good_enough_or_has_cost_enough(
    trained: dict[str, Bundle], store: BundleStore, tmp_path: Path
) -> None:
    good = trained["dcfr"]["trace"]["exploitability"][3]
    for name, changes, iterations in (
        ("target", {"target_exploitability": good + 1e-6}, 40),
        ("budget", {"max_core_hours": 1e-9}, 20),
    ):
        config = DcfrConfig(changed(TRAINING, **changes), SECOND)
        bundle = dcfr_again(trained, store, name, Run(tmp_path / name, InProcess()), config)
        assert bundle.metrics["iterations"] == iterations


def test_without_iterations_of_its_own_dcfr_exports_the_average_of_lcfr(
    trained: dict[str, Bundle], store: BundleStore, tmp_path: Path
) -> None:
    config = DcfrConfig(TRAINING, changed(SECOND, iterations=0))
    bundle = dcfr_again(trained, store, "none", Run(tmp_path, InProcess()), config)
    blueprint = read_trained_blueprint(bundle, trained["buckets"], trained["preflop_equity"])
    boards = evaluation_boards("small", read_textures(trained["textures"]), trained["buckets"], "medoids")
    assert exploitability(blueprint, boards, InProcess()) == pytest.approx(
        trained["lcfr"].metrics["exploitability_last"]
    )


def test_dcfr_runs_without_lcfr_before_it(
    inputs: dict[str, Bundle], store: BundleStore, tmp_path: Path
) -> None:
    guarded = changed(TRAINING, preflop="guarded")
    first = LcfrConfig(guarded, changed(FIRST, iterations=0))
    bundle = commit(
        store, "lcfr", "zero", first, lcfr.compute(first, inputs, Run(tmp_path / "a", InProcess()))
    )
    second = DcfrConfig(guarded, SECOND)
    result = dcfr_again({**inputs, "lcfr": bundle}, store, "only", Run(tmp_path / "b", InProcess()), second)
    assert result["trace"]["exploitability"][0] > result["trace"]["exploitability"][-1]


def test_the_last_two_checkpoints_and_the_best_are_kept(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    trace: tuple[Measurement, ...] = ()
    for iteration, value in ((2, 9.0), (4, 3.0), (6, 5.0), (8, 4.0), (10, 6.0)):
        trace = (*trace, Measurement(iteration, value))
        state = {"counters": np.array([iteration, iteration, 0]), "regret/0/-1/0": np.full((2, 2), value)}
        checkpoints.save(Checkpoint(state, trace, 1.5 * iteration))
    assert sorted(int(path.stem) for path in tmp_path.iterdir()) == [4, 8, 10]
    newest = checkpoints.newest()
    assert newest is not None
    assert (newest.iteration, newest.trace, newest.seconds) == (10, trace, 15.0)
    np.testing.assert_array_equal(newest.state["regret/0/-1/0"], np.full((2, 2), 6.0))
    for path in tmp_path.iterdir():
        path.write_bytes(b"nothing")
    assert checkpoints.newest() is None


@pytest.mark.whole
def test_the_evaluation_stage_measures_the_exported_blueprint(
    trained: dict[str, Bundle], store: BundleStore, two_cores: Cluster, tmp_path: Path
) -> None:
    config = EvaluateConfig(tier="full", street_tier="small", medoids=True, reach_rule="max")
    bundles = []
    for name, cluster in (("here", InProcess()), ("there", two_cores)):
        output = evaluate.compute(config, trained, Run(tmp_path / name, cluster))
        bundles.append(commit(store, "evaluate", name, config, output))
    assert file_hashes(bundles[0]) == file_hashes(bundles[1])
    metrics = bundles[0].metrics
    assert metrics == bundles[1].metrics
    # Every tier is the medoid game where only its boards have buckets: what training measured is found again.
    best = trained["dcfr"].metrics["exploitability_best"]
    assert metrics["exploitability_raw"] == pytest.approx(best, rel=1e-5)
    assert metrics["exploitability_cleaned"] > 0
    assert metrics["ev_sb"] + metrics["ev_bb"] == pytest.approx(0, abs=1e-2)
    gain = sum(metrics[f"best_response_{seat}"] - metrics[f"ev_{seat}"] for seat in ("sb", "bb")) / 2
    assert gain == pytest.approx(metrics["exploitability_raw"])
    streets = [metrics[f"loss_{street}"] for street in ("preflop", "flop", "turn", "river")]
    assert sum(streets) == pytest.approx(metrics["exploitability_raw"], rel=1e-6)
    assert sum(metrics[f"first_in_{name}"] for name in ("fold", "call", "raise")) == pytest.approx(1)
    assert {f"first_in_raise_{hand}" for hand in ("AA", "KK")} <= metrics.keys()
    pictures = evaluation_figures(bundles[0])
    assert pictures.keys() == {"loss"}
    for figure in pictures.values():
        figure.canvas.draw()
