"""Known luck: it is all the luck of a game that is checked down, and most of it elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from abstractions.isomorphism import canonical_boards
from abstractions.rank_moments import rank_moments
from solver.blueprint.boards import BoardSampler
from solver.blueprint.every_hand import EveryHand
from solver.blueprint.known_luck import FIRST_FIT, MEMORY, KnownLuck
from solver.blueprint.pot_types import pot_types
from solver.blueprint.strategy import Blueprint
from solver.blueprint.trainer import BlueprintTrainer
from solver.cfr.schedules import schedule
from tests.solver.blueprint.small_games import FewBuckets, game_of, small_game
from tests.solver.blueprint.test_preflop_values import blueprint, measure, random_boards, reach_of

SEAT = 1


def luck_of(known: KnownLuck, strategy: Blueprint, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the lines of a seat are worth on each board, and the luck in it, boards taken one by one."""
    values = measure(strategy, boards)[0][:, SEAT]
    reach = reach_of(strategy)[1 - SEAT]
    luck = [
        known.luck(board[None], rank_moments(board)[None], np.ones(1), reach, value[None])
        for board, value in zip(boards, values)
    ]
    return values, np.array(luck)


def whole_deck(batch: int) -> BoardSampler:
    flops = canonical_boards(3)
    return BoardSampler(flops.boards, flops.weights, np.zeros(len(flops.weights), dtype=int), batch, seed=2)


def test_a_game_that_is_checked_down_is_all_luck() -> None:
    strategy = blueprint(checked_down=True)
    known = KnownLuck(strategy.game)
    values, luck = luck_of(known, strategy, random_boards(FIRST_FIT + 3, seed=1))
    assert not luck[:FIRST_FIT].any()
    left = values[FIRST_FIT:] - luck[FIRST_FIT:]
    # Whatever the board, what is left is the mean over all boards.
    np.testing.assert_allclose(left[1:], left[:-1], rtol=1e-6, atol=1e-4 * np.abs(values).mean())
    assert np.abs(values[FIRST_FIT] - values[FIRST_FIT + 1]).mean() > 0.1 * np.abs(values).mean()


def test_luck_has_mean_zero_and_explains_most_of_what_varies() -> None:
    strategy = blueprint(checked_down=False)
    known = KnownLuck(strategy.game)
    luck_of(known, strategy, random_boards(300, seed=2))
    values, luck = luck_of(known, strategy, random_boards(400, seed=3))
    assert luck.std(axis=0).mean() > 0.5 * values.std(axis=0).mean()
    assert (values - luck).std(axis=0).mean() < 0.6 * values.std(axis=0).mean()
    # The mean of the luck is 0 up to its own standard error.
    off = luck.mean(axis=0) / (luck.std(axis=0) / np.sqrt(len(luck)))
    assert np.sqrt((off**2).mean()) < 1.3


def test_old_boards_are_forgotten() -> None:
    game = game_of()
    known = KnownLuck(game)
    known.count[:] = MEMORY - 1
    reach = game.reach(game.uniform(), 0)
    board = np.array([0, 5, 10, 15, 20], dtype=np.uint8)
    known.luck(board[None], rank_moments(board)[None], np.ones(1), reach, np.zeros((1, *reach.shape)))
    assert known.count == known.fitted == MEMORY / 2


def test_a_line_that_nobody_brings_has_no_luck() -> None:
    strategy = blueprint(checked_down=False)
    known = KnownLuck(strategy.game)
    luck_of(known, strategy, random_boards(FIRST_FIT, seed=4))
    board = random_boards(1, seed=5)
    nobody = np.zeros_like(reach_of(strategy)[0])
    luck = known.luck(board, rank_moments(board[0])[None], np.ones(1), nobody, nobody[None])
    assert not luck.any()


@pytest.mark.parametrize("opponents", [None, FewBuckets()], ids=["itself", "opponents"])
def test_what_is_known_about_luck_survives_a_stop(opponents: FewBuckets | None) -> None:
    game, sampler = game_of(), whole_deck(batch=8)

    def trainer() -> BlueprintTrainer:
        new = BlueprintTrainer(game, pot_types(game), FewBuckets(), opponents=opponents)
        new.begin_phase(schedule("lcfr"), sampler, plain=new.has_plain_phase)
        return new

    whole = trainer()
    whole.run(FIRST_FIT // 2)
    stopped = trainer()
    stopped.run(FIRST_FIT // 4)
    resumed = trainer()
    resumed.restore(stopped.state())
    resumed.run(FIRST_FIT // 4)
    expected, found = whole.state(), resumed.state()
    assert expected.keys() == found.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)
    # Luck was learned from the boards and taken off, in the trunk that they played.
    learned = {name.split("/")[1] for name in expected if name.endswith("slopes") and expected[name].any()}
    assert learned == {str(len(whole.trunks) - 1)}


def test_luck_is_left_alone_where_some_boards_never_come() -> None:
    game = game_of()
    sampler, _ = small_game()
    assert not sampler.deals_all_boards
    assert whole_deck(4).deals_all_boards
    trainer = BlueprintTrainer(game, pot_types(game), EveryHand(sampler.cards))
    trainer.begin_phase(schedule("lcfr"), sampler)
    trainer.run(2)
    assert not any(array.any() for name, array in trainer.state().items() if name.startswith("luck/"))
