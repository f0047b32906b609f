"""Lines of three or more seats to a flop of two: how often they are played."""

from __future__ import annotations

import numpy as np
import pytest

from abstractions.cards import COMBO_CARDS
from artifacts.blueprint.line_reach import deal_weight
from pipelines.commands.multiway_play import _played_share


def some_hands(rng: np.random.Generator, count: int) -> np.ndarray:
    weights = np.zeros(1326)
    weights[rng.choice(1326, count, replace=False)] = rng.uniform(0.1, 1.0, count)
    return weights


def test_the_share_of_a_line_is_that_of_all_deals() -> None:
    """Every hand of two players and of one who folds, one by one: C(48, 2) hands are left to the third."""
    rng = np.random.default_rng(1)
    dealt = some_hands(rng, 12), some_hands(rng, 12)
    carried = dealt[0] * rng.uniform(0, 1, 1326), dealt[1] * rng.uniform(0, 1, 1326)
    fold = some_hands(rng, 60)
    total = 0.0
    for a in np.flatnonzero(carried[0]):
        for b in np.flatnonzero(carried[1]):
            for c in np.flatnonzero(fold):
                cards = {*COMBO_CARDS[a].tolist(), *COMBO_CARDS[b].tolist(), *COMBO_CARDS[c].tolist()}
                if len(cards) == 6:
                    total += carried[0][a] * carried[1][b] * fold[c] / 1128
    assert _played_share(carried, [fold], dealt) == pytest.approx(total / deal_weight(*dealt), rel=1e-9)


def test_players_who_always_fold_leave_the_share_of_the_two() -> None:
    rng = np.random.default_rng(2)
    dealt = some_hands(rng, 40), some_hands(rng, 40)
    carried = dealt[0] * 0.5, dealt[1] * 0.25
    assert _played_share(carried, [np.ones(1326)] * 3, dealt) == pytest.approx(0.125)
    assert _played_share(carried, [np.zeros(1326)], dealt) == 0.0
