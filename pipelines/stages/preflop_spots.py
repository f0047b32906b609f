"""Preflop spots that every heads-up game is looked at in: how often they are played, and their charts."""

from __future__ import annotations

from collections.abc import Sequence

from solver.betting.lines import chips, tokens

#: The tokens of each spot's line, without their sizes.
SPOTS = {"sb_first_in": "", "bb_vs_limp": "c", "bb_vs_open": "b", "sb_vs_3bet": "br"}


def spot_line(lines: Sequence[str], spot: str) -> str | None:
    """Line of a spot among the preflop lines, the smallest sizes first; None where the game has none.

    >>> spot_line(["||p|", "||p|c", "||p|b250", "||p|b250r750"], "sb_vs_3bet")
    '||p|b250r750'
    """
    matches = [line for line in lines if "".join(token[0] for token in tokens(line)) == SPOTS[spot]]
    return min(matches, key=lambda line: [chips(token) for token in tokens(line)], default=None)
