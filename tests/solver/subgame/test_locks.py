"""Decisions that are given rather than solved."""

from __future__ import annotations

import numpy as np
import pytest

from abstractions.cards import parse_combo
from solver.subgame.hand_solver import solve_street
from solver.subgame.locks import action_lock
from solver.subgame.solved_street import content_key
from tests.solver.subgame import small_spots
from tests.solver.subgame.small_spots import PLAIN, RIVER, spot

LINE = "b250c/xx/xx/"


def solved(locks: dict[str, np.ndarray] | None = None):
    return solve_street(small_spots.blueprint(), spot(LINE, RIVER), PLAIN, locks=locks)[0]


def test_a_locked_decision_is_played_as_given_and_the_others_answer_it() -> None:
    free = solved()
    tokens = free.actions(LINE)
    bets = action_lock(tokens, {tokens[1]: 1.0})
    locked = solved({LINE: bets})
    held = locked.ranges[1] > 0.0
    assert locked.strategy(LINE)[1, held] == pytest.approx(1.0)
    assert locked.locked == (LINE,)
    # A bet with everything is called by more hands than one with some of them.
    answer = LINE + tokens[1]
    calls = [street.frequencies(answer)[0] for street in (locked, free)]
    assert calls[0] < calls[1]


def test_hands_outside_the_lock_stay_free() -> None:
    tokens = solved().actions(LINE)
    bets = action_lock(tokens, {tokens[1]: 1.0}, "QQ")
    street = solved({LINE: bets})
    assert street.strategy(LINE)[1, parse_combo("QhQd")] == pytest.approx(1.0)
    others = (street.ranges[1] > 0.0) & (bets[0] < 0.0)
    assert street.strategy(LINE)[0, others].max() > 0.5


def test_a_lock_makes_it_another_solve() -> None:
    subgame = spot(LINE, RIVER)
    lock = {LINE: action_lock(["x", "b375"], {"x": 1.0})}
    assert content_key("a", subgame, PLAIN) != content_key("a", subgame, PLAIN, lock)
    assert content_key("a", subgame, PLAIN) == content_key("a", subgame, PLAIN, {})


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        ({"x": 0.5}, "sum to 0.5"),
        ({"f": 1.0}, "'f' is no action there; accepted: x"),
        ({"x": -1.0}, "sum to -1"),
    ],
)
def test_a_lock_that_is_no_strategy_is_refused(strategy: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        action_lock(["x", "b375"], strategy)


def test_a_lock_elsewhere_is_refused() -> None:
    table = action_lock(["x", "b375"], {"x": 1.0})
    with pytest.raises(ValueError, match="does not begin with"):
        solved({"b250c/xx/": table})
    with pytest.raises(ValueError, match="actions at"):
        solved({LINE: table[:1]})
    with pytest.raises(ValueError, match="is no decision of the street"):
        solved({LINE + "xx": table})


def test_a_lock_that_tells_equivalent_suits_apart_is_refused() -> None:
    """Nothing on this flop tells clubs from diamonds, so a lock may not either."""
    line, board = "b250c/", "QsJs2s"
    ranges = np.ones(1326), np.ones(1326)
    from solver.subgame.subgame import Subgame

    subgame = Subgame.build(small_spots.blueprint(), line, board, PLAIN, ranges=ranges)
    lock = action_lock(["x", "b375"], {"x": 1.0}, "AcKc")
    with pytest.raises(ValueError, match="suits differently"):
        solve_street(small_spots.blueprint(), subgame, PLAIN, locks={line: lock})


def test_values_by_action_average_to_the_value_of_the_hand() -> None:
    street = solved()
    for decision in street.by_line.values():
        met = np.isfinite(decision.ev)
        mean = (decision.strategy * np.where(np.isfinite(decision.action_ev), decision.action_ev, 0.0)).sum(
            axis=0
        )
        assert mean[met] == pytest.approx(decision.ev[met], abs=1e-3)
        # A fold receives nothing from here on.
        if "f" in decision.actions:
            assert decision.action_ev[decision.actions.index("f"), met] == pytest.approx(0.0, abs=1e-3)
