"""Shards on hosts: the same bytes however many hosts there are and wherever they run."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractions.buckets import BucketTables
from abstractions.cards import NUM_CLASSES
from abstractions.equity import class_pairs
from abstractions.isomorphism import canonical_boards
from pipelines.run.cluster import open_cluster
from pipelines.training.fleet import HostFleet, neighbours, shard_specs
from pipelines.training.hosts import Arrays, InProcessHosts, Postflop, RayHosts, ShardsLostError
from solver.betting.game import GameConfig, StreetSizes
from solver.blueprint.boards import BatchBuckets, BoardSampler, SourceBuckets
from solver.blueprint.evaluation import Evaluation
from solver.blueprint.fleet import balanced
from solver.blueprint.flop_values import FlopBoards, group_boards
from solver.blueprint.pot_types import pot_types
from solver.blueprint.trainer import BlueprintTrainer
from solver.blueprint.trunk import TrunkGame
from solver.cfr.schedules import schedule

ray = pytest.importorskip("ray")

TINY = GameConfig(
    stacks=(400, 400),
    raise_sizes=("2", "a"),
    raise_cap=2,
    postflop=(StreetSizes("100%", None, "100%", None),) * 3,
)
BUCKETS = (6, 8, 10)
NUM_TEXTURES = 3


@cache
def game(rake: float = 0.0) -> TrunkGame:
    """Real numbers of deals with made-up preflop equities, which need no enumeration."""
    totals = class_pairs() * 1_712_304
    strength = np.argsort(np.argsort(-np.arange(NUM_CLASSES) % 61))
    wins = (totals / (1 + np.exp((strength[:, None] - strength[None, :]) / 60))).astype(np.int64)
    config = dataclasses.replace(TINY, rake=rake, rake_cap=50.0)
    return TrunkGame.build(config, (wins, totals - wins - wins.T, totals))


def postflop(rake: float = 0.0) -> Postflop:
    return Postflop(game(rake).tree, pot_types(game(rake)), BUCKETS)


def source(scope: str) -> BucketTables:
    """Buckets by hand alone, on every board."""
    sizes = {3: 1755, 4: 16_432, 5: 134_459}
    tables = {
        cards: np.broadcast_to((np.arange(1326) * 7 % count).astype(np.uint16), (size * NUM_TEXTURES, 1326))
        for (cards, size), count in zip(sizes.items(), BUCKETS)
    }
    owners = (np.arange(1755) % NUM_TEXTURES).astype(np.int16)
    return BucketTables(tables, texture_of_flop=owners if scope == "texture" else None)


def trained_on(scope: str, hosts: int, kind: type, *, rake: float = 0.0) -> BlueprintTrainer:
    """A trainer after two phases."""
    weights = np.array([3, 2, 1]) if scope == "texture" else None
    specs = shard_specs(postflop(rake), weights, hosts)
    fleet = HostFleet(postflop(rake), specs, source(scope), kind(postflop(rake), specs))
    trainer = BlueprintTrainer(game(rake), pot_types(game(rake)), BatchBuckets(BUCKETS), fleet=fleet)
    flops = canonical_boards(3)
    rows = np.arange(0, 1755, 60)
    for number, (rule, iterations) in enumerate((("lcfr", 4), ("dcfr", 3))):
        sampler = BoardSampler(flops.boards[rows], flops.weights[rows], rows % NUM_TEXTURES, 4, number)
        trainer.begin_phase(schedule(rule), sampler)
        trainer.run(iterations)
    return trainer


def train(scope: str, hosts: int, kind: type) -> tuple[Arrays, HostFleet]:
    """State after two phases, and the fleet that was used."""
    trainer = trained_on(scope, hosts, kind)
    assert isinstance(trainer.fleet, HostFleet)
    return {**trainer.state(), "blueprint": trainer.blueprint().table}, trainer.fleet


def assert_same_bytes(one: Arrays, other: Arrays) -> None:
    assert one.keys() == other.keys()
    for key, array in one.items():
        assert array.dtype == other[key].dtype
        assert array.tobytes() == other[key].tobytes(), key


@pytest.fixture(scope="module")
def two_cores() -> Iterator[None]:
    settings = SimpleNamespace(
        kind="local", address=None, num_cpus=2, object_store_mb=128, retries=3, in_flight=2
    )
    with open_cluster(settings):  # type: ignore[arg-type]
        yield


@pytest.mark.whole
@pytest.mark.parametrize("scope", ["global", "texture"])
def test_one_two_and_four_hosts_and_this_process_train_the_same_bytes(scope: str, two_cores: None) -> None:
    here, _ = train(scope, 1, InProcessHosts)
    assert all(np.isfinite(array).all() for array in here.values())
    assert np.ptp(here["blueprint"]) > 0
    for hosts in (2, 4):
        assert_same_bytes(train(scope, hosts, InProcessHosts)[0], here)
    for hosts in (1, 2, 4):
        state, fleet = train(scope, hosts, RayHosts)
        fleet.close()
        assert_same_bytes(state, here)


def kill(actor: Any) -> None:
    """Kill a host, which may still answer a short call or two, and wait until it is dead."""
    ray.kill(actor)
    while True:
        try:
            ray.get(actor.state.remote())
        except ray.exceptions.RayActorError:
            return


@pytest.mark.whole
def test_a_killed_host_is_reported_as_lost_shards(two_cores: None) -> None:
    specs = shard_specs(postflop(), None, 2)
    hosts = RayHosts(postflop(), specs)
    fleet = HostFleet(postflop(), specs, source("global"), hosts)
    fleet.begin_phase(1, schedule("lcfr"))
    kill(hosts.actors[1])
    with pytest.raises(ShardsLostError):
        fleet.state()
    fleet.close()


def measured_flops() -> list[FlopBoards]:
    """A few flops of every texture, with a few run-outs each."""
    rng = np.random.default_rng(2)
    rows = np.arange(5, 1755, 250)
    boards = []
    for flop in canonical_boards(3).boards[rows]:
        rest = rng.permutation(np.setdiff1d(np.arange(52), flop))
        boards += [[*flop, rest[k % 2], rest[2 + k]] for k in range(4)]
    textures = np.repeat(rows % NUM_TEXTURES, 4)
    assert set(textures.tolist()) == set(range(NUM_TEXTURES))
    return group_boards(np.array(boards), np.ones(len(boards)), textures)


@pytest.mark.parametrize("rake", [0.0, 0.05])
@pytest.mark.parametrize("scope", ["global", "texture"])
def test_shards_measure_themselves_as_the_whole_blueprint_is_measured(scope: str, rake: float) -> None:
    figures = set()
    for hosts in (1, 2, 4):
        trainer = trained_on(scope, hosts, InProcessHosts, rake=rake)
        flops = measured_flops()
        for table in ("average", "regret"):
            blueprint = dataclasses.replace(
                trainer.blueprint(table), bucketing=SourceBuckets(source(scope), BUCKETS)
            )
            whole = Evaluation(blueprint).evaluate(flops)
            figures.add((table, trainer.exploitability(flops, table)))
            assert trainer.exploitability(flops, table) == pytest.approx(whole.exploitability, rel=1e-5)
            assert whole.exploitability > 0
    assert len(figures) == 2  # one for each table, to the last bit


@pytest.mark.whole
def test_a_host_that_is_lost_while_it_measures_is_reported(two_cores: None) -> None:
    trainer = trained_on("texture", 2, RayHosts)
    here = trained_on("texture", 2, InProcessHosts)
    assert trainer.exploitability(measured_flops()) == here.exploitability(measured_flops())
    fleet = trainer.fleet
    assert isinstance(fleet, HostFleet)
    kill(fleet.hosts.actors[1])
    with pytest.raises(ShardsLostError):
        trainer.exploitability(measured_flops())
    fleet.close()


@pytest.mark.whole
def test_a_mistake_in_a_host_is_raised_as_it_is(two_cores: None) -> None:
    specs = shard_specs(postflop(), None, 2)
    hosts = RayHosts(postflop(), specs)
    fleet = HostFleet(postflop(), specs, source("global"), hosts)
    with pytest.raises(ValueError, match="floors or predicts regrets"):
        fleet.begin_phase(1, schedule("cfr+"))
    fleet.close()


def test_boards_are_sent_once_and_messages_are_kilobytes() -> None:
    _, fleet = train("global", 2, InProcessHosts)
    traffic = fleet.traffic
    assert traffic.iterations == 7
    assert traffic.messages == 7 * 2 * 2 * 2  # two seats, two hosts, there and back
    boards = 4 * (5 + 8 + 2 + 3 * 1326 * 2)
    lines = len(game().lines)
    assert traffic.sent == 7 * (2 * boards + 2 * lines * 169 * 4)
    assert traffic.received == 7 * 2 * 4 * lines * 169 * 8
    assert traffic.figures()["sent_kb_per_iteration"] < 100


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=12), st.integers(1, 6))
def test_work_is_dealt_out_whole_and_no_host_gets_far_more_than_its_share(
    costs: list[int], hosts: int
) -> None:
    groups = balanced(costs, hosts)
    assert sorted(item for group in groups for item in group) == list(range(len(costs)))
    assert len(groups) == min(hosts, len(costs))
    loads = [sum(costs[item] for item in group) for group in groups]
    # Whoever is least loaded takes the next item: Graham's bound for list scheduling.
    share = sum(costs) / len(groups)
    assert max(loads) <= share + (1 - 1 / len(groups)) * max(costs) + 1e-9


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=40), st.integers(1, 6))
def test_neighbours_are_whole_in_order_and_no_host_gets_more_than_an_item_beyond_its_share(
    weights: list[int], hosts: int
) -> None:
    groups = neighbours(weights, hosts)
    assert [item for group in groups for item in group] == list(range(len(weights)))
    loads = [sum(weights[item] for item in group) for group in groups]
    assert max(loads) <= sum(weights) / hosts + max(weights) + 1e-9


def test_every_iteration_gives_hosts_of_textures_about_as_many_boards() -> None:
    flops = canonical_boards(3)
    textures = np.random.default_rng(3).integers(0, 60, len(flops.boards))
    weights = np.bincount(textures, flops.weights, minlength=60)
    sampler = BoardSampler(flops.boards, flops.weights, textures, 16, 5)
    for hosts in (2, 4):
        specs = shard_specs(postflop(), weights, hosts)
        for iteration in range(1, 30):
            drawn = sampler.draw(iteration).textures
            counts = [int(np.isin(drawn, spec.textures).sum()) for spec in specs]
            # Only the textures on either edge of a host can move a board to its neighbour.
            assert max(abs(count - 16 / hosts) for count in counts) <= 2


def test_hosts_own_every_pot_type_or_every_texture_once() -> None:
    kinds = range(len(postflop().pots.templates))
    for hosts in (1, 2, 3, 9):
        by_type = shard_specs(postflop(), None, hosts)
        assert sorted(kind for spec in by_type for kind in spec.types) == list(kinds)
        by_texture = shard_specs(postflop(), np.array([5, 1, 1, 3]), hosts)
        assert sorted(t for spec in by_texture for t in spec.textures or ()) == [0, 1, 2, 3]
        assert all(spec.types == tuple(kinds) for spec in by_texture)
