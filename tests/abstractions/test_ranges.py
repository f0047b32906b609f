"""Range notation, read and written."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from abstractions.cards import (
    CLASS_COMBOS,
    CLASS_NAMES,
    CLASS_OF_COMBO,
    NUM_COMBOS,
    live_combos,
    parse_board,
    parse_combo,
)
from abstractions.ranges import class_weights, format_range, from_class_weights, parse_range


def classes(text):
    """Names of the classes that a range holds in full."""
    return {CLASS_NAMES[i] for i, weight in enumerate(class_weights(parse_range(text))) if weight == 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AA", "AA"),
        ("JJ+", "JJ QQ KK AA"),
        ("AA+", "AA"),
        ("QQ-TT", "QQ JJ TT"),
        ("TT-QQ", "QQ JJ TT"),
        ("AJs+", "AJs AQs AKs"),
        ("T7s+", "T7s T8s T9s"),
        ("ATo+", "ATo AJo AQo AKo"),
        ("KQo", "KQo"),
        ("AK", "AKs AKo"),
        ("AQ+", "AQs AQo AKs AKo"),
        ("A5s-A3s", "A5s A4s A3s"),
        ("A3s-A5s", "A5s A4s A3s"),
        ("A5-A4", "A5s A5o A4s A4o"),
        ("87s-65s", "87s 76s 65s"),
        ("64s-86s", "86s 75s 64s"),
        ("KAs", "AKs"),
        ("kqS", "KQs"),
        ("22, 33  44,\n55", "22 33 44 55"),
        ("QQ - TT", "QQ JJ TT"),
        ("AhKh,KdAd,AcKc,KsAs", "AKs"),
        ("all,22:0", " ".join(name for name in CLASS_NAMES if name != "22")),
        ("", ""),
    ],
)
def test_notation_names_the_classes_people_mean(text, expected):
    assert classes(text) == set(expected.split())


def test_the_range_of_the_issue_counts_its_combos():
    weights = parse_range("66+,A8s+,A5s-A4s,AJo+,KQo:0.5,AhKh")
    assert weights.sum() == 9 * 6 + 6 * 4 + 2 * 4 + 3 * 12 + 12 * 0.5
    assert weights[parse_combo("KdQh")] == 0.5


@pytest.mark.parametrize("text", ["all", "random", "ALL"])
def test_everything_is_every_combo(text):
    assert (parse_range(text) == 1).all()


@pytest.mark.parametrize(
    ("text", "board", "hands"),
    [
        ("66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s", "QsJh2h", 179),
        ("66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s", "QsJh2h8d", 171),
        ("QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+", "QsJh2h", 264),
        ("QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+", "QsJh2h8d", 253),
    ],
)
def test_published_ranges_have_as_many_hands_on_a_board_as_another_solver_counts(text, board, hands):
    weights = parse_range(text)
    assert (weights[live_combos(parse_board(board))] == 1).sum() == hands


def test_one_combo_weighs_alone():
    weights = parse_range("AhKh:0.25")
    assert np.nonzero(weights)[0].tolist() == [parse_combo("AhKh")]
    assert weights.max() == 0.25


def test_the_last_token_stands_where_tokens_overlap():
    weights = parse_range("22+,AA:0.5,AsAh:0")
    assert weights[parse_combo("AcAd")] == 0.5
    assert weights[parse_combo("AsAh")] == 0
    assert weights[parse_combo("2c2d")] == 1


@pytest.mark.parametrize(
    ("text", "compact"),
    [
        ("AA,KK,QQ,JJ", "JJ+"),
        ("QQ,JJ,TT,AKs,AKo", "QQ-TT,AKs,AKo"),
        ("A2s+", "A2s+"),
        ("AKs,AQs,ATs,A9s,A7s", "AQs+,ATs-A9s,A7s"),
        ("KQo:0.5,KJo:0.5,KTo", "KJo+:0.5,KTo"),
        ("AA:0.5,AsAh", "AsAh,AsAd:0.5,AhAd:0.5,AsAc:0.5,AhAc:0.5,AdAc:0.5"),
        ("22+,A2+,K2+,Q2+,J2+,T2+,92+,82+,72+,62+,52+,42+,32", "all"),
        ("all:0.125", "all:0.125"),
        ("all:0", ""),
    ],
)
def test_ranges_are_written_compactly(text, compact):
    assert format_range(parse_range(text)) == compact


weight = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))


@settings(max_examples=50, deadline=None)
@given(
    st.one_of(
        arrays(np.float64, 169, elements=weight),
        arrays(np.float64, 169, elements=st.sampled_from([0.0, 1.0])),
    )
)
def test_class_ranges_survive_a_round_trip(levels):
    weights = from_class_weights(levels)
    assert (parse_range(format_range(weights)) == weights).all()
    assert class_weights(weights) == pytest.approx(levels, abs=1e-15)


@settings(max_examples=50, deadline=None)
@given(arrays(np.float64, NUM_COMBOS, elements=weight, fill=st.just(0.0)), st.booleans())
def test_combo_ranges_survive_a_round_trip(weights, single):
    array = weights.astype(np.float32) if single else weights
    assert (parse_range(format_range(array)).astype(array.dtype) == array).all()


hand_names = st.sampled_from(CLASS_NAMES)
tokens = st.one_of(
    hand_names,
    hand_names.map(lambda name: name + "+"),
    st.sampled_from(["AK", "T9", "A5s-A2s", "99-55", "JTs-54s", "AhKh", "7c2d", "all"]),
)
weighted_tokens = st.one_of(
    tokens, st.tuples(tokens, st.floats(0, 1)).map(lambda pair: f"{pair[0]}:{pair[1]!r}")
)


@settings(max_examples=50, deadline=None)
@given(st.lists(weighted_tokens, max_size=12))
def test_any_text_means_the_same_after_formatting(parts):
    weights = parse_range(",".join(parts))
    assert (parse_range(format_range(weights)) == weights).all()


def test_the_grid_averages_over_all_combos_of_a_class():
    grid = class_weights(parse_range("AhKh,QQ:0.5"))
    assert grid[CLASS_NAMES.index("AKs")] == 0.25
    assert grid[CLASS_NAMES.index("QQ")] == 0.5
    assert grid @ CLASS_COMBOS == 4


def test_class_weights_spread_to_their_combos():
    levels = np.arange(169) / 169
    assert (from_class_weights(levels) == levels[CLASS_OF_COMBO]).all()


@pytest.mark.parametrize(
    ("text", "token", "reason"),
    [
        ("66+,A8x+,KK", "'A8x+'", "'A8x' is no hand"),
        ("AA,1Ks", "'1Ks'", "no hand"),
        ("AAs", "'AAs'", "pair"),
        ("KQo:1.5", "'KQo:1.5'", "'1.5' is no number from 0 to 1"),
        ("KQo:-0.5", "'KQo:-0.5'", "0 to 1"),
        ("KQo:half", "'KQo:half'", "'half'"),
        ("KQo:nan", "'KQo:nan'", "0 to 1"),
        ("KQo:", "'KQo:'", "''"),
        ("AhAh", "'AhAh'", "twice"),
        ("A5s-K3s", "'A5s-K3s'", "share the high card"),
        ("A5s-A2o", "'A5s-A2o'", "one kind"),
        ("QQ-A2", "'QQ-A2'", "one kind"),
        ("AhKh+", "'AhKh+'", "no hand"),
        ("AhKh-AhQh", "'AhKh-AhQh'", "no hand"),
        ("AA,,KK", "AA,,KK", "between two commas"),
        ("AA,", "AA,", "commas"),
        ("everything", "'everything'", "no hand"),
    ],
)
def test_errors_point_at_the_offending_token(text, token, reason):
    with pytest.raises(ValueError, match=r".") as error:
        parse_range(text)
    message = str(error.value)
    assert token in message
    assert reason in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(169), "1326 weights"),
        (np.full(1326, 2.0), "weight 2.0 of 2d2c"),
        (np.full(1326, np.nan), "weight nan"),
    ],
)
def test_weights_that_are_no_range_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        format_range(weights)
    with pytest.raises(ValueError, match=message):
        class_weights(weights)


def test_class_weights_of_the_wrong_length_are_refused():
    with pytest.raises(ValueError, match="expected 169"):
        from_class_weights(np.zeros(1326))
