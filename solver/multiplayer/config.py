"""What a user may ask of a subgame with several players left."""

from __future__ import annotations

from dataclasses import dataclass

from solver.betting.game import StreetSizes
from solver.betting.sizes import parse_menu
from solver.subgame.config import VALUE_COUNTS

#: Who chooses how to play on at the leaves.
CHOOSERS = ("everyone", "opponents")


@dataclass(frozen=True)
class MultiplayerConfig:
    """How a subgame of several players is built and solved.

    Attributes
    ----------
    sizes, raises, raise_cap
        Bets and raises of the street, and how many raises a bet allows.
    values, factor
        How many continuations a player may choose from at a leaf (1: the blueprint alone), and how much likelier the
        favoured action is.
    choosers
        Who chooses: everyone, as in Pluribus, or the opponents of `hero` alone.
    hero
        Seat that does not choose where `choosers` says so; by default the one to act.
    iterations, time_s
        When to stop: iterations, seconds.
    deals
        Deals that an iteration plays for each player.
    value_deals
        Deals on which EVs are measured.
    seed
        Of the deals.
    threads
        Threads that share the work, two at most; results do not depend on it.
    """

    sizes: str = "50%,100%,a"
    raises: str = "2.5x,a"
    raise_cap: int | None = 1
    values: int = 4
    factor: float = 10.0
    choosers: str = "everyone"
    hero: int | None = None
    iterations: int | None = 300
    time_s: float | None = None
    deals: int = 32
    value_deals: int = 1000
    seed: int = 0
    threads: int = 1

    def __post_init__(self) -> None:
        parse_menu(self.sizes, raising=False, where="sizes")
        parse_menu(self.raises, raising=True, where="raises")
        for key, accepted in (("values", VALUE_COUNTS), ("choosers", CHOOSERS)):
            if getattr(self, key) not in accepted:
                found = f"{key}: {getattr(self, key)!r} is unknown"
                raise ValueError(f"{found}; accepted: {', '.join(map(str, accepted))}")
        for key in ("factor", "iterations", "time_s", "deals", "value_deals", "threads"):
            value = getattr(self, key)
            if value is not None and not value > 0:
                raise ValueError(f"{key}: {value!r} is not a positive number")
        if self.iterations is None and self.time_s is None:
            raise ValueError("iterations: nothing says when to stop; give iterations or time_s")

    @property
    def menu(self) -> StreetSizes:
        """Sizes of the street."""
        return StreetSizes(self.sizes, self.raises, self.sizes, self.raises)
