"""A kept subgame answers as other bundles do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from abstractions.cards import parse_board
from artifacts import open_blueprint, open_bundle
from artifacts.blueprint.combo_rows import NOT_HELD
from artifacts.blueprint.line_reach import line_play
from artifacts.bundle_store import BundleStore
from artifacts.subgame_bundle import StoredSubgames, SubgameBundle
from solver.subgame import SubgameConfig
from solver.subgame.hand_solver import solve_street
from solver.subgame.locks import action_lock
from solver.subgame.solved_street import SolvedStreet
from solver.subgame.subgame import Subgame

LINE, TURN = "b250c/xx/x", "QsJh2h8d"
CONFIG = SubgameConfig(sizes="75%", raises="a", iterations=3)


@pytest.fixture(scope="module")
def kept(exported: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[SubgameBundle, SolvedStreet]:
    """A solve of the turn as it was kept, and as it was solved."""
    blueprint = open_blueprint(exported)
    store = StoredSubgames(BundleStore(tmp_path_factory.mktemp("store")), blueprint.key, "code")
    subgame = Subgame.build(blueprint.blueprint, LINE, TURN, CONFIG)
    locks = {"b250c/xx/": action_lock(["x", "b375"], {"x": 1.0})}
    solved, _ = solve_street(
        blueprint.blueprint, subgame, CONFIG, blueprint_key=store.blueprint_key, cache=store, locks=locks
    )
    (folder,) = store.store.root.glob("subgame-*")
    bundle = open_bundle(folder)
    assert isinstance(bundle, SubgameBundle)
    return bundle, solved


def test_it_holds_what_was_solved(kept: tuple[SubgameBundle, SolvedStreet]) -> None:
    bundle, solved = kept
    again = bundle.solved
    assert (again.line, again.board, again.config, again.locked) == (
        solved.line,
        solved.board,
        solved.config,
        ("b250c/xx/",),
    )
    for line, decision in solved.by_line.items():
        found = again.by_line[line]
        assert (found.labels, found.pot, found.committed) == (
            decision.labels,
            decision.pot,
            decision.committed,
        )
        assert found.strategy == pytest.approx(decision.strategy, abs=1e-6)
        assert found.action_ev == pytest.approx(decision.action_ev, rel=1e-5, abs=1e-3, nan_ok=True)
    assert bundle.manifest.config["board"] == TURN


def test_decisions_have_the_chips_of_the_hand(
    kept: tuple[SubgameBundle, SolvedStreet], exported: Path
) -> None:
    bundle, _ = kept
    here, below = bundle.decision(LINE), open_blueprint(exported).decision(LINE)
    assert (here.player, here.street, here.pot) == (below.player, below.street, below.pot)
    assert bundle.decision("b250c/xx").line == "b250c/xx/"
    with pytest.raises(ValueError, match="which begins with 'b250c/xx/'"):
        bundle.decision("b250c/x")
    with pytest.raises(ValueError, match="this subgame was solved on QsJh2h8d"):
        bundle.postflop(LINE, "QsJh2h9d")
    # The cards of the flop may come in any order.
    assert bundle.postflop(LINE, "2hQsJh8d").actions == here.actions


def test_rows_are_the_solution_by_combo(kept: tuple[SubgameBundle, SolvedStreet]) -> None:
    bundle, solved = kept
    rows = bundle.postflop(LINE, TURN)
    held = np.array([reason != NOT_HELD for reason in rows.reasons])
    assert rows.raw_probability[held] == pytest.approx(
        solved.strategy(LINE)[:, rows.combos[held]].T, abs=1e-6
    )
    assert rows.reach == pytest.approx(solved.range(0, LINE)[rows.combos], abs=1e-6)
    play = line_play(bundle, LINE, parse_board(TURN))
    assert play.frequencies == pytest.approx(solved.frequencies(), abs=1e-5)
    first = bundle.steps(LINE)[0]
    assert (first[0].line, first[0].tokens[first[1]]) == ("b250c/xx/", "x")
