"""Two seats agree with the exact preflop solver."""

from __future__ import annotations

import numpy as np
import pytest

from solver.betting.game import GameConfig
from solver.multiway.game import MultiwayGame
from solver.multiway.replica import Streams
from solver.multiway.trainer import MultiwayTrainer
from solver.preflop.game import PreflopGame
from solver.preflop.solver import solve_preflop
from solver.preflop.strategy import PreflopStrategy


def trained(config: GameConfig, epochs: int) -> PreflopStrategy:
    """The average strategy, as the exact solver writes one."""
    game = MultiwayGame.build(config)
    trainer = MultiwayTrainer(game, Streams(seed=1, count=1, deals=2500))
    trainer.run(epochs)
    exact = PreflopGame.build(config)
    probabilities = np.zeros((len(game.tree), 169))
    probabilities[game.tree.children] = trainer.strategy().preflop
    return PreflopStrategy(exact, probabilities)


def test_push_or_fold_at_10_big_blinds_is_the_known_equilibrium() -> None:
    config = GameConfig(stacks=(1000, 1000), raise_sizes=("a",), limp=False)
    play = trained(config, 60)
    assert play.expected_values()[0] / 100 == pytest.approx(-0.04537, abs=0.0005)
    assert 100 * play.frequencies("")["all_in"] == pytest.approx(58.29, abs=1.0)
    assert 100 * play.frequencies("A")["call"] == pytest.approx(37.38, abs=1.0)
    assert play.exploitability < 1.0


@pytest.mark.deep
def test_25_big_blinds_checked_down_agree_with_the_exact_solver() -> None:
    config = GameConfig(stacks=(2500, 2500), raise_sizes=("2", "3x,a", "a"), over_limp_sizes="3.5")
    play = trained(config, 800)
    exact = solve_preflop(config, iterations=4000)
    assert play.expected_values()[0] / 100 == pytest.approx(exact.values[0], abs=0.0005)
    assert play.exploitability < 1.0
    for label, share in exact.strategy.frequencies("").items():
        assert 100 * play.frequencies("")[label] == pytest.approx(100 * share, abs=1.0)
