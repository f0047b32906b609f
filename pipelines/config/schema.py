"""The typed schema of `conf/`: every key, range and combination, checked before any work starts."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pipelines.config.machine import largest_object_store_mb
from pipelines.config.tracking_places import check_folders, check_uri
from pipelines.config.training import MultiwayConfig, PhaseConfig, SolverConfig
from pipelines.run.errors import UserError
from solver.betting.game import GameConfig
from solver.validation import one_line, otherwise, rejection

#: Chips of the big blind in every configuration.
BIG_BLIND = 100
#: On the river `ehs` is the equity alone, and fewer than 2,000 equities occur.
EHS_RIVER_BUCKETS = 1900
#: Flops up to renaming of suits.
FLOPS = 1755
#: Hands that a board of each street leaves, and cards that may come next.
HANDS = {"flop": 1176, "turn": 1128, "river": 1081}
TURN_CARDS, RIVER_CARDS = 49, 48


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Game(_Section):
    """A name, and the keys of `solver.betting.game.GameConfig`, which checks them."""

    model_config = ConfigDict(extra="allow")

    name: Annotated[
        str,
        Field(pattern=r"^[A-Za-z0-9_.-]+$"),
        otherwise("is not accepted: a name of letters, digits, '_', '.' and '-'"),
    ]

    @model_validator(mode="after")
    def _playable(self) -> Game:
        """Refuse what the solver would play, but nobody wants: most likely a slip of the pen."""
        game = self.game_config()
        if game.big_blind != BIG_BLIND:
            raise rejection("big_blind", game.big_blind, f"{BIG_BLIND}")
        if game.small_blind == 0:
            raise rejection("small_blind", 0, f"1 to {BIG_BLIND}")
        if game.straddle and game.num_seats == 2:
            raise rejection("straddle", game.straddle, "0 with two seats: both post a blind already")
        game.check_minimum_raises()
        for seat, (stack, ante) in enumerate(zip(game.stacks, game.posted_antes)):
            if stack <= game.blind_unit + ante:
                blind = "straddle" if game.straddle else "big blind"
                accepted = f"more than ante and {blind}, {game.blind_unit + ante}"
                raise rejection(f"stacks[{seat}]", stack, accepted)
        return self

    def game_config(self) -> GameConfig:
        """The game as the solver takes it; raises ValueError that names the key."""
        return GameConfig.from_mapping(self.model_extra or {})

    @property
    def id(self) -> str:
        """The name and a hash of the rest: runs of equal games have equal ids."""
        game = self.game_config()
        keys = self.model_dump()
        # Written as a whole number or not, a rake is the same.
        keys |= {key: getattr(game, key) for key in keys if isinstance(getattr(game, key, None), float)}
        # One ante for all seats is the same as a list of it.
        keys["antes"] = list(game.antes)
        # These keys came later. Left out while they are off, they leave the ids of earlier runs as they were.
        for key in ("no_flop_no_drop", "big_blind_ante", "max_flop_players", "payouts", "small_blind_sizes"):
            if (game.num_seats == 2 and key == "max_flop_players") or not getattr(game, key):
                keys.pop(key, None)
        digest = hashlib.sha256(json.dumps(keys, separators=(",", ":")).encode())
        return f"{self.name}-{digest.hexdigest()[:6]}"


class Buckets(_Section):
    """Hand buckets per street."""

    flop: Annotated[int, Field(ge=1, le=65_000)]
    turn: Annotated[int, Field(ge=1, le=65_000)]
    river: Annotated[int, Field(ge=1, le=65_000)]


class OpponentBuckets(_Section):
    """Hand buckets that opponents see in training; 0: those of the players."""

    flop: Annotated[int, Field(ge=0, le=65_000)]
    turn: Annotated[int, Field(ge=0, le=65_000)]


class Abstraction(_Section):
    """Board and hand abstraction."""

    features: Literal["ehs", "emd"]
    scope: Literal["global", "texture"]
    boards: Literal["all", "medoids"]
    textures: Annotated[int, Field(ge=1, le=FLOPS)]
    turn_transitions: Annotated[int, Field(ge=1, le=TURN_CARDS)] | Literal["all"]
    river_transitions: Annotated[int, Field(ge=1, le=RIVER_CARDS)] | Literal["all"]
    buckets: Buckets
    opponent_buckets: OpponentBuckets
    histogram_bins: Annotated[int, Field(ge=2, le=990)]
    ochs_clusters: Annotated[int, Field(ge=1, le=169)]
    sample: Annotated[int, Field(ge=1000)]

    @model_validator(mode="after")
    def _enough_points(self) -> Abstraction:
        counts = self._counts()
        for key, (_, count) in counts.items():
            if count > self.sample:
                raise rejection(key, count, f"at most abstraction.sample, {self.sample}")
        if self.features == "ehs" and self.buckets.river > EHS_RIVER_BUCKETS:
            accepted = f"at most {EHS_RIVER_BUCKETS} with features=ehs: river equity has no more values"
            raise rejection("buckets.river", self.buckets.river, accepted)
        for key, (street, count) in counts.items():
            boards = self.boards_of_smallest_set(street)
            if count > boards * HANDS[street]:
                found = f"{boards} {street} board{'s' * (boards != 1)}"
                accepted = f"at most {boards * HANDS[street]}, one per hand: this abstraction has {found}"
                where = " for some texture" if self.scope == "texture" else ""
                raise rejection(key, count, accepted + where)
        return self

    def _counts(self) -> dict[str, tuple[str, int]]:
        """By key of the section: a street and a number of buckets there."""
        return {
            f"{part}.{street}": (street, count)
            for part, section in (("buckets", self.buckets), ("opponent_buckets", self.opponent_buckets))
            for street, count in section.model_dump().items()
        }

    @property
    def seen_by_opponents(self) -> tuple[int, int] | None:
        """Buckets of flop and turn that opponents see; None where they are those of the players."""
        own, seen = self.buckets, self.opponent_buckets
        if not (seen.flop or seen.turn):
            return None
        return seen.flop or own.flop, seen.turn or own.turn

    def boards_of_smallest_set(self, street: str) -> int:
        """Boards that share one set of buckets at most, in the smallest set there is.

        Which boards these are is known when textures have been computed; their number has a bound before.
        """
        cards = {"flop": 1, "turn": TURN_CARDS, "river": TURN_CARDS * RIVER_CARDS}[street]
        if self.boards == "medoids":
            turns = TURN_CARDS if self.turn_transitions == "all" else self.turn_transitions
            rivers = RIVER_CARDS if self.river_transitions == "all" else self.river_transitions
            typical = {"flop": 1, "turn": turns, "river": turns * rivers}[street]
            # A typical flop belongs to its own texture, a later board to each that it can follow.
            return 1 if (self.scope, street) == ("texture", "flop") else self.textures * typical
        # The smallest texture has no more flops than the mean one.
        return (FLOPS if self.scope == "global" else FLOPS // self.textures) * cards


Tier = Literal["real", "real_small", "small", "full", "huge"]


class Evaluate(_Section):
    """Tiers of boards over which exploitability is measured, and how exact the EVs before the flop shall be."""

    checkpoint_tier: Tier
    final_tier: Tier
    street_tier: Tier
    medoids: bool
    reach_rule: Literal["max", "total"]
    ev_error: Annotated[float, Field(ge=0.001, le=10)]
    ev_max_boards: Annotated[int, Field(ge=128, le=10_000_000)]


class Cluster(_Section):
    """Where the work runs."""

    kind: Literal["local", "ray", "inprocess"]
    address: str | None
    num_cpus: Annotated[int, Field(ge=1, le=100_000)] | None
    object_store_mb: Annotated[int, Field(ge=80)] | None
    retries: Annotated[int, Field(ge=0, le=1000)]
    in_flight: Annotated[int, Field(ge=1, le=1000)]

    @model_validator(mode="after")
    def _address(self) -> Cluster:
        known = self.address == "auto" or re.fullmatch(r"(ray://)?[^\s:/]+:\d{1,5}", self.address or "")
        if self.kind == "ray" and not known:
            accepted = "the address of a Ray cluster, HOST:PORT or ray://HOST:PORT, or auto"
            raise rejection("address", self.address, accepted)
        if self.kind != "ray" and self.address:
            raise rejection("address", self.address, "null unless cluster=ray")
        return self

    @model_validator(mode="after")
    def _fits_this_machine(self) -> Cluster:
        if self.kind == "ray":  # other machines, and an autoscaler may add more of them
            return self
        cores = os.cpu_count() or 1
        if self.num_cpus is not None and self.num_cpus > cores:
            raise rejection("num_cpus", self.num_cpus, f"1 to {cores}, the cores of this machine, or null")
        if self.object_store_mb is not None and self.object_store_mb > (most := largest_object_store_mb()):
            accepted = f"80 to {most}, the memory that this machine can share, or null"
            raise rejection("object_store_mb", self.object_store_mb, accepted)
        return self


class Tracking(_Section):
    """Where runs are recorded."""

    uri: str
    artifacts: Annotated[str, Field(min_length=1)] | None
    experiment: Annotated[str, Field(pattern=r"\S"), otherwise("is not accepted: the name of an experiment")]

    @model_validator(mode="after")
    def _known_backend(self) -> Tracking:
        check_uri(self.uri)
        return self


class StoreSection(_Section):
    """Where bundles are kept."""

    root: Annotated[str, Field(min_length=1)]


class Config(_Section):
    """The whole configuration."""

    preset: str | None
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    plan: bool
    game: Game
    abstraction: Abstraction
    solver: SolverConfig
    lcfr: PhaseConfig
    dcfr: PhaseConfig
    multiway: MultiwayConfig
    evaluate: Evaluate
    cluster: Cluster
    tracking: Tracking
    store: StoreSection

    @model_validator(mode="after")
    def _boards_have_buckets(self) -> Config:
        if self.solver.boards == "members" and self.abstraction.boards == "medoids":
            raise rejection("abstraction.boards", "medoids", "all, unless solver.boards=medoids")
        return self

    @model_validator(mode="after")
    def _trains_something(self) -> Config:
        if self.lcfr.iterations == self.dcfr.iterations == 0:
            raise rejection("dcfr.iterations", 0, "at least 1, unless lcfr.iterations is")
        return self

    @model_validator(mode="after")
    def _tracking_has_folders(self) -> Config:
        check_folders(self.tracking.uri, self.tracking.artifacts, self.store.root)
        return self


def check(data: Mapping[str, Any]) -> Config:
    """Turn a resolved config into a `Config`, or raise a `UserError` of one line per the first problem."""
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        raise UserError(one_line(error)) from None
