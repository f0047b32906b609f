"""The game that is played: seats, forced bets, stacks, menus, thresholds and rake."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    TypeAdapter,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.dataclasses import dataclass

from solver.betting.lines import FLOP, MAX_SEATS, RIVER, STREETS
from solver.betting.sizes import SizeKind, Thresholds, parse_menu, parse_preflop_menu, round_chips
from solver.validation import one_line_init, otherwise, read

MAX_CHIPS = 100_000_000  # nine stacks and a pot still fit 32 bits
DEFAULT_NODE_LIMIT = 5_000_000

Chips = Annotated[
    int, Strict(), Field(ge=0, le=MAX_CHIPS), otherwise(f"is not a whole number from 0 to {MAX_CHIPS:,}")
]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False), otherwise("is not a number")]
Rake = Annotated[float, Strict(), Field(ge=0, lt=1), otherwise("is not a rate from 0 to 1")]
RakeCap = Annotated[
    float, Strict(), Field(ge=0, allow_inf_nan=False), otherwise("is not a number of chips >= 0")
]
Prize = Annotated[float, Field(ge=0, allow_inf_nan=False), otherwise("is not a prize >= 0")]
Flag = Annotated[bool, Strict(), otherwise("is not true or false")]


def _two_seats(stacks: Any) -> Any:
    return (stacks, stacks) if isinstance(stacks, int) else stacks


def _menu_text(menu: Any) -> Any:
    if isinstance(menu, int | float) and not isinstance(menu, bool):
        return str(menu)
    return ",".join(map(str, menu)) if isinstance(menu, list | tuple) else menu


Stacks = Annotated[tuple[Chips, ...], BeforeValidator(_two_seats), otherwise("is not a list")]
#: A menu before the flop: a text, a number or a list of either, kept as text.
PreflopMenu = Annotated[
    str, BeforeValidator(_menu_text), otherwise("is not accepted: a menu such as '2.5', '3x,a' or 2.5")
]


@dataclasses.dataclass(frozen=True)
class StreetSizes:
    """Menus of one postflop street.

    ``ip`` is whoever acts last on the street among the seats still in, ``oop`` everybody else.
    ``donk`` replaces the bet menu of a seat that acts before the previous street's aggressor
    (``None``: the ordinary bet menu). ``reraise`` is the raise menu after a raise (``None``: that after a bet).
    """

    oop_bet: str | None = "50%,100%"
    oop_raise: str | None = "2.5x"
    ip_bet: str | None = "50%,100%"
    ip_raise: str | None = "2.5x"
    donk: str | None = None
    reraise: str | None = None
    __pydantic_config__ = ConfigDict(extra="forbid")

    def validate(self, where: str) -> None:
        """Refuse a menu that cannot be parsed, naming it."""
        for seat in ("oop", "ip"):
            parse_menu(getattr(self, f"{seat}_bet"), raising=False, where=f"{where}.{seat}.bet")
            parse_menu(getattr(self, f"{seat}_raise"), raising=True, where=f"{where}.{seat}.raise")
        parse_menu(self.donk, raising=False, where=f"donk_sizes.{where.rpartition('.')[2]}")
        if self.reraise is not None:
            parse_menu(self.reraise, raising=True, where=f"{where}.reraise")


def street_sizes(
    bet_sizes: Mapping[str, Any],
    donk_sizes: Mapping[str, Any] | None = None,
    *,
    first_street: int = FLOP,
) -> tuple[StreetSizes, ...]:
    """Menus from `first_street` to the river, from the ``bet_sizes`` of a spot or game file.

    A street left out takes the menus of the previous one given; ``{"bet": .., "raise": ..}``
    without ``oop`` and ``ip`` serves both.

    Examples
    --------
    >>> street_sizes({"flop": {"bet": "50%", "raise": "2.5x"}}, first_street=RIVER)[0].ip_bet
    '50%'
    """
    donk_sizes = donk_sizes or {}
    for key, table in (("bet_sizes", bet_sizes), ("donk_sizes", donk_sizes)):
        if not isinstance(table, Mapping):
            raise ValueError(f"{key}: {table!r} is not a table of streets")
        for name in table:
            if name not in STREETS[FLOP:]:
                raise ValueError(f"{key}.{name}: unknown street; accepted: flop, turn, river")
    result = []
    given: Any = None
    for street in range(FLOP, RIVER + 1):
        name = STREETS[street]
        given = bet_sizes.get(name, given) or given
        if street < first_street:
            continue
        if given is None:
            raise ValueError(f"bet_sizes.{name}: no sizes for this street or an earlier one")
        oop, ip = _seat_sizes(given, name)
        sizes = StreetSizes(
            oop.get("bet"), oop.get("raise"), ip.get("bet"), ip.get("raise"), donk_sizes.get(name)
        )
        sizes.validate(f"bet_sizes.{name}")
        result.append(sizes)
    return tuple(result)


def _seat_sizes(given: Any, street: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    where = f"bet_sizes.{street}"
    if not isinstance(given, Mapping):
        raise ValueError(f"{where}: {given!r} is not a table with oop and ip, or bet and raise")
    if not set(given) & {"oop", "ip"}:
        given = {"oop": given, "ip": given}
    for seat in given:
        if seat not in ("oop", "ip"):
            raise ValueError(f"{where}.{seat}: unknown key; accepted: oop, ip (or bet, raise for both)")
    pair = []
    for seat in ("oop", "ip"):
        menus = given.get(seat) or {}
        if not isinstance(menus, Mapping):
            raise ValueError(f"{where}.{seat}: {menus!r} is not a table with bet and raise")
        for key in menus:
            if key not in ("bet", "raise"):
                raise ValueError(f"{where}.{seat}.{key}: unknown key; accepted: bet, raise")
        pair.append(menus)
    return pair[0], pair[1]


@one_line_init
@dataclass(frozen=True)
class GameConfig:
    """A no-limit hold'em game; amounts in chips, 100 chips = 1 big blind by convention.

    Seat 0 is the small blind and seat 1 the big blind; heads-up the small blind has the button.

    Attributes
    ----------
    stacks
        Chips of each seat before any forced bet; their number is the number of seats.
    antes
        Ante of each seat. Antes go into the main pot (so a single big-blind ante works too).
    big_blind_ante
        Ante that the big blind pays for the table, besides `antes`. It goes into the main pot too.
    straddle
        Live straddle, to this many chips, of the seat that would act first (0 = none).
    limp
        Whether the big blind may be called before anybody raised.
    raise_sizes
        Preflop menu by raise depth, the last one repeats: ``("2.5", "3x", "2.5x,a")``.
    over_limp_sizes
        Preflop menu of the first raise once somebody limped, in big blinds; empty: that of raise depth 0.
    small_blind_sizes
        Preflop menu of the small blind where everybody before it folded, with three or more seats; empty: that of
        raise depth 0.
    raise_cap
        Bets and raises allowed preflop, 0 = no cap.
    max_flop_players
        Before the flop nobody may call once so many seats are in, 0 = no limit. Later seats fold or raise.
    postflop
        Menus of flop, turn and river.
    postflop_raise_cap
        Raises allowed after a postflop bet on each street, ``None`` = no cap.
    add_allin_threshold, force_allin_threshold, merging_threshold
        As in spot files.
    rake, rake_cap
        Rake is ``min(rake * pot, rake_cap)``.
    no_flop_no_drop
        Take no rake from a pot that ends by a fold before the flop.
    payouts
        Prizes of a tournament from the first place on, in any unit; empty: chips are money. Payoffs are then what
        the chips are worth by the independent chip model, which only `solver.multiway` knows.
    node_limit
        Largest tree that may be built.
    """

    stacks: Stacks = (10_000, 10_000)
    small_blind: Chips = 50
    big_blind: Chips = 100
    antes: Annotated[tuple[Chips, ...], otherwise("is not a list")] = ()
    big_blind_ante: Chips = 0
    straddle: Chips = 0
    limp: Flag = True
    raise_sizes: Annotated[tuple[PreflopMenu, ...], otherwise("is not a list")] = ("2.5", "3x", "2.5x", "a")
    over_limp_sizes: PreflopMenu = ""
    small_blind_sizes: PreflopMenu = ""
    raise_cap: Chips = 4
    max_flop_players: Chips = 0
    postflop: tuple[StreetSizes, ...] = (StreetSizes(),) * 3
    postflop_raise_cap: Chips | None = 1
    add_allin_threshold: Number = 0.0
    force_allin_threshold: Number = 0.15
    merging_threshold: Number = 0.0
    rake: Rake = 0.0
    rake_cap: RakeCap = 0.0
    no_flop_no_drop: Flag = False
    payouts: Annotated[tuple[Prize, ...], otherwise("is not a list")] = ()
    node_limit: Chips = DEFAULT_NODE_LIMIT

    @model_validator(mode="before")
    @classmethod
    def _read_table(cls, given: Any) -> Any:
        """Of a config table: refuse unknown keys, and read the menus that are written as in spot files."""
        if not isinstance(given, Mapping):
            return given
        known = {item.name for item in dataclasses.fields(cls)} | {"bet_sizes", "donk_sizes"}
        for key in given:
            if key not in known:
                accepted = ", ".join(sorted(known - {"postflop"}))
                raise ValueError(f"{key}: unknown key of the game; accepted: {accepted}")
        values = dict(given)
        bets, donks = values.pop("bet_sizes", None), values.pop("donk_sizes", None)
        if donks and bets is None:
            raise ValueError("donk_sizes: given without bet_sizes")
        if bets is not None:
            if "postflop" in values:
                raise ValueError("postflop: given beside bet_sizes; accepted: one of them")
            values["postflop"] = street_sizes(bets, donks)
        return values

    @field_validator("antes", mode="before")
    @classmethod
    def _ante_of_every_seat(cls, antes: Any, info: ValidationInfo) -> Any:
        return (antes,) * len(info.data.get("stacks", ())) if isinstance(antes, int) else antes

    def __post_init__(self) -> None:
        if not self.antes:
            object.__setattr__(self, "antes", (0,) * len(self.stacks))
        self._validate()

    @property
    def num_seats(self) -> int:
        """Number of seats."""
        return len(self.stacks)

    @property
    def posted_antes(self) -> tuple[int, ...]:
        """What each seat pays before the blinds: its ante, and the big blind's ante for the table."""
        antes = list(self.antes)
        antes[1] += self.big_blind_ante
        return tuple(antes)

    @property
    def blind_unit(self) -> int:
        """The largest forced bet, the unit of preflop opening sizes."""
        return max(self.big_blind, self.straddle)

    @property
    def _other_first_raises(self) -> dict[str, str]:
        """Menus of the first raise that are given besides `raise_sizes`, by key."""
        keys = ("over_limp_sizes", "small_blind_sizes")
        return {key: getattr(self, key) for key in keys if getattr(self, key)}

    def _validate(self) -> None:
        seats = self.num_seats
        if not 2 <= seats <= MAX_SEATS:
            raise ValueError(f"stacks: {seats} seats; accepted: 2 to {MAX_SEATS}")
        if not 0 < self.big_blind >= self.small_blind:
            raise ValueError(
                f"big_blind: {self.big_blind} is not positive and at least the small blind {self.small_blind}"
            )
        if self.straddle and self.straddle < 2 * self.big_blind:
            raise ValueError(f"straddle: {self.straddle} is below two big blinds ({2 * self.big_blind})")
        if len(self.antes) != seats:
            accepted = "one number for all, or one for each seat of stacks"
            raise ValueError(f"antes: {len(self.antes)} values for {seats} seats; accepted: {accepted}")
        for seat, (stack, ante) in enumerate(zip(self.stacks, self.posted_antes)):
            if stack <= ante:
                raise ValueError(f"stacks[{seat}]: {stack} does not exceed the ante {ante}")
        if self.max_flop_players == 1:
            raise ValueError("max_flop_players: 1 is not accepted: 2 or more, or 0 for no limit")
        self._validate_payouts()
        if not self.raise_sizes:
            raise ValueError("raise_sizes: no menu; give one per raise depth, such as ['2.5', '3x', 'a']")
        for depth, menu in enumerate(self.raise_sizes):
            parse_preflop_menu(menu, depth=depth, blind=self.blind_unit, where=f"raise_sizes[{depth}]")
        for key, menu in self._other_first_raises.items():
            parse_preflop_menu(menu, depth=0, blind=self.blind_unit, where=key)
        if seats == 2 and self.small_blind_sizes:
            raise ValueError(
                "small_blind_sizes: with two seats the small blind is always first in; accepted: raise_sizes"
            )
        if len(self.postflop) != 3:
            raise ValueError(f"postflop: {len(self.postflop)} menus; accepted: 3 (flop, turn, river)")
        for street, sizes in zip(STREETS[FLOP:], self.postflop):
            sizes.validate(f"bet_sizes.{street}")
        Thresholds.of(self.add_allin_threshold, self.force_allin_threshold, self.merging_threshold)

    def _validate_payouts(self) -> None:
        payouts = self.payouts
        if not payouts:
            return
        if self.num_seats == 2:
            raise ValueError("payouts: two seats play for one prize, so chips are money; accepted: none")
        if len(payouts) > self.num_seats:
            raise ValueError(
                f"payouts: {len(payouts)} prizes for {self.num_seats} seats; accepted: one for each place at most"
            )
        if any(low > high for high, low in pairwise(payouts)):
            raise ValueError(f"payouts: {list(payouts)} rise; accepted: prizes from the first place down")
        if sum(payouts) == 0:
            raise ValueError("payouts: all prizes are 0; accepted: at least one above 0")
        if self.rake:
            raise ValueError("payouts: a tournament takes no rake from a pot; accepted: rake 0 or no payouts")

    def check_minimum_raises(self) -> None:
        """Refuse a preflop size below the minimum raise, which the tree would lift to it.

        For configuration files, where such a size is a slip of the pen.
        """
        levels = {(self.blind_unit, self.blind_unit)}  # (bet level, smallest legal increment) at each depth
        for depth, text in enumerate(self.raise_sizes):
            reached = self._reached(text, depth, f"raise_sizes[{depth}]", levels)
            if depth == 0:
                for key, menu in self._other_first_raises.items():
                    reached |= self._reached(menu, 0, key, levels)
            levels = reached

    def _reached(
        self, text: str, depth: int, where: str, levels: set[tuple[int, int]]
    ) -> set[tuple[int, int]]:
        reached = set()
        for size in parse_preflop_menu(text, depth=depth, blind=self.blind_unit, where=where):
            if size.kind not in (SizeKind.TO, SizeKind.PREVIOUS):
                continue
            for level, increment in levels:
                to = round_chips(size.value * (level if size.kind is SizeKind.PREVIOUS else 1))
                if to - level < increment:
                    raise ValueError(
                        f"{where}: {text!r} raises to {to}; the minimum raise is to {level + increment}"
                    )
                reached.add((to, to - level))
        return reached

    @classmethod
    def from_mapping(cls, table: Mapping[str, Any]) -> GameConfig:
        """Read a config table; ``bet_sizes`` and ``donk_sizes`` are written as in spot files.

        ``stacks`` may be one number for two equal stacks, ``antes`` one number for every seat, and a
        depth of ``raise_sizes``, ``over_limp_sizes`` and ``small_blind_sizes`` a text, a number or a list of either.

        Examples
        --------
        >>> GameConfig.from_mapping({"stacks": 2500, "raise_sizes": [2, "3x", "a"]}).stacks
        (2500, 2500)
        """
        return read(_GAME, table)


_GAME = TypeAdapter(GameConfig)
_CHIPS: TypeAdapter[int] = TypeAdapter(Chips)
_RAKE: TypeAdapter[float] = TypeAdapter(Rake)
_RAKE_CAP: TypeAdapter[float] = TypeAdapter(RakeCap)


def require_chips(key: str, value: Any) -> None:
    """Refuse anything but a whole number of chips >= 0, naming the key."""
    read(_CHIPS, value, key)


def require_rake(rake: float, rake_cap: float) -> None:
    """Refuse a rake rate outside [0, 1) or a negative cap."""
    read(_RAKE, rake, "rake")
    read(_RAKE_CAP, rake_cap, "rake_cap")
