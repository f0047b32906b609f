"""The abstraction stages on the smoke preset: exact weights, whole tables, the same bytes on any cluster."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from abstractions.buckets import bucket_of
from abstractions.cards import CLASS_NAMES, format_cards
from abstractions.textures import medoid_boards
from artifacts import Bundle
from artifacts.bundle_store import BundleStore
from artifacts.readers import read_textures
from pipelines.blueprint import pipeline
from pipelines.config.composition import compose_config
from pipelines.run.cluster import InProcess, open_cluster
from pipelines.run.engine import Runner
from pipelines.run.progress import Reporter

pytestmark = pytest.mark.whole


class NoTracker:
    """Records nothing."""

    def stage(self, *arguments: object) -> NoTracker:
        return self

    def __enter__(self) -> NoTracker:
        return self

    def __exit__(self, *arguments: object) -> None: ...

    def cost(self, figures: object) -> None: ...

    def step(self, figures: object, step: int, core_seconds: float) -> None: ...

    def bundle(self, manifest: object, pictures: dict[str, bytes]) -> None:
        assert all(picture.startswith(b"\x89PNG") for picture in pictures.values())


def run_smoke(root: Path, cluster: object, *overrides: str) -> dict[str, Bundle]:
    """Bundles of the abstraction stages by name."""
    root.mkdir()
    store = BundleStore(root)
    runner = Runner(store, lambda: cluster, NoTracker(), Reporter(Console(quiet=True)), [])  # type: ignore[arg-type, return-value]
    pipeline(compose_config(["+preset=smoke", *overrides]), runner)
    return {manifest.stage: store.open(manifest.stage, manifest.key) for manifest in store.bundles()}


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Bundle]:
    return run_smoke(tmp_path_factory.mktemp("smoke") / "store", InProcess())


def test_textures_carry_all_22100_flops(bundles: dict[str, Bundle]) -> None:
    textures = read_textures(bundles["textures"])
    assert textures.weights.sum() == 22_100
    assert len(textures.weights) == 8
    assert np.array_equal(textures.texture_of_flop[textures.medoids], np.arange(8))


def test_aces_have_the_known_equity_against_a_random_hand(bundles: dict[str, Bundle]) -> None:
    table = bundles["preflop_equity"]["equity"]
    known = {
        "AA": 0.852037,
        "KK": 0.823957,
        "AKs": 0.670446,
        "22": 0.503340,
        "72o": 0.345836,
        "32o": 0.323032,
    }
    for hand, equity in known.items():
        assert table["equity_vs_random"][CLASS_NAMES.index(hand)] == pytest.approx(equity, abs=5e-7)


def test_every_live_hand_of_a_typical_board_has_a_bucket_in_order_of_equity(
    bundles: dict[str, Bundle],
) -> None:
    bundle = bundles["buckets"]
    for board in medoid_boards(read_textures(bundles["textures"]))[0][::7]:
        for cards in (3, 4, 5):
            text = format_cards(board[:cards])
            buckets = bundle.bucket_table(cards)
            assert ((buckets != 65535).sum(axis=1) == (52 - cards) * (51 - cards) // 2).all()
            free = [f"{r}{s}" for r in "23456789TJQKA" for s in "cdhs" if f"{r}{s}" not in text]
            assert 0 <= bucket_of(bundle, free[0] + free[1], text)[0] < 12
    centroids = bundle["centroids"].table().to_pylist()
    for street in ("flop", "turn", "river"):
        equities = [row["equity"] for row in centroids if row["street"] == street]
        assert len(equities) == 12
        assert equities == sorted(equities)
        assert all(row["share"] > 0 for row in centroids)


def test_a_board_without_buckets_is_an_error_not_an_answer(bundles: dict[str, Bundle]) -> None:
    typical = {format_cards(np.sort(board)) for board in medoid_boards(read_textures(bundles["textures"]))[0]}
    assert "2c3d7h9sKc" not in typical
    with pytest.raises(ValueError, match="has no buckets"):
        bucket_of(bundles["buckets"], "AhAd", "2c3d7h9sKc")


def test_bucket_equities_of_a_pair_add_up_to_one(bundles: dict[str, Bundle]) -> None:
    for street in ("flop", "turn", "river"):
        table = bundles["bucket_equity"][f"equity_{street}"]
        equity, weight = table["equity"], table["weight"]
        assert np.array_equal(weight, weight.T)
        exists = weight > 0
        assert np.allclose((equity + equity.T)[exists], 1.0, atol=1e-6)
        assert np.allclose(np.diag(equity), 0.5)
        mean = (equity * weight).sum(axis=1) / weight.sum(axis=1)
        assert np.corrcoef(mean, np.arange(12))[0, 1] > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("overrides", [(), ("abstraction.features=ehs", "abstraction.scope=texture")])
def test_two_workers_write_the_same_bytes_as_one_process(
    tmp_path: Path, bundles: dict[str, Bundle], overrides: tuple[str, ...]
) -> None:
    here = run_smoke(tmp_path / "here", InProcess(), *overrides) if overrides else bundles
    config = compose_config(["+preset=smoke", "cluster.num_cpus=2"]).cluster
    with open_cluster(config) as cluster:
        there = run_smoke(tmp_path / "there", cluster, *overrides)
    assert here.keys() == there.keys()
    for stage, bundle in here.items():
        assert bundle.manifest == there[stage].manifest
