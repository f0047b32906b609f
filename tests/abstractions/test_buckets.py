"""Buckets cover every hand, keep to one metric, and follow suits wherever they are renamed."""

from itertools import pairwise

import numpy as np
import pytest

from abstractions.buckets import (
    BoardRows,
    BucketTables,
    FeatureTables,
    Sample,
    assign_buckets,
    board_buckets,
    board_rows,
    bucket_of,
    equity_ranks,
    feature_metric,
    feature_points,
    fit_buckets,
    join_samples,
    relabel_rows,
    row_keys,
    sample_points,
)
from abstractions.cards import CLASS_NAMES, COMBO_INDEX, format_combo, live_combos
from abstractions.features.hand_classes import class_numbers, class_weights
from abstractions.features.histograms import preflop_histograms
from abstractions.features.ochs import opponent_clusters
from abstractions.features.rivers import BLOCKED, river_equity_counts, river_orders
from abstractions.isomorphism import (
    SUIT_PERMUTATIONS,
    board_index,
    canonical_boards,
    hand_class_offsets,
    permute_cards,
)
from abstractions.textures import Textures, build_textures

RIVERS = 134_459
SPANS = {3: (600, 606), 4: (9000, 9020), 5: (70_000, 70_030)}
SPACES = [(kind, n) for kind in ("ehs", "emd") for n in (3, 4, 5)]


@pytest.fixture(scope="module")
def tables() -> dict[str, FeatureTables]:
    counts = river_equity_counts(0, RIVERS)
    clusters = opponent_clusters(preflop_histograms(0, RIVERS, counts))
    return {
        "ehs": FeatureTables("ehs", orders=river_orders(0, RIVERS)),
        "emd": FeatureTables("emd", counts=counts, clusters=clusters, bins=20),
    }


@pytest.fixture(scope="module")
def textures() -> Textures:
    return build_textures(
        0.2 + 0.01 * np.sin(np.arange(1755.0)), np.random.default_rng(0), textures=6, turn_transitions=2
    )


def distances(points: np.ndarray, centroids: np.ndarray, metric: str) -> np.ndarray:
    difference = points[:, None].astype(np.float64) - centroids[None]
    return np.abs(difference).sum(2) if metric == "l1" else np.sqrt((difference**2).sum(2))


@pytest.mark.parametrize(("kind", "num_cards"), SPACES)
def test_every_hand_is_in_the_bucket_of_its_nearest_centroid(
    kind: str, num_cards: int, tables: dict[str, FeatureTables]
) -> None:
    start, stop = SPANS[num_cards]
    rows, metric = board_rows(num_cards), feature_metric(kind, num_cards)
    points, equities = feature_points(tables[kind], num_cards, start, stop)
    sample = sample_points(num_cards, start, stop, points, equities, rows, 400_000)
    centroids = fit_buckets(sample, 16, np.random.default_rng(1), metric)
    table, moments = assign_buckets(num_cards, start, stop, points, equities, rows, centroids[None], metric)
    numbers = class_numbers(num_cards, start, stop)
    assert ((table == BLOCKED) == (numbers < 0)).all()
    for row in range(stop - start):
        live = live_combos(canonical_boards(num_cards).boards[start + row])
        assert ((table[row] < 16) == live).all()
    costs = distances(points, centroids, metric)
    first = 0
    for row in range(stop - start):
        count = numbers[row].max() + 1
        labels = np.empty(count, dtype=int)
        labels[numbers[row][numbers[row] >= 0]] = table[row][numbers[row] >= 0]
        here = costs[first : first + count]
        np.testing.assert_allclose(here[np.arange(count), labels], here.min(axis=1), rtol=1e-5, atol=1e-6)
        first += count
    weights = class_weights(num_cards, start, stop)
    np.testing.assert_allclose(
        moments[0].sum(axis=0), [(weights * equities**p).sum() for p in range(3)], rtol=1e-12
    )
    assert (moments[0, :, 0] > 0).all()


@pytest.mark.parametrize(("kind", "num_cards"), SPACES)
def test_ranges_join_to_the_same_sample_and_the_same_table(
    kind: str, num_cards: int, tables: dict[str, FeatureTables]
) -> None:
    start, stop = SPANS[num_cards][0], SPANS[num_cards][0] + 5
    rows, metric = board_rows(num_cards), feature_metric(kind, num_cards)

    def run(cuts: list[int], centroids: np.ndarray | None) -> tuple[Sample, bytes]:
        samples, parts = [], []
        for a, b in pairwise(cuts):
            points, equities = feature_points(tables[kind], num_cards, a, b)
            samples.append(sample_points(num_cards, a, b, points, equities, rows, 300_000, 0.25))
            if centroids is not None:
                parts.append(
                    assign_buckets(num_cards, a, b, points, equities, rows, centroids, metric)[0].tobytes()
                )
        return join_samples(samples), b"".join(parts)

    sample, _ = run([start, stop], None)
    centroids = fit_buckets(sample, 5, np.random.default_rng(0), metric)[None]
    whole, split = run([start, stop], centroids), run([start, start + 1, start + 4, stop], centroids)
    assert whole[1] == split[1]
    for field in ("points", "equities", "weights"):
        assert getattr(whole[0], field).tobytes() == getattr(split[0], field).tobytes()


def test_a_sample_gives_every_board_its_share() -> None:
    rows = board_rows(4)
    size, marks = 400_000, []
    for start in range(0, 16_432, 4000):
        stop = min(start + 4000, 16_432)
        classes = np.diff(hand_class_offsets(4)[start : stop + 1])
        board = np.repeat(np.arange(start, stop), classes).astype(np.float64)
        part = sample_points(4, start, stop, board[:, None].astype(np.float32), board, rows, size)
        marks.append(np.bincount(part.equities.astype(int), part.weights, minlength=16_432))
    held = np.sum(marks, axis=0)
    assert held.sum() == size
    share = rows.weights / rows.weights.sum()
    assert (np.abs(held - size * share) <= 1).all()


def test_bucket_ids_ascend_with_mean_equity(tables: dict[str, FeatureTables]) -> None:
    start, stop = SPANS[4]
    rows = board_rows(4)
    points, equities = feature_points(tables["emd"], 4, start, stop)
    sample = sample_points(4, start, stop, points, equities, rows, 200_000)
    centroids = fit_buckets(sample, 40, np.random.default_rng(3), "l1")
    table, moments = assign_buckets(4, start, stop, points, equities, rows, centroids[None], "l1")
    ranks = equity_ranks(moments)
    renamed = relabel_rows(table, rows.textures[start:stop], ranks)
    again = np.zeros(40)
    mass = np.zeros(40)
    numbers = class_numbers(4, start, stop)
    first = 0
    for row in range(stop - start):
        live = numbers[row] >= 0
        value = equities[first + numbers[row][live]] * rows.weights[start + row]
        again += np.bincount(renamed[row][live], value, minlength=40)
        mass += np.bincount(renamed[row][live], minlength=40) * rows.weights[start + row]
        first += numbers[row].max() + 1
    assert (np.diff(again / mass) > 0).all()
    assert ((renamed == BLOCKED) == (table == BLOCKED)).all()


def test_any_real_board_reads_the_bucket_of_its_canonical_hands() -> None:
    rng = np.random.default_rng(5)
    streets = {}
    for num_cards, boards in ((3, 1755), (4, 16_432)):
        numbers = class_numbers(num_cards, 0, boards)
        streets[num_cards] = np.where(numbers < 0, BLOCKED, (numbers * 7 + 3) % 500).astype(np.uint16)
    source = BucketTables(streets)
    for _ in range(200):
        num_cards = int(rng.integers(3, 5))
        deal = rng.choice(52, num_cards + 2, replace=False)
        board, hand = deal[2:].astype(np.uint8), deal[:2].astype(np.uint8)
        combo = int(COMBO_INDEX[hand[0], hand[1]])
        bucket = bucket_of(source, combo, board)[0]
        # The same deal under other suits and with the board in another order.
        renaming = SUIT_PERMUTATIONS[rng.integers(24)]
        other_hand = permute_cards(hand, renaming)
        other_board = rng.permutation(permute_cards(board, renaming))
        other = int(COMBO_INDEX[other_hand[0], other_hand[1]])
        assert bucket_of(source, other, other_board)[0] == bucket
        ids, renamings = board_index(board[None])
        canonical = permute_cards(hand, renamings[0])
        assert streets[num_cards][ids[0], COMBO_INDEX[canonical[0], canonical[1]]] == bucket
        assert bucket_of(source, format_combo(combo), board)[0] == bucket
        assert board_buckets(source, board[None])[0, combo] == bucket


def test_before_the_flop_a_bucket_is_a_hand_class() -> None:
    assert bucket_of(BucketTables({}), ["AhKh", "7c2d"]).tolist() == [
        CLASS_NAMES.index("AKs"),
        CLASS_NAMES.index("72o"),
    ]


@pytest.mark.parametrize(("num_cards", "runouts"), [(3, 1), (4, 49), (5, 1176)])
def test_rows_of_textures_hold_every_deal(num_cards: int, runouts: int, textures: Textures) -> None:
    rows = board_rows(num_cards, textures)
    per_texture = np.bincount(rows.textures, rows.weights)
    assert (per_texture == textures.weights * runouts).all()
    assert (np.diff(row_keys(rows)) > 0).all()
    by_board = np.add.reduceat(rows.weights, rows.offsets[:-1])
    # A set of n cards is dealt as a flop and a runout in C(n, 3) ways.
    assert (by_board == canonical_boards(num_cards).weights * [1, 4, 10][num_cards - 3]).all()


def test_texture_scope_uses_the_buckets_of_the_flop(
    textures: Textures, tables: dict[str, FeatureTables]
) -> None:
    rows = board_rows(4, textures)
    start, stop = SPANS[4]
    points, equities = feature_points(tables["ehs"], 4, start, stop)
    sample = sample_points(4, start, stop, points, equities, rows, 100_000)
    present = np.unique(sample.textures)
    centroids = np.zeros((6, 8, 3), dtype=np.float32)
    for texture in present:
        centroids[texture] = fit_buckets(sample, 8, np.random.default_rng(0), "l2", texture=int(texture))
    part, moments = assign_buckets(4, start, stop, points, equities, rows, centroids, "l2")
    here = slice(rows.offsets[start], rows.offsets[stop])
    assert part.shape == (here.stop - here.start, 1326)
    table = np.full((len(rows.boards), 1326), BLOCKED, dtype=np.uint16)
    table[here] = part
    source = BucketTables({4: table}, {4: row_keys(rows)}, textures.texture_of_flop)
    first = 0
    numbers = class_numbers(4, start, stop)
    for board_id in range(start, stop):
        board = canonical_boards(4).boards[board_id]
        count = numbers[board_id - start].max() + 1
        for out in range(4):
            dealt = np.append(np.delete(board, out), board[out])
            flop, _ = board_index(dealt[None, :3])
            costs = distances(
                points[first : first + count], centroids[textures.texture_of_flop[flop[0]]], "l2"
            )
            buckets = board_buckets(source, dealt[None])[0]
            live = numbers[board_id - start] >= 0
            own = numbers[board_id - start][live]
            np.testing.assert_allclose(costs[own, buckets[live]], costs[own].min(axis=1), atol=1e-6)
        first += count
    assert (moments[present].sum(axis=(1, 2)) > 0).all()


def test_texture_samples_join_over_ranges(textures: Textures, tables: dict[str, FeatureTables]) -> None:
    rows: BoardRows = board_rows(3, textures)
    parts = []
    for start, stop in ((0, 40), (40, 41), (41, 90)):
        points, equities = feature_points(tables["emd"], 3, start, stop)
        parts.append(sample_points(3, start, stop, points, equities, rows, 2000))
    split = join_samples(parts)
    points, equities = feature_points(tables["emd"], 3, 0, 90)
    whole = sample_points(3, 0, 90, points, equities, rows, 2000)
    for texture in range(6):
        a, b = split.textures == texture, whole.textures == texture
        assert (split.points[a] == whole.points[b]).all()
        assert (split.weights[a] == whole.weights[b]).all()


def test_bad_input_is_named(tables: dict[str, FeatureTables]) -> None:
    rows = board_rows(5)
    points, equities = feature_points(tables["ehs"], 5, 0, 1)
    sample = sample_points(5, 0, 1, points, equities, rows, 10**9)
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="buckets=0: expected at least one"):
        fit_buckets(sample, 0, rng, "l2")
    with pytest.raises(ValueError, match=r"clusters for .* distinct points"):
        fit_buckets(sample, 5000, rng, "l2")
    with pytest.raises(ValueError, match="buckets=70000: expected fewer than 65535"):
        fit_buckets(sample, 70_000, rng, "l2")
    with pytest.raises(ValueError, match="features='foo': expected one of ehs, emd"):
        feature_metric("foo", 3)
    with pytest.raises(ValueError, match="counts of None"):
        feature_points(FeatureTables("emd"), 4, 0, 1)
    with pytest.raises(ValueError, match="clusters of None"):
        feature_points(FeatureTables("emd"), 5, 0, 1)
    with pytest.raises(ValueError, match="orders of shape None"):
        feature_points(FeatureTables("ehs"), 4, 0, 1)
    source = BucketTables({3: np.where(class_numbers(3, 0, 1755) < 0, BLOCKED, 0).astype(np.uint16)})
    with pytest.raises(ValueError, match="hand AhKh shares a card with board AhQd2c"):
        bucket_of(source, "AhKh", "AhQd2c")
    with pytest.raises(ValueError, match="appears twice"):
        bucket_of(source, "AhKh", "QdQd2c")
    with pytest.raises(ValueError, match="has 2 cards"):
        bucket_of(source, "AhKh", "Qd2c")
