"""Which flop lines play the same postflop betting.

With ``per_line`` every flop line has a subtree and tables of its own. With ``shared`` lines of the same
position whose stack-to-pot ratios are close share one template: they play the betting of the line that
stands for them, with payoffs scaled by pot, and one set of tables. What each seat put in before the flop
stays the line's own, so the game remains zero-sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solver.betting.public_tree import PublicTree
from solver.blueprint.plan import PotShare
from solver.blueprint.trunk import TrunkGame


@dataclass(frozen=True)
class PotTypes:
    """Flop lines by template.

    Attributes
    ----------
    templates
        First flop node of the line that stands for each pot type.
    members
        Per template, the numbers of its lines in the game's order.
    shares
        Per template and member, how its chips follow from the template's.
    """

    templates: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]
    shares: tuple[tuple[PotShare, ...], ...]

    @property
    def num_rounds(self) -> int:
        """Lines of the largest pot type: a sweep plays one line of each type at a time."""
        return max(len(members) for members in self.members)

    def of_line(self, line: int) -> tuple[int, PotShare]:
        """Template of a flop line, and how the line's chips follow from the template's."""
        for template, members, shares in zip(self.templates, self.members, self.shares):
            if line in members:
                return template, shares[members.index(line)]
        raise ValueError(f"line {line}: not a flop line of these pot types")

    def round_lines(self, number: int) -> tuple[int, ...]:
        """Line of each template in a round, -1 for none."""
        return tuple(members[number] if number < len(members) else -1 for members in self.members)

    def round_shares(self, number: int) -> tuple[PotShare, ...]:
        """Chips of each template's line in a round."""
        return tuple(shares[min(number, len(shares) - 1)] for shares in self.shares)


def stack_to_pot(tree: PublicTree, node: int, stacks: Sequence[int]) -> float:
    """Smaller stack behind over the pot at the first flop node of a line."""
    return float(min(stack - int(chips) for stack, chips in zip(stacks, tree.committed[node]))) / float(
        tree.pot[node]
    )


def pot_types(game: TrunkGame, kind: str = "per_line", *, tolerance: float = 0.15) -> PotTypes:
    """Group the flop lines of a game.

    Parameters
    ----------
    kind
        ``per_line`` or ``shared``.
    tolerance
        Largest relative difference between the stack-to-pot ratios of a pot type.
    """
    if kind not in ("per_line", "shared"):
        raise ValueError(f"pot_types: {kind!r} is unknown; accepted: per_line, shared")
    if not 0 <= tolerance < 1:
        raise ValueError(f"pot_types: a tolerance of {tolerance!r} is not a share from 0 to 1")
    tree, lines = game.tree, game.lines
    if kind == "per_line":
        return PotTypes(lines, tuple((k,) for k in range(len(lines))), tuple((PotShare(),) for _ in lines))
    ratios = [stack_to_pot(tree, node, game.preflop.config.stacks) for node in lines]
    groups: list[list[int]] = []
    # Descending ratios: a group runs from its deepest line down to the tolerance.
    for k in sorted(range(len(lines)), key=lambda k: (-ratios[k], k)):
        for group in groups:
            same_seat = tree.player[lines[group[0]]] == tree.player[lines[k]]
            if same_seat and ratios[group[0]] - ratios[k] <= tolerance * ratios[group[0]]:
                group.append(k)
                break
        else:
            groups.append([k])
    groups = sorted((sorted(group) for group in groups), key=lambda group: group[0])
    middles = [sorted(group, key=lambda k: (ratios[k], k))[len(group) // 2] for group in groups]
    return PotTypes(
        templates=tuple(lines[k] for k in middles),
        members=tuple(tuple(group) for group in groups),
        shares=tuple(
            tuple(_share(tree, lines[middle], lines[k]) for k in group)
            for middle, group in zip(middles, groups)
        ),
    )


def _share(tree: PublicTree, template: int, line: int) -> PotShare:
    """Chips of a line from those of its template."""
    put_in = [tuple(float(chips) for chips in np.asarray(tree.committed[node])) for node in (template, line)]
    scale = float(tree.pot[line]) / float(tree.pot[template])
    return PotShare(scale, (put_in[0][0], put_in[0][1]), (put_in[1][0], put_in[1][1]))
