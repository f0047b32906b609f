"""Features of hands on boards against brute force over every opponent and every runout."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from abstractions.cards import (
    CLASS_NAMES,
    CLASS_OF_COMBO,
    COMBO_CARDS,
    COMBO_INDEX,
    live_combos,
    parse_board,
    parse_combo,
)
from abstractions.evaluator import evaluate
from abstractions.features.hand_classes import class_numbers, class_weights, expand_classes
from abstractions.features.histograms import equity_bins, equity_histograms, preflop_histograms
from abstractions.features.ochs import ochs, opponent_clusters
from abstractions.features.potentials import ehs_features
from abstractions.features.rivers import (
    BLOCKED,
    RIVER_SCALE,
    river_equities,
    river_equity_counts,
    river_orders,
)
from abstractions.isomorphism import board_index, canonical_boards, hand_class_index, hand_class_offsets

RIVERS = 134_459


@pytest.fixture(scope="module")
def orders() -> np.ndarray:
    return river_orders(0, RIVERS)


@pytest.fixture(scope="module")
def counts() -> np.ndarray:
    return river_equity_counts(0, RIVERS)


@pytest.fixture(scope="module")
def clusters(counts: np.ndarray) -> np.ndarray:
    return opponent_clusters(preflop_histograms(0, RIVERS, counts), 8)


def random_spots(num_cards: int, count: int, seed: int) -> list[tuple[int, np.ndarray]]:
    """Real hands on real boards, the board in the order dealt."""
    rng = np.random.default_rng(seed)
    deals = [rng.choice(52, num_cards + 2, replace=False) for _ in range(count)]
    return [(int(COMBO_INDEX[d[0], d[1]]), d[2:].astype(np.uint8)) for d in deals]


def opponents_of(combo: int, board: np.ndarray) -> np.ndarray:
    return np.flatnonzero(live_combos(np.concatenate([board, COMBO_CARDS[combo]])))


def scores(combo: int, opponents: np.ndarray, board: np.ndarray) -> np.ndarray:
    """1, 1/2 or 0 against each opponent with the cards on the table."""
    hands = np.concatenate([[combo], opponents])
    cards = np.column_stack([COMBO_CARDS[hands], np.tile(board, (len(hands), 1))])
    strength = evaluate(cards)
    return (np.sign(strength[0] - strength[1:]) + 1) / 2


def runouts_of(combo: int, board: np.ndarray) -> list[tuple[int, ...]]:
    seen = {*board.tolist(), *COMBO_CARDS[combo].tolist()}
    return list(combinations([c for c in range(52) if c not in seen], 5 - len(board)))


def row_of(combo: int, board: np.ndarray) -> tuple[int, int, int]:
    """Canonical board, its successor, and the row of the hand among that board's classes."""
    board_id = int(board_index(board[None])[0][0])
    offsets = hand_class_offsets(len(board))
    return board_id, board_id + 1, int(hand_class_index(np.array([combo]), board)[0] - offsets[board_id])


def brute_potential(combo: int, board: np.ndarray) -> tuple[float, float, float]:
    """Equity, positive and negative potential by the nine counts of the published pseudocode."""
    all_opponents = opponents_of(combo, board)
    now = np.full(1326, np.nan)
    now[all_opponents] = scores(combo, all_opponents, board)
    table = np.zeros((3, 3))
    for runout in runouts_of(combo, board):
        full = np.concatenate([board, runout]).astype(np.uint8)
        opponents = opponents_of(combo, full)
        later = scores(combo, opponents, full)
        np.add.at(table, ((2 * now[opponents]).astype(int), (2 * later).astype(int)), 1)
    behind, tied, ahead = table.sum(axis=1)
    equity = (table[:, 2].sum() + table[:, 1].sum() / 2) / table.sum()
    gain = table[0, 2] + table[0, 1] / 2 + table[1, 2] / 2
    loss = table[2, 0] + table[1, 0] / 2 + table[2, 1] / 2
    positive = gain / (behind + tied / 2) if behind + tied else 0.0
    negative = loss / (ahead + tied / 2) if ahead + tied else 0.0
    return equity, positive, negative


def test_potential_agrees_with_brute_force(orders: np.ndarray) -> None:
    spots = random_spots(4, 12, seed=1) + random_spots(3, 3, seed=2)
    # Boards with suits to exchange, and hands that tie on the board or cannot lose.
    spots += [
        (parse_combo("AsAh"), parse_board("KcKdKh")),
        (parse_combo("2c2d"), parse_board("AcAdAhAs")),
        (parse_combo("9s8s"), parse_board("7s6s5s2d")),
        (parse_combo("3d2c"), parse_board("AsKsQsJs")),
    ]
    for combo, board in spots:
        start, stop, row = row_of(combo, board)
        features = ehs_features(len(board), start, stop, orders)[row]
        np.testing.assert_allclose(features, brute_potential(combo, board), atol=1e-6)


def test_histogram_counts_the_runouts_by_river_equity(counts: np.ndarray) -> None:
    for combo, board in random_spots(4, 8, seed=3) + random_spots(3, 2, seed=4):
        expected = np.zeros(32, dtype=int)
        total = 0.0
        for runout in runouts_of(combo, board):
            full = np.concatenate([board, runout]).astype(np.uint8)
            equity = scores(combo, opponents_of(combo, full), full).mean()
            total += equity
            expected[min(round(equity * RIVER_SCALE) * 32 // RIVER_SCALE, 31)] += 1
        start, stop, row = row_of(combo, board)
        histograms, equities = equity_histograms(len(board), start, stop, counts, 32)
        assert histograms[row].tolist() == expected.tolist()
        assert equities[row] == pytest.approx(total / expected.sum(), abs=1e-12)


def test_river_counts_agree_with_brute_force() -> None:
    for combo, board in random_spots(5, 30, seed=5):
        start, stop, row = row_of(combo, board)
        expected = scores(combo, opponents_of(combo, board), board)
        assert len(expected) == 990
        assert river_equities(start, stop)[row] == pytest.approx(expected.mean(), abs=1e-12)


def test_river_order_is_the_order_of_strength() -> None:
    table = river_orders(500, 520)
    for board, row in zip(canonical_boards(5).boards[500:520], table):
        combos = (row & 0x7FFF).astype(int)
        strength = evaluate(np.column_stack([COMBO_CARDS[combos], np.tile(board, (1081, 1))]))
        steps = np.diff(strength)
        assert (steps >= 0).all()
        assert ((row[1:] >> 15).astype(bool) == (steps > 0)).all()


def test_opponent_cluster_equities_agree_with_brute_force(clusters: np.ndarray) -> None:
    for combo, board in random_spots(5, 20, seed=6):
        start, stop, row = row_of(combo, board)
        opponents = opponents_of(combo, board)
        won = scores(combo, opponents, board)
        groups = clusters[CLASS_OF_COMBO[opponents]]
        expected = [won[groups == c].mean() for c in range(8)]
        features, equities = ochs(start, stop, clusters)
        np.testing.assert_allclose(features[row], expected, atol=1e-6)
        assert equities[row] == pytest.approx(won.mean(), abs=1e-12)


def test_a_cluster_without_hands_counts_as_a_random_hand() -> None:
    # Aces alone in a cluster, and all four of them on the board.
    alone = np.zeros(169, dtype=int)
    alone[CLASS_NAMES.index("AA")] = 1
    combo, board = parse_combo("KhKd"), parse_board("AcAdAhAs2c")
    start, stop, row = row_of(combo, board)
    features = ochs(start, stop, alone)[0][row]
    assert features[1] == pytest.approx(river_equities(start, stop)[row], abs=1e-6)
    assert features[0] == pytest.approx(features[1], abs=1e-6)


def test_opponent_clusters_put_aces_last_and_every_cluster_to_use(clusters: np.ndarray) -> None:
    assert set(clusters.tolist()) == set(range(8))
    assert clusters[CLASS_NAMES.index("AA")] == 7
    assert clusters[CLASS_NAMES.index("32o")] == 0
    assert clusters[CLASS_NAMES.index("AKs")] > clusters[CLASS_NAMES.index("72o")]


@pytest.mark.parametrize(("num_cards", "start"), [(3, 700), (4, 9000), (5, 77_000)])
def test_equities_of_all_hands_average_one_half(num_cards: int, start: int, orders: np.ndarray) -> None:
    # Each pair of hands is met from both sides, so on every board the mean is exactly one half.
    weights = class_weights(num_cards, start, start + 3)
    equities = ehs_features(num_cards, start, start + 3, orders)[:, 0].astype(float)
    assert (weights * equities).sum() / weights.sum() == pytest.approx(0.5, abs=1e-7)


def test_equity_of_the_flop_is_the_same_by_either_route(orders: np.ndarray, counts: np.ndarray) -> None:
    for num_cards, start in ((3, 1200), (4, 4000)):
        potential = ehs_features(num_cards, start, start + 4, orders)[:, 0]
        _, mean = equity_histograms(num_cards, start, start + 4, counts)
        np.testing.assert_allclose(potential, mean, atol=1e-7)


def test_ranges_of_boards_join_to_the_same_rows(
    orders: np.ndarray, counts: np.ndarray, clusters: np.ndarray
) -> None:
    def joined(feature: object, cuts: list[int]) -> bytes:
        return b"".join(feature(a, b).tobytes() for a, b in pairwise(cuts))  # type: ignore[operator]

    for feature in (
        lambda a, b: ehs_features(4, a, b, orders),
        lambda a, b: equity_histograms(3, a, b, counts)[0],
        lambda a, b: ochs(a, b, clusters)[0],
        river_equity_counts,
        river_orders,
    ):
        assert joined(feature, [100, 106]) == joined(feature, [100, 101, 104, 106])


def test_class_rows_expand_to_every_combo_of_the_board() -> None:
    for num_cards, start in ((3, 10), (4, 300), (5, 5000)):
        stop = start + 2
        offsets = hand_class_offsets(num_cards)
        values = np.arange(offsets[stop] - offsets[start])
        table = expand_classes(num_cards, start, stop, values, -1)
        numbers = class_numbers(num_cards, start, stop)
        for row, board in enumerate(canonical_boards(num_cards).boards[start:stop]):
            live = live_combos(board)
            assert ((table[row] >= 0) == live).all()
            assert (table[row][live] == numbers[row][live] + offsets[start + row] - offsets[start]).all()
        assert class_weights(num_cards, start, stop).sum() == (
            canonical_boards(num_cards).weights[start:stop].sum() * live.sum()
        )


def test_river_counts_mark_blocked_combos() -> None:
    for row, board in zip(river_equity_counts(40, 44), canonical_boards(5).boards[40:44]):
        assert ((row == BLOCKED) == ~live_combos(board)).all()
        assert row[row != BLOCKED].max() <= RIVER_SCALE


def test_preflop_histograms_hold_every_river(counts: np.ndarray) -> None:
    cuts = [0, 20_000, RIVERS]
    histograms = sum(preflop_histograms(a, b, counts, bins=50) for a, b in pairwise(cuts))
    assert (histograms.sum(axis=1) == np.bincount(CLASS_OF_COMBO) * 2_118_760).all()


def test_river_equities_average_to_the_known_preflop_equities(counts: np.ndarray) -> None:
    weights = canonical_boards(5).weights
    for name, value in (("AA", 0.852037), ("AKs", 0.670446), ("22", 0.503340), ("32o", 0.323032)):
        combos = np.flatnonzero(CLASS_NAMES.index(name) == CLASS_OF_COMBO)
        table = counts[:, combos].astype(np.int64)
        total = (np.where(table == BLOCKED, 0, table) * weights[:, None]).sum()
        assert total / (combos.size * 2_118_760 * RIVER_SCALE) == pytest.approx(value, abs=1e-6)


def test_bad_input_is_named(orders: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"boards 5..2000: expected a range within 0..1755"):
        ehs_features(3, 5, 2000, orders)
    with pytest.raises(ValueError, match="orders of shape None"):
        ehs_features(3, 0, 1)
    with pytest.raises(ValueError, match="boards of 6 cards"):
        ehs_features(6, 0, 1, orders)
    with pytest.raises(ValueError, match="the river has an equity and no distribution"):
        equity_histograms(5, 0, 1, orders)
    with pytest.raises(ValueError, match="clusters: expected 169 numbers"):
        ochs(0, 1, np.zeros(168, dtype=int))
    with pytest.raises(ValueError, match="1 histogram bins"):
        equity_bins(1)
