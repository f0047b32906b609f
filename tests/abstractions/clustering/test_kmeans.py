"""k-means: one metric throughout, no empty cluster, the same bytes however it is run."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from abstractions.clustering.kernels import _weighted_median
from abstractions.clustering.kmeans import distinct_points, kmeans, nearest


def potentials(n: int, seed: int = 0) -> np.ndarray:
    """Points shaped like hand features: equity, and potentials bounded by what is left to win or lose."""
    rng = np.random.default_rng(seed)
    equity = rng.beta(2, 2, n)
    gain = rng.beta(2, 8, n) * 2 * (1 - equity)
    loss = rng.beta(1, 12, n) * 2 * equity
    return np.stack([equity, gain, loss], axis=1).astype(np.float32)


def histograms(n: int, bins: int = 12, total: int = 40, seed: int = 0) -> np.ndarray:
    """Cumulative counts of histograms with a common total."""
    rng = np.random.default_rng(seed)
    shape = rng.dirichlet(np.full(bins, 0.5), n)
    return np.cumsum([rng.multinomial(total, p) for p in shape], axis=1).astype(np.float32)


def brute_costs(points: np.ndarray, centroids: np.ndarray, metric: str) -> np.ndarray:
    difference = points[:, None].astype(np.float64) - centroids[None].astype(np.float64)
    return np.abs(difference).sum(2) if metric == "l1" else (difference**2).sum(2)


@pytest.mark.parametrize("metric", ["l2", "l1"])
@pytest.mark.parametrize("k", [1, 3, 40, 300])
def test_every_point_belongs_to_its_nearest_centroid(metric: str, k: int) -> None:
    points = potentials(3000) if metric == "l2" else histograms(3000)
    result = kmeans(points, k, np.random.default_rng(5), metric=metric)
    costs = brute_costs(points, result.centroids, metric)
    own = costs[np.arange(len(points)), result.labels]
    np.testing.assert_allclose(own, costs.min(axis=1), rtol=1e-5, atol=1e-9)
    assert result.cost == pytest.approx(costs.min(axis=1).sum(), rel=1e-5)


def test_ties_go_to_the_lower_centroid() -> None:
    # Whole numbers have exact L1 distances, so that ties are many and real.
    points, centroids = histograms(2000, seed=1), histograms(150, seed=2)
    labels, distances = nearest(points, centroids, metric="l1")
    costs = brute_costs(points, centroids, "l1")
    assert (labels == costs.argmin(axis=1)).all()
    assert (distances == costs.min(axis=1)).all()
    assert ((costs == costs.min(axis=1)[:, None]).sum(axis=1) > 1).sum() > 50


@pytest.mark.parametrize("metric", ["l2", "l1"])
def test_centroids_minimise_the_cost_of_their_members(metric: str) -> None:
    points = potentials(4000) if metric == "l2" else histograms(4000)
    weights = np.random.default_rng(3).integers(1, 25, len(points))
    result = kmeans(points, 20, np.random.default_rng(4), weights=weights, metric=metric, tolerance=0)
    for label in range(20):
        members = result.labels == label
        values, mass = points[members].astype(np.float64), weights[members]
        if metric == "l2":
            np.testing.assert_allclose(
                result.centroids[label], np.average(values, axis=0, weights=mass), atol=1e-5
            )
        else:
            for t in range(values.shape[1]):
                here = float((mass * np.abs(values[:, t] - result.centroids[label, t])).sum())
                best = min(float((mass * np.abs(values[:, t] - v)).sum()) for v in np.unique(values[:, t]))
                assert here == pytest.approx(best)


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(1, 9)), min_size=1, max_size=40),
)
@settings(max_examples=200, deadline=None)
def test_weighted_median_is_the_least_value_with_half_the_weight_below_or_at_it(
    pairs: list[tuple[int, int]],
) -> None:
    values = np.array([v for v, _ in pairs], dtype=np.float32)
    weights = np.array([w for _, w in pairs], dtype=np.float64)
    half = weights.sum() / 2
    expected = min(v for v in values if weights[values <= v].sum() >= half)
    assert _weighted_median(values.copy(), weights.copy(), len(values)) == expected


@pytest.mark.parametrize("metric", ["l2", "l1"])
def test_no_cluster_is_empty(metric: str) -> None:
    points = np.repeat(histograms(60, bins=6, total=8), 20, axis=0)
    rows, _, _ = distinct_points(points)
    for k in (1, 7, len(rows) - 1, len(rows)):
        result = kmeans(points, k, np.random.default_rng(0), metric=metric)
        assert (np.bincount(result.labels, minlength=k) > 0).all()
    assert result.cost == 0


@pytest.mark.parametrize("metric", ["l2", "l1"])
def test_threads_leave_every_byte_in_place(metric: str) -> None:
    points = potentials(90_000) if metric == "l2" else histograms(70_000, bins=6)
    results = [
        kmeans(
            points,
            30,
            np.random.default_rng(9),
            metric=metric,
            threads=threads,
            start_size=5000,
            max_iterations=10,
        )
        for threads in (1, 2, 3)
    ]
    for other in results[1:]:
        assert other.centroids.tobytes() == results[0].centroids.tobytes()
        assert other.labels.tobytes() == results[0].labels.tobytes()
        assert other.cost == results[0].cost


def test_assignment_in_chunks_equals_assignment_at_once() -> None:
    points = potentials(20_000)
    centroids = kmeans(points, 64, np.random.default_rng(2)).centroids
    whole, _ = nearest(points, centroids)
    parts = [nearest(points[start : start + 777], centroids)[0] for start in range(0, len(points), 777)]
    assert (whole == np.concatenate(parts)).all()


def test_weights_count_like_repeated_points() -> None:
    points = potentials(500)
    repeats = np.random.default_rng(1).integers(1, 6, len(points))
    weighted = kmeans(points, 12, np.random.default_rng(8), weights=repeats)
    repeated = kmeans(np.repeat(points, repeats, axis=0), 12, np.random.default_rng(8))
    assert weighted.cost == repeated.cost
    assert (np.repeat(weighted.labels, repeats) == repeated.labels).all()


def test_cost_is_that_of_scikit_learn_within_a_hundredth() -> None:
    # One start ends a percent or so from another in either program, so means over three are compared.
    points = potentials(10_000)
    weights = np.random.default_rng(6).integers(1, 25, len(points))
    for k in (20, 200):
        ours = [kmeans(points, k, np.random.default_rng(seed), weights=weights).cost for seed in range(3)]
        yardstick = [
            KMeans(k, n_init=1, random_state=seed).fit(points, sample_weight=weights).inertia_
            for seed in range(3)
        ]
        assert np.mean(ours) <= 1.01 * np.mean(yardstick)


@pytest.mark.parametrize(
    ("points", "k", "extra", "message"),
    [
        ([[0.0], [1.0]], 0, {}, "0 clusters: expected at least one"),
        ([[0.0], [1.0], [1.0]], 3, {}, "3 clusters for 2 distinct points"),
        ([[0.0], [np.nan]], 1, {}, "point 1 has the features"),
        ([[0.0], [1.0]], 1, {"weights": [1, 0]}, "point 1 has the weight 0.0"),
        ([[0.0], [1.0]], 1, {"metric": "l3"}, "metric 'l3': expected one of l2, l1"),
        ([0.0, 1.0], 1, {}, "one non-empty feature vector per row"),
    ],
)
def test_bad_input_is_named(points: list, k: int, extra: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kmeans(np.array(points), k, np.random.default_rng(0), **extra)
