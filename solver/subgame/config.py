"""What a user may ask of a subgame solve."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from solver.betting.game import StreetSizes
from solver.betting.lines import RIVER
from solver.betting.sizes import parse_menu

#: Depth that searches every street to the river.
FULL = "full"
CONTINUATIONS = ("trained", "values")
SAFETIES = ("unsafe", "resolve", "maxmargin", "reach")
#: Numbers of fixed continuations: the blueprint; with one kind of action favoured; and favoured by two factors.
VALUE_COUNTS = (1, 4, 7)


@dataclass(frozen=True)
class SubgameConfig:
    """How a subgame is built and solved.

    Attributes
    ----------
    depth
        Streets that are searched hand by hand, counting the current one; ``full`` goes to the river.
    continuation
        What follows the last of them: ``trained`` (later streets in buckets, trained along) or
        ``values`` (each player chooses, hand by hand, one of `values` fixed continuations).
    values, factor
        How many fixed continuations there are, and how much likelier the favoured action is.
    safety
        Whether the opponent may decline to enter the subgame, see `solver.subgame.safety`.
    sizes, raises, reraises, raise_cap
        Of the current street: bets, raises of a bet, raises of a raise (None: as `raises`), and how many raises a bet
        allows. Without `sizes`, all of them are those of the blueprint's game.
    later_sizes, later_raises
        The same for later streets; by default the menus of the blueprint's game.
    stacks
        Chips of both seats at the start of the hand; by default those of the blueprint's game.
    iterations, time_s, target_pct
        When to stop: iterations, seconds, exploitability in percent of the pot (of an exact solve only).
    run_outs
        Run-outs that an iteration plays below each board where the search ends; by default three rivers of a search
        that begins on the turn, eight run-outs of one that begins on the flop.
    seed
        Of the choice of run-outs.
    threads
        Threads that share the work; results do not depend on it.
    memory_limit
        Bytes over which to refuse; by default nine tenths of the machine's memory.
    """

    depth: int | str = 1
    continuation: str = "trained"
    values: int = 4
    factor: float = 10.0
    safety: str = "unsafe"
    sizes: str | None = "33%,50%,75%,100%,150%,a"
    raises: str = "2.5x,a"
    reraises: str | None = "a"
    raise_cap: int | None = 2
    later_sizes: str | None = None
    later_raises: str = "2.5x"
    stacks: tuple[int, int] | None = None
    iterations: int | None = 300
    time_s: float | None = None
    target_pct: float | None = None
    run_outs: int | None = None
    seed: int = 0
    threads: int = 1
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        _check_depth(self.depth)
        _require("continuation", self.continuation, CONTINUATIONS)
        _require("safety", self.safety, SAFETIES)
        _require("values", self.values, VALUE_COUNTS)
        if not self.factor > 0.0:
            raise ValueError(f"factor: {self.factor!r} is not a positive number")
        if self.sizes is not None:
            parse_menu(self.sizes, raising=False, where="sizes")
            parse_menu(self.raises, raising=True, where="raises")
            if self.reraises is not None:
                parse_menu(self.reraises, raising=True, where="reraises")
        if self.later_sizes is not None:
            parse_menu(self.later_sizes, raising=False, where="later_sizes")
            parse_menu(self.later_raises, raising=True, where="later_raises")
        for key in ("iterations", "run_outs", "threads", "memory_limit"):
            value = getattr(self, key)
            if value is not None and value < 1:
                raise ValueError(f"{key}: {value!r} is not a positive number")
        for key in ("time_s", "target_pct"):
            value = getattr(self, key)
            if value is not None and not value > 0.0:
                raise ValueError(f"{key}: {value!r} is not a positive number")
        if self.iterations is None and self.time_s is None and self.target_pct is None:
            raise ValueError("iterations: nothing says when to stop; give iterations, time_s or target_pct")

    @property
    def menu(self) -> StreetSizes | None:
        """Sizes of the current street, None for those of the game."""
        if self.sizes is None:
            return None
        return StreetSizes(self.sizes, self.raises, self.sizes, self.raises, reraise=self.reraises)

    @property
    def later_menu(self) -> StreetSizes | None:
        """Sizes of later streets, None for those of the game."""
        if self.later_sizes is None:
            return None
        return StreetSizes(self.later_sizes, self.later_raises, self.later_sizes, self.later_raises)

    def menus(self, street: int) -> dict[int, StreetSizes]:
        """Sizes by street of a subgame that begins on `street`; a street left out has those of the game."""
        found = {} if self.menu is None else {street: self.menu}
        if self.later_menu is not None:
            found |= dict.fromkeys(range(street + 1, RIVER + 1), self.later_menu)
        return found

    def on_next_street(self) -> SubgameConfig:
        """Settings that solve the next street of such a solve with the sizes that it had there.

        Both ranges come from the solve itself, so nobody needs to be kept from staying out.
        """
        raises = self.raises if self.later_sizes is None else self.later_raises
        return replace(self, sizes=self.later_sizes, raises=raises, reraises=None, safety="unsafe")

    @property
    def memory_bytes(self) -> int:
        """Bytes that the solve may take."""
        if self.memory_limit is not None:
            return self.memory_limit
        return int(0.9 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def read_depth(text: str) -> int | str:
    """A depth from text: a number of streets, or ``full``."""
    depth = int(text) if text.isdecimal() else text
    _check_depth(depth)
    return depth


def _check_depth(depth: int | str) -> None:
    if depth != FULL and (not isinstance(depth, int) or depth < 1):
        raise ValueError(f"depth: {depth!r} is unknown; accepted: 1, 2, {FULL}")


def _require(key: str, value: object, accepted: tuple[object, ...]) -> None:
    if value not in accepted:
        raise ValueError(f"{key}: {value!r} is unknown; accepted: {', '.join(map(str, accepted))}")
