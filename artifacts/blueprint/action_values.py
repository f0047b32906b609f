"""What each action of a blueprint is worth after the flop, hand by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS, check_board, parse_board
from abstractions.equity import combo_equities
from artifacts.blueprint.betting_lines import Decision
from solver.betting.lines import Letter

if TYPE_CHECKING:
    from artifacts.blueprint.bundle import BlueprintBundle
    from artifacts.blueprint.preflop_bundle import BoardLike

Floats = NDArray[np.float64]


def action_values(
    bundle: BlueprintBundle, line: str, board: BoardLike, *, runouts: int | None, seed: int
) -> Floats:
    """See `artifacts.blueprint.bundle.BlueprintBundle.action_values`.

    A fold loses what the player has put in. An action that ends the betting for good is worth its share of the pot
    over all run-outs. Whatever goes on is worth what both win from there on with the blueprint.
    """
    decision = bundle.decision(line)
    seat = decision.player
    ranges = bundle.range(line, 0, board), bundle.range(line, 1, board)
    ends = [token != Letter.FOLD and bundle.ends_hand(decision.line + token) for token in decision.tokens]
    if all(end or token == Letter.FOLD for token, end in zip(decision.tokens, ends)):
        values = np.empty((len(decision.tokens), NUM_COMBOS))
    else:
        cards = parse_board(board) if isinstance(board, str) else check_board(np.asarray(board))
        values = bundle.continuations.action_values(decision.line, cards, ranges, runouts=runouts, seed=seed)
    for action, (token, end) in enumerate(zip(decision.tokens, ends)):
        if token == Letter.FOLD:
            values[action] = -float(decision.committed[seat])
        elif end:
            values[action] = _showdown(bundle, decision, ranges[1 - seat], board)
    return values


def _showdown(bundle: BlueprintBundle, decision: Decision, opponent: Floats, board: BoardLike) -> Floats:
    """Net chips of each combo if the player checks or calls and the cards decide."""
    own, other = decision.committed[decision.player], decision.committed[1 - decision.player]
    pot = decision.pot + other - own
    rake = min(bundle.game.rake * pot, bundle.game.rake_cap)
    return combo_equities(opponent, board) * (pot - rake) - other
