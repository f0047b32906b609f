"""How often lines are played: card removal counted pair by pair, and reach that adds up over the tree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from abstractions.cards import COMBO_CARDS, disjoint_weight, parse_board
from artifacts import BlueprintBundle, open_blueprint
from artifacts.blueprint.difference import bundle_difference
from artifacts.blueprint.line_reach import deal_weight, hand_reach, line_plays, num_deals


@pytest.fixture(scope="module")
def bundle(exported: Path) -> BlueprintBundle:
    return open_blueprint(exported)


def test_card_removal_is_that_of_all_pairs_of_hands() -> None:
    first, second = np.random.default_rng(5).random((2, 1326))
    masks = np.bitwise_or.reduce(np.uint64(1) << COMBO_CARDS.astype(np.uint64), axis=1)
    disjoint = (masks[:, None] & masks) == 0
    assert disjoint_weight(second) == pytest.approx(disjoint @ second)
    assert deal_weight(first, second) == pytest.approx(first @ disjoint @ second)
    assert num_deals(np.empty(0, np.uint8)) == 1326 * 1225
    assert num_deals(parse_board("QsJh2h")) == 1176 * 1081


@pytest.mark.parametrize(("street", "board"), [("preflop", ""), ("flop", "QsJh2h"), ("turn", "QsJh2h8d")])
def test_the_deals_that_reach_a_line_go_on_by_its_frequencies(
    bundle: BlueprintBundle, street: str, board: str
) -> None:
    cards = parse_board(board)
    plays = {play.line: play for play in line_plays(bundle, bundle.lines(street)[:40], cards)}
    followed = 0
    for line, play in plays.items():
        assert play.shares.sum(axis=1) == pytest.approx(1, abs=1e-6)
        for token, share in zip(bundle.decision(line).tokens, play.frequencies):
            if line + token in plays:
                reach = plays[line + token].reach.sum()
                assert reach == pytest.approx(play.reach.sum() * share, rel=1e-5)
                followed += 1
    assert followed >= 3


def test_hands_on_the_board_never_reach_a_line(bundle: BlueprintBundle) -> None:
    board = parse_board("QsJh2h")
    reach = hand_reach(bundle, "b250c/x", board)
    blocked = np.isin(COMBO_CARDS, board).any(axis=1)
    assert not reach[blocked].any()
    assert reach[~blocked].sum() > 0


def test_a_blueprint_does_not_differ_from_itself(bundle: BlueprintBundle) -> None:
    found = bundle_difference(bundle, bundle, board=parse_board("QsJh2h"), prefix="b250c/")
    assert found
    assert all(line.weighted == 0 and not line.hands for line in found)
