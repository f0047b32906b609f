"""Run-outs up to suits stand for all run-outs, and give the values of all of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS, NUM_CLASSES, NUM_COMBOS, parse_board
from abstractions.isomorphism import SUIT_PERMUTATIONS, permute_cards
from solver.betting.game import GameConfig, StreetSizes
from solver.blueprint.flop_values import RESPONSES, FlopBoards, FlopEvaluator, group_boards
from solver.blueprint.plan import LanePlan
from solver.blueprint.pot_types import pot_types
from solver.blueprint.run_outs import all_run_outs, keeping_renamings
from solver.blueprint.tables import TableLayout
from solver.blueprint.trunk import TrunkGame

TINY = GameConfig(
    stacks=(400, 400),
    raise_sizes=("2", "a"),
    raise_cap=2,
    postflop=(StreetSizes("100%", None, "100%", None),) * 3,
)


class SuitBlind:
    """Buckets by ranks, and by how many cards of its suits a hand finds on the board."""

    num_buckets = (5, 6, 7)

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:
        ranks, suits = COMBO_CARDS // 4, COMBO_CARDS % 4
        shared = np.bincount(board % 4, minlength=4)[suits].sum(axis=1)
        marks = (
            3 * ranks.sum(axis=1) + 5 * shared + 2 * (suits[:, 0] == suits[:, 1]) + int((board // 4).sum())
        )
        return marks % self.num_buckets[len(board) - 3]


def every_run_out(flop: NDArray[np.uint8]) -> NDArray[np.uint8]:
    rest = np.setdiff1d(np.arange(52), flop)
    return np.array(
        [[*flop, turn, river] for turn in rest for river in rest if turn != river], dtype=np.uint8
    )


@pytest.mark.parametrize("text", ["2c7dKh", "2c7cKh", "2c7cKc", "7c7dKh", "7c7dKc", "7c7d7h"])
def test_boards_and_their_images_are_all_run_outs(text: str) -> None:
    flop = np.sort(parse_board(text))
    boards, counts = all_run_outs(flop)
    assert counts.sum() == 49 * 48
    seen = {}
    for board, count in zip(boards, counts):
        images = {
            tuple(permute_cards(board[3:], renaming).tolist())
            for renaming in SUIT_PERMUTATIONS[keeping_renamings(flop)]
        }
        assert len(images) == count
        assert not images & seen.keys()
        seen |= dict.fromkeys(images)
    assert set(seen) == {tuple(board[3:].tolist()) for board in every_run_out(flop)}


@pytest.mark.parametrize("text", ["2c7cKh", "7c7dKh", "7c7d7h"])
def test_values_up_to_suits_are_those_of_all_run_outs(text: str) -> None:
    flop = np.sort(parse_board(text))
    no_equities = tuple(np.zeros((NUM_CLASSES, NUM_CLASSES), dtype=np.int64) for _ in range(3))
    game = TrunkGame.build(TINY, table=no_equities)
    layout = TableLayout(LanePlan.build(game.tree, game.lines), SuitBlind.num_buckets)
    rng = np.random.default_rng(4)
    table, reach = rng.random(layout.size), [rng.random((len(game.lines), NUM_CLASSES)) for _ in range(2)]
    evaluator = FlopEvaluator(layout, pot_types(game), SuitBlind(), np.float64)
    boards = every_run_out(flop)
    (every,) = group_boards(boards, np.ones(len(boards)), np.zeros(len(boards), dtype=int))
    few, counts = all_run_outs(flop)
    up_to_suits = FlopBoards(few, counts / counts.sum(), symmetric=True)
    assert len(few) < 0.65 * len(boards)
    expected = evaluator.flop_values(table, every, reach, RESPONSES)
    found = evaluator.flop_values(table, up_to_suits, reach, RESPONSES)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    with pytest.raises(ValueError, match="reach by class"):
        evaluator.combo_values(table, up_to_suits, np.ones((len(game.lines), NUM_COMBOS)), 0)


def test_responses_asked_for_together_are_those_asked_for_alone() -> None:
    no_equities = tuple(np.zeros((NUM_CLASSES, NUM_CLASSES), dtype=np.int64) for _ in range(3))
    game = TrunkGame.build(TINY, table=no_equities)
    layout = TableLayout(LanePlan.build(game.tree, game.lines), SuitBlind.num_buckets)
    rng = np.random.default_rng(4)
    table, reach = rng.random(layout.size), [rng.random((len(game.lines), NUM_CLASSES)) for _ in range(2)]
    evaluator = FlopEvaluator(layout, pot_types(game), SuitBlind(), np.float64)
    boards = every_run_out(np.sort(parse_board("2c7dKh")))[::97]
    (flop,) = group_boards(boards, np.ones(len(boards)), np.zeros(len(boards), dtype=int))
    together = evaluator.flop_values(table, flop, reach, RESPONSES)
    for k, response in enumerate(RESPONSES):
        np.testing.assert_array_equal(
            evaluator.flop_values(table, flop, reach, [response])[:, 0], together[:, k]
        )
    assert (np.diff(together.sum(axis=(2, 3)), axis=1) > 0).all()  # who may choose more wins more
