"""What each hand wins on every preflop line when both play a blueprint, from a sample of all boards, with errors.

Boards come in batches, each a stratified sample of its own: a systematic sample of the flops by weight, with turns and
rivers in strata too. A board is swept once for each seat, which gives the value of every flop line by class.

Most of what varies from board to board is luck whose mean is known exactly. So control variates are measured on the
same boards (`solver.blueprint.line_controls`), and their error is taken off the values in proportion, by seat, line
and class.

The values of all preflop nodes are linear in those of the flop lines, so that every batch gives a value of each node
and class; their spread over the batches is the standard error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_CLASSES
from abstractions.isomorphism import canonical_boards
from abstractions.rank_moments import rank_moments
from solver.blueprint.board_play import add_expected
from solver.blueprint.boards import LIVE_FRACTION, NUM_LIVE, BoardHands, Bucketing, board_hands
from solver.blueprint.line_controls import (
    NUM_CONTROLS,
    board_controls,
    combo_lanes,
    control_means,
    slopes,
)
from solver.blueprint.pot_types import PotTypes
from solver.blueprint.sweep_arrays import make_work
from solver.blueprint.tables import TableLayout
from solver.blueprint.trunk import Floats, TrunkGame
from solver.preflop.solver import NUM_DEALS

#: Boards of a batch. Fewer would stratify less, more would leave few batches to take the error from.
BATCH_BOARDS = 32
# Draws of training have the keys (0, epoch) and (1, iteration) of the same seed.
_STREAM = 2


def deal_batch(seed: int, number: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Full boards of a batch, all of the same weight, and the number of each one's canonical flop.

    >>> boards, flops = deal_batch(1, 0)
    >>> boards.shape, bool((np.diff(flops) >= 0).all())
    ((32, 5), True)
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_STREAM, number)))
    known = canonical_boards(3)
    cumulated = np.cumsum(known.weights.astype(np.float64))
    strata = np.arange(BATCH_BOARDS)
    flops, turns, rivers = (
        (order + rng.random(BATCH_BOARDS)) / BATCH_BOARDS
        for order in (strata, rng.permutation(strata), rng.permutation(strata))
    )
    numbers = np.searchsorted(cumulated, flops * cumulated[-1], side="right")
    numbers = np.minimum(numbers, len(cumulated) - 1)
    boards = np.empty((BATCH_BOARDS, 5), dtype=np.uint8)
    boards[:, :3] = known.boards[numbers]
    for board, turn, river in zip(boards, turns, rivers):
        rest = np.setdiff1d(np.arange(52), board[:3])
        board[3] = rest[int(turn * 49)]
        rest = rest[rest != board[3]]
        board[4] = rest[int(river * 48)]
    return boards, numbers


class BoardValues:
    """Measures flop lines and their controls board by board; scratch is kept between calls.

    Parameters
    ----------
    layout, pots, bucketing
        As in `Blueprint`.
    reach
        Of each seat by flop line and class, ``[line, 169]``.
    dtype
        Element type of the strategy table that will be given.
    """

    def __init__(
        self,
        layout: TableLayout,
        pots: PotTypes,
        bucketing: Bucketing,
        reach: Sequence[Floats],
        dtype: Any = np.float32,
    ) -> None:
        self.layout = layout
        self.pots = pots
        self.bucketing = bucketing
        self._num_lines = len(reach[0])
        self._rounds = []
        for number in range(pots.num_rounds):
            lines = np.array(pots.round_lines(number))
            played = (lines >= 0)[:, None]
            shares = pots.round_shares(number)
            for own in range(2):
                opponent = np.where(played, reach[1 - own][lines], 0)
                pays = layout.plan.payoffs(own, shares).ravel()
                self._rounds.append(
                    (own, lines, np.ascontiguousarray(opponent, dtype=dtype), pays.astype(dtype))
                )
        # A lane for each seat and line: the opponent's reach by combo.
        self._lanes = combo_lanes(np.concatenate([reach[1], reach[0]]))
        self._work = make_work(layout.plan.programs, NUM_LIVE, dtype)

    def deal(self, board: NDArray[np.uint8], texture: int) -> BoardHands:
        """The hands of a board."""
        return board_hands(board, self.bucketing, texture)

    def values(self, table: NDArray[Any], deal: BoardHands, texture: int) -> Floats:
        """Value of every flop line to each seat on a board, ``[seat, line, class]``, in chips times deals."""
        layout, weight = self.layout, 1.0 / LIVE_FRACTION
        slot = texture if layout.num_textures > 1 else 0
        values = np.zeros((2, self._num_lines, NUM_CLASSES))
        for own, lines, reach, pays in self._rounds:
            found = np.zeros((len(lines), NUM_CLASSES))
            add_expected(layout, table, deal, deal.classes, own, reach, pays, weight, self._work, found, slot)
            played = lines >= 0
            values[own, lines[played]] = found[played]
        return values

    def controls(self, deal: BoardHands) -> Floats:
        """The control variates on a board, ``[seat, line, control, class]``."""
        controls = board_controls(deal.board, self._lanes, rank_moments(deal.board))
        return controls.reshape(2, self._num_lines, NUM_CONTROLS, NUM_CLASSES)


def seat_control_means(game: TrunkGame, reach: Sequence[Floats]) -> Floats:
    """The exact means of `BoardValues.controls` over all boards, given the reach of each seat."""
    return np.stack([control_means(game, reach[1 - seat]) for seat in range(2)])


@dataclass(frozen=True, eq=False)
class SampleSums:
    """What was measured on an even number of batches of boards.

    Attributes
    ----------
    num_boards
        Boards in all.
    values
        Mean of each batch, ``[batch, seat, line, class]``.
    controls
        Mean of each batch, less the exact mean, ``[batch, seat, line, control, class]``.
    squares, products
        Sums over the boards of every other batch, from the first and from the second on, of control times control,
        ``[half, seat, line, class, control, control]``, and of control times value, ``[half, seat, line, class,
        control]``, controls less their exact means.
    """

    num_boards: int
    values: Floats
    controls: Floats
    squares: Floats
    products: Floats

    @classmethod
    def of_batches(cls, values: Floats, controls: Floats) -> SampleSums:
        """From what was measured on the boards of some batches, ``[batch, board, ...]`` each."""
        count, boards = values.shape[:2]
        if count % 2:
            raise ValueError(f"{count} batches: expected an even number")
        squares, products = [], []
        for half in range(2):
            controls_here = controls[half::2].reshape(count // 2 * boards, *controls.shape[2:])
            values_here = values[half::2].reshape(count // 2 * boards, *values.shape[2:])
            by_class = np.ascontiguousarray(np.moveaxis(controls_here, [0, 3], [3, 4]))
            swapped = np.swapaxes(by_class, -1, -2)
            squares.append(swapped @ by_class)
            products.append((swapped @ np.moveaxis(values_here, 0, -1)[..., None])[..., 0])
        return cls(
            num_boards=count * boards,
            values=values.mean(axis=1),
            controls=controls.mean(axis=1),
            squares=np.array(squares),
            products=np.array(products),
        )

    def __add__(self, other: SampleSums) -> SampleSums:
        return SampleSums(
            self.num_boards + other.num_boards,
            np.concatenate([self.values, other.values]),
            np.concatenate([self.controls, other.controls]),
            self.squares + other.squares,
            self.products + other.products,
        )

    def coefficients(self, half: int) -> Floats:
        """Least squares of the values on the controls in a half, ``[seat, line, class, control]``."""
        boards = self.num_boards / 2
        means = np.moveaxis(self.controls[half::2].mean(axis=0), 2, 3)
        covariance = self.squares[half] / boards - means[..., :, None] * means[..., None, :]
        cross = self.products[half] / boards - means * self.values[half::2].mean(axis=0)[..., None]
        return slopes(covariance, cross)

    def adjusted(self) -> Floats:
        """The values of the batches with the error of the controls taken off, ``[batch, seat, line, class]``.

        Each half takes its coefficients from the other one. They then know nothing of the boards they are applied
        to, so that the values have no bias, and their spread shows what the coefficients lack.
        """
        values = self.values.copy()
        for half in range(2):
            found = self.coefficients(1 - half)
            values[half::2] -= np.einsum("bslkc,slck->bslc", self.controls[half::2], found)
        return values


@dataclass(frozen=True, eq=False)
class PreflopValues:
    """What both seats win on the preflop lines.

    Attributes
    ----------
    values, errors
        Counterfactual value of the blueprint against itself by seat, preflop node and class, in chips times deals,
        and its standard error.
    expected, expected_errors
        Value of each seat in mbb/hand, and its standard error.
    num_boards
        Boards that were dealt.
    """

    values: Floats
    errors: Floats
    expected: tuple[float, float]
    expected_errors: tuple[float, float]
    num_boards: int

    def flop_lines(self, game: TrunkGame) -> Floats:
        """Values of the flop lines, ``[seat, line, class]``."""
        return self.values[:, game.leaves]

    def first_error(self, game: TrunkGame) -> float:
        """Largest standard error of a hand and action at the first decision, in big blinds."""
        tree = game.preflop.tree
        errors = self.errors[tree.player[0], tree.children_of(0)]
        return (
            float((errors / game.preflop.pairs(np.ones(NUM_CLASSES))).max()) / game.preflop.config.big_blind
        )


def sampled_values(game: TrunkGame, preflop: Floats, sums: SampleSums) -> PreflopValues:
    """Values of the preflop lines from a sample of boards.

    Parameters
    ----------
    preflop
        As in `Blueprint`.
    """
    lines = sums.adjusted()
    nodes = np.array([[game.values(preflop, seat, batch[seat]) for seat in range(2)] for batch in lines])
    roots = nodes[:, :, 0].sum(axis=2) * (1000.0 / game.preflop.config.big_blind / NUM_DEALS)
    mean, error = _mean_and_error(nodes)
    expected, expected_error = _mean_and_error(roots)
    return PreflopValues(mean, error, _pair(expected), _pair(expected_error), sums.num_boards)


def exact_values(game: TrunkGame, preflop: Floats, lines: Floats, num_boards: int) -> PreflopValues:
    """Values of the preflop lines from those of the flop lines over all boards of a game, without error.

    Parameters
    ----------
    lines
        ``[seat, line, class]``, in chips times deals.
    """
    nodes = np.array([game.values(preflop, seat, lines[seat]) for seat in range(2)])
    expected = nodes[:, 0].sum(axis=1) * (1000.0 / game.preflop.config.big_blind / NUM_DEALS)
    return PreflopValues(nodes, np.zeros_like(nodes), _pair(expected), (0.0, 0.0), num_boards)


def _mean_and_error(batches: Floats) -> tuple[Floats, Floats]:
    # Differences from the first batch: what is the same on all boards has an error of exactly 0.
    differences = batches - batches[0]
    variance = differences.var(axis=0, ddof=1) / len(batches)
    return batches[0] + differences.mean(axis=0), np.sqrt(variance)


def _pair(figures: Floats) -> tuple[float, float]:
    return float(figures[0]), float(figures[1])
