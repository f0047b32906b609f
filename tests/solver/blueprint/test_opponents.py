"""Players trained against opponents who respond on the river: small games with known limits, and the kernels."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from abstractions.cards import CLASS_NAMES, CLASS_OF_COMBO, NUM_CLASSES, live_combos, parse_board
from abstractions.evaluator import evaluate_board
from solver.betting.game import GameConfig, StreetSizes
from solver.blueprint.boards import LIVE_FRACTION, BoardBatch, Bucketing
from solver.blueprint.evaluation import Evaluation
from solver.blueprint.every_hand import EveryHand
from solver.blueprint.flop_values import FlopEvaluator, Response, group_boards
from solver.blueprint.pot_types import pot_types
from solver.blueprint.shard import Shard
from solver.blueprint.trainer import BlueprintTrainer
from solver.cfr.schedules import schedule
from tests.solver.blueprint.best_in_buckets import least_loss
from tests.solver.blueprint.small_games import FewBuckets, game_of, small_game

QUIET = StreetSizes(None, None, None, None)
BETS = StreetSizes("100%", None, "100%", None)
#: Two boards that part on the turn.
BOARDS = np.stack([parse_board("QsJh2h8d3c"), parse_board("QsJh2h7s3c")])
WEIGHTS = np.array([0.4, 0.6])
#: Hands in play, so that a linear program stays small.
HELD = ("AKs", "QTs", "98s", "55", "72o")


def held(hands: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which combos belong to some classes."""
    return np.isin(CLASS_OF_COMBO, [CLASS_NAMES.index(hand) for hand in hands])


class PerfectRecall:
    """Hands in play in two buckets on flop and turn, in four on the river; the others in a bucket of their own."""

    num_buckets = (3, 3, 6)

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:
        kind = np.where(held(HELD), held(HELD[:3]).astype(np.int64), 2)
        if len(board) < 5:
            return kind
        strength = evaluate_board(board)
        better = strength > np.median(strength[held(HELD) & live_combos(board)])
        return 2 * kind + better


def shard_of(postflop: tuple[StreetSizes, ...], opponents: Bucketing | None = None) -> tuple[Shard, int]:
    """The shard of one limped line, and the line's number."""
    config = GameConfig(stacks=(1000, 1000), raise_sizes=("9.9",), raise_cap=1, postflop=postflop)
    game = game_of(config)
    line = game.names.index("cx")
    bucketing = PerfectRecall()
    shard = Shard(game.tree, pot_types(game), [line], bucketing, opponents=opponents, dtype=np.float64)
    shard.begin_phase(1, schedule("dcfr"))
    return shard, line


def batch_of(boards: NDArray[np.uint8] = BOARDS, weights: NDArray = WEIGHTS) -> BoardBatch:
    return BoardBatch(boards, weights, np.zeros(len(boards), dtype=np.int16))


def reach_of(line: int) -> NDArray[np.float64]:
    """The reach of a player who plays the hands in play to a line, by line and class."""
    reach = np.zeros((line + 1, NUM_CLASSES))
    reach[line, [CLASS_NAMES.index(hand) for hand in HELD]] = 1.0
    return reach


def responder_wins(shard: Shard, table: NDArray, responder: int, line: int, best: Response) -> float:
    """What a responder who sees real cards wins, summed over all deals."""
    evaluator = FlopEvaluator(shard.layout, shard.pots, shard.bucketing, np.float64)
    flop = group_boards(BOARDS, WEIGHTS, np.zeros(len(BOARDS), dtype=int))[0]
    reach = reach_of(line)
    values = evaluator.class_values(table, flop, reach, responder, best)[0]
    return float(values @ reach[line]) * LIVE_FRACTION


@pytest.mark.parametrize("guarded", [False, True])
def test_without_abstraction_both_games_reach_the_equilibrium(guarded: bool) -> None:
    game = game_of()
    sampler, flops = small_game()
    hands = EveryHand(sampler.cards)
    trainer = BlueprintTrainer(game, pot_types(game), hands, opponents=hands, guarded=guarded)
    if not guarded:
        trainer.begin_phase(schedule("dcfr"), sampler, plain=True)
        trainer.run(100)
    trainer.begin_phase(schedule("lcfr"), sampler)
    gaps = []
    for iterations in (20, 60, 320):
        trainer.run(iterations)
        gaps.append(Evaluation(trainer.blueprint(dtype=np.float64)).evaluate(flops).exploitability)
        assert trainer.exploitability(flops) == pytest.approx(gaps[-1], rel=1e-3)
    # A best responder changes its mind at once, so averages take longer than against a learner.
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2]
    assert 0 < gaps[2] < 20


def test_before_the_flop_players_keep_what_they_learned_in_the_plain_game() -> None:
    game = game_of()
    sampler, _ = small_game()
    trainer = BlueprintTrainer(game, pot_types(game), FewBuckets(), opponents=FewBuckets())
    itself = BlueprintTrainer(game, pot_types(game), FewBuckets())
    trainer.begin_phase(schedule("lcfr"), sampler, plain=True)
    itself.begin_phase(schedule("lcfr"), sampler)
    for plain in (trainer, itself):
        plain.run(12)
    # The plain game is that of players without opponents, on every street.
    np.testing.assert_array_equal(trainer.preflop(), itself.preflop())
    np.testing.assert_array_equal(trainer.preflop("regret"), itself.preflop("regret"))
    np.testing.assert_array_equal(trainer.blueprint().table, itself.blueprint().table)
    trainer.begin_phase(schedule("dcfr"), sampler)
    trainer.run(3)
    for table in ("average", "regret"):
        np.testing.assert_array_equal(trainer.preflop(table), itself.preflop())
    assert not np.array_equal(trainer.blueprint().table, itself.blueprint().table)
    # The opponents of each game answer before the flop too.
    seats = game.preflop.tree.player[np.maximum(game.preflop.tree.parent, 0)]
    for seat in range(2):
        played = trainer.trunks[seat].strategy
        np.testing.assert_array_equal(played[seats == seat], itself.preflop()[seats == seat])
        assert not np.array_equal(played[seats != seat], itself.preflop()[seats != seat])


def test_a_trainer_without_a_plain_phase_refuses_one() -> None:
    game = game_of()
    sampler, _ = small_game()
    for trainer in (
        BlueprintTrainer(game, pot_types(game), FewBuckets()),
        BlueprintTrainer(game, pot_types(game), FewBuckets(), opponents=FewBuckets(), guarded=True),
    ):
        with pytest.raises(ValueError, match="plain: this trainer learns before the flop in every phase"):
            trainer.begin_phase(schedule("lcfr"), sampler, plain=True)


@pytest.mark.parametrize("trained", [0, 1])
def test_coarse_buckets_lose_the_least_that_they_can(trained: int) -> None:
    """Against an opponent who sees its hand on every street, the limit is that of a linear program."""
    shard, line = shard_of((QUIET, BETS, BETS), EveryHand(BOARDS))
    itself, _ = shard_of((QUIET, BETS, BETS))
    combos, reach = np.flatnonzero(held(HELD)).tolist(), reach_of(line)
    tree, root = shard.layout.plan.tree, shard.pots.templates[0]
    least = least_loss(tree, root, BOARDS, WEIGHTS, shard.bucketing, combos, trained)
    gaps = []
    for epoch in range(1, 401):
        shard.sweep(1 - trained, batch_of(), reach, epoch, trained=trained)
        shard.sweep(trained, batch_of(), reach, epoch, trained=trained)
        for own in range(2):
            itself.sweep(own, batch_of(), reach, epoch)
        if epoch in (100, 400):
            table = shard.up_to_date("average", epoch)
            gaps.append(responder_wins(shard, table, 1 - trained, line, (True,) * 3) - least)
    blind = responder_wins(itself, itself.up_to_date("average", 400), 1 - trained, line, (True,) * 3) - least
    assert 0 <= gaps[1] < 0.6 * gaps[0]
    assert gaps[1] < 0.04 * least
    # In the abstract game both converge as well, to something that a real opponent beats.
    assert blind > 5 * gaps[1]


@pytest.mark.parametrize("trained", [0, 1])
def test_the_opponent_responds_exactly_on_the_river_and_the_trained_player_meets_that(trained: int) -> None:
    shard, line = shard_of((QUIET, QUIET, BETS), PerfectRecall())
    batch, reach = batch_of(), reach_of(line)
    for epoch in range(1, 4):
        shard.sweep(1 - trained, batch, reach, epoch, trained=trained)
        shard.sweep(trained, batch, reach, epoch, trained=trained)
    # So large that the regrets of a sweep change no strategy: both sweeps then meet the same ones.
    shard.regret *= 1e12
    current = shard.up_to_date("regret", 4)
    answer = shard.sweep(1 - trained, batch, reach, 4, trained=trained)
    won = float(answer.sum(axis=0)[0] @ reach[line]) * LIVE_FRACTION
    assert won == pytest.approx(responder_wins(shard, current, 1 - trained, line, (False, False, True)))
    mine = shard.sweep(trained, batch, reach, 4, trained=trained)
    assert float(mine.sum(axis=0)[0] @ reach[line]) * LIVE_FRACTION == pytest.approx(-won)


def test_choices_where_nobody_gets_are_those_of_this_board() -> None:
    """A player who never bets leaves the answers to bets open: they must not be those of an earlier board."""
    shard, line = shard_of((QUIET, QUIET, BETS), PerfectRecall())
    reach, nobody = reach_of(line), np.zeros((line + 1, NUM_CLASSES))
    first, second = batch_of(BOARDS[:1], np.ones(1)), batch_of(BOARDS[1:], np.ones(1))
    shard.sweep(1, first, reach, 1, trained=0)
    assert shard.opponents is not None
    assert shard.opponents.choices(0, 0, 0).any()
    shard.sweep(1, second, nobody, 1, trained=0)
    assert not shard.opponents.choices(0, 0, 0).any()


def test_the_response_is_never_pruned() -> None:
    plain, line = shard_of((BETS, BETS, BETS), PerfectRecall())
    pruned, _ = shard_of((BETS, BETS, BETS), PerfectRecall())
    batch, reach = batch_of(), reach_of(line)
    for epoch in range(1, 6):
        found = [
            shard.sweep(1, batch, reach, epoch, trained=0, prune_below=below)
            for shard, below in ((plain, None), (pruned, -1e-9))
        ]
        np.testing.assert_array_equal(found[0], found[1])
        plain.sweep(0, batch, reach, epoch, trained=0)
        pruned.sweep(0, batch, reach, epoch, trained=0)
    # The trained player is.
    pruned.sweep(1, batch, reach, 6, trained=0)
    plain.sweep(1, batch, reach, 6, trained=0)
    pruned.sweep(0, batch, reach, 6, trained=0, prune_below=-1e-9)
    plain.sweep(0, batch, reach, 6, trained=0)
    assert not np.array_equal(pruned.regret, plain.regret)


def test_opponents_need_showdowns_by_hand_and_a_shard_that_has_them() -> None:
    game = game_of()
    equity = np.full((10, 10), 0.5)
    with pytest.raises(ValueError, match="river_equity"):
        Shard(game.tree, pot_types(game), [0], FewBuckets(), river_equity=equity, opponents=FewBuckets())
    shard, line = shard_of((QUIET, QUIET, BETS))
    with pytest.raises(ValueError, match="no opponents"):
        shard.sweep(0, batch_of(), reach_of(line), 1, trained=0)


def test_lines_that_share_a_subtree_keep_their_opponents_choices_apart() -> None:
    """With shared pot types a board is swept in rounds; each round meets the response of its own lines."""
    game = game_of(
        GameConfig(stacks=(4000, 4000), raise_sizes=("2", "3x"), raise_cap=2, postflop=(QUIET, QUIET, BETS))
    )
    pots = pot_types(game, "shared")
    assert pots.num_rounds > 1
    rng = np.random.default_rng(5)
    reach = rng.random((2, len(game.lines), NUM_CLASSES))
    shard = Shard(
        game.tree, pots, range(len(pots.templates)), FewBuckets(), opponents=FewBuckets(), dtype=np.float64
    )
    shard.begin_phase(1, schedule("lcfr"))
    batch = batch_of()
    # So large that the regrets of a sweep change no strategy: what one wins the other loses, line by line.
    shard.regret[:] = 1e15 * rng.random(len(shard.regret))
    theirs = shard.sweep(1, batch, reach[0], 1, trained=0).sum(axis=0)
    mine = shard.sweep(0, batch, reach[1], 1, trained=0).sum(axis=0)
    for line in range(len(game.lines)):
        assert float(theirs[line] @ reach[1, line]) == pytest.approx(-float(mine[line] @ reach[0, line]))
