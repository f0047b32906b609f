"""`poker-solver subgame --depth full` with two players left of three: what it says."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pipelines.commands.multiplayer import multiplayer_config, solve_bundle_exactly
from solver.multiplayer.blueprint import MultiwayBlueprint
from solver.subgame.config import FULL, SubgameConfig
from tests.solver.multiplayer import test_two_left

blueprint = test_two_left.blueprint
CONFIG = SubgameConfig(depth=FULL, sizes="100%", raises="none", raise_cap=0, iterations=200, target_pct=1.0)


def rows(blueprint: MultiwayBlueprint, line: str) -> Any:
    bundle: Any = SimpleNamespace(
        blueprint=blueprint, seats=("SB", "BB", "BTN"), config={"reach_rule": "max"}
    )
    return solve_bundle_exactly(
        bundle, line, "QsJh2h8d3c", CONFIG, raw=False, progress=lambda _: None, should_stop=lambda: False
    )


def test_the_rows_say_who_is_left_who_folded_and_how_near_the_solve_is(blueprint: MultiwayBlueprint) -> None:
    found = rows(blueprint, "fcx/xx/xx/x")
    data = found.data()
    assert (data["player"], data["players"], data["folded"]) == ("BB", ["SB", "BB"], ["BTN"])
    assert (data["depth"], data["leaves"], data["values"], data["actions"]) == (FULL, 0, None, ["x", "b200"])
    assert data["exploitability_pct"] <= 1.0
    assert data["folded_hands"] == {"players": 1, "exact": True, "relative_error": 0.0}
    assert len(data["hands"]) == 1081
    assert sum(data["frequencies"]) == pytest.approx(1.0)
    # The best hand is worth more than the pot that it takes anyway, the worst nearly nothing.
    assert data["hands"]["TdTc"]["ev"] < data["hands"]["Tc9c"]["ev"]
    assert data["hands"]["Tc9c"]["ev"] > 190.0 > 60.0 > data["hands"]["5d4c"]["ev"]
    assert "% of pot exploitable" in found.text()[1]


def test_depth_two_is_refused_and_full_is_named() -> None:
    given = dict.fromkeys(("sizes", "raises", "values", "continuation"))
    with pytest.raises(ValueError, match="accepted with more: 1, or full with two players"):
        multiplayer_config(SubgameConfig(depth=2), given)
