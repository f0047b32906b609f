"""What each action of a blueprint is worth after the flop, hand by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS
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
    values = []
    for token in decision.tokens:
        after = decision.line + token
        if token == Letter.FOLD:
            values.append(np.full(NUM_COMBOS, -float(decision.committed[seat])))
        elif bundle.ends_hand(after):
            values.append(_showdown(bundle, decision, ranges[1 - seat], board))
        else:
            values.append(bundle.continuation_value(after, board, ranges, seat, runouts=runouts, seed=seed))
    return np.stack(values)


def _showdown(bundle: BlueprintBundle, decision: Decision, opponent: Floats, board: BoardLike) -> Floats:
    """Net chips of each combo if the player checks or calls and the cards decide."""
    own, other = decision.committed[decision.player], decision.committed[1 - decision.player]
    pot = decision.pot + other - own
    rake = min(bundle.game.rake * pot, bundle.game.rake_cap)
    return combo_equities(opponent, board) * (pot - rake) - other
