"""What an engine will take in memory, known before anything is ranked or counted."""

from __future__ import annotations

from solver.betting.public_tree import PublicTree
from solver.cfr.schedules import Schedule
from solver.exact.allocation import PRECISIONS
from solver.exact.betting_plan import allin_streets, check_down, table_rows
from solver.exact.card_game import CardGame
from solver.exact.deals import dealt_hands
from solver.exact.hand_tables import padded


def engine_bytes(tree: PublicTree, game: CardGame, schedule: Schedule, *, has_leaves: bool = False) -> int:
    """Bytes of the tables and all-in matrices of a `CfrEngine`: most of what it takes.

    Parameters
    ----------
    has_leaves
        Whether somebody else values the lines that the tree stops before a later street.
    """
    types, rows = PRECISIONS["float32"], table_rows(tree)
    entry = types.averages().itemsize + types.regrets().itemsize * (1 + schedule.predictive)
    allins = allin_streets(tree if has_leaves else check_down(tree), game.num_deals)
    total = 0
    for street, counts in dealt_hands(game, len(rows.num_rows)):
        pads = [padded(count) for count in counts]
        total += entry * sum(pad * int(rows.num_rows[street, player]) for player, pad in enumerate(pads))
        if street < game.num_deals and allins[street]:
            # Wins minus losses in 16 bits, once for each player.
            total += 2 * (pads[0] * counts[1] + pads[1] * counts[0])
    return total
