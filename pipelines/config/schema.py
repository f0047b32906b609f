"""The typed schema of `conf/`: every key, range and combination, checked before any work starts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pipelines.config.training import PhaseConfig, SolverConfig
from pipelines.run.errors import UserError
from solver.betting.game import GameConfig
from solver.betting.lines import FLOP, STREETS
from solver.validation import one_line, rejection

#: Chips of the big blind in every configuration.
BIG_BLIND = 100
#: On the river `ehs` is the equity alone, and fewer than 2,000 equities occur.
EHS_RIVER_BUCKETS = 1900


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Game(_Section):
    """A name, and the keys of `solver.betting.game.GameConfig`, which checks them."""

    model_config = ConfigDict(extra="allow")

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$")]

    @model_validator(mode="after")
    def _playable(self) -> Game:
        """Refuse what the solver would play, but nobody wants: most likely a slip of the pen."""
        game = self.game_config()
        if game.big_blind != BIG_BLIND:
            raise rejection("big_blind", game.big_blind, f"{BIG_BLIND}")
        game.check_minimum_raises()
        for seat, (stack, ante) in enumerate(zip(game.stacks, game.antes)):
            if stack <= BIG_BLIND + ante:
                accepted = f"more than ante and big blind, {BIG_BLIND + ante}"
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
        # This key came later. Left out while it is off, it leaves the ids of earlier runs as they were.
        if not game.no_flop_no_drop:
            keys.pop("no_flop_no_drop", None)
        digest = hashlib.sha256(json.dumps(keys, separators=(",", ":")).encode())
        return f"{self.name}-{digest.hexdigest()[:6]}"


class Buckets(_Section):
    """Hand buckets per street."""

    flop: Annotated[int, Field(ge=1, le=65_000)]
    turn: Annotated[int, Field(ge=1, le=65_000)]
    river: Annotated[int, Field(ge=1, le=65_000)]


class Abstraction(_Section):
    """Board and hand abstraction."""

    features: Literal["ehs", "emd"]
    scope: Literal["global", "texture"]
    boards: Literal["all", "medoids"]
    textures: Annotated[int, Field(ge=1, le=1755)]
    turn_transitions: Annotated[int, Field(ge=1, le=49)] | Literal["all"]
    river_transitions: Annotated[int, Field(ge=1, le=48)] | Literal["all"]
    buckets: Buckets
    histogram_bins: Annotated[int, Field(ge=2, le=990)]
    ochs_clusters: Annotated[int, Field(ge=1, le=169)]
    sample: Annotated[int, Field(ge=1000)]

    @model_validator(mode="after")
    def _enough_points(self) -> Abstraction:
        for street in STREETS[FLOP:]:
            count = getattr(self.buckets, street)
            if count > self.sample:
                raise rejection(f"buckets.{street}", count, f"at most abstraction.sample, {self.sample}")
        if self.features == "ehs" and self.buckets.river > EHS_RIVER_BUCKETS:
            accepted = f"at most {EHS_RIVER_BUCKETS} with features=ehs: river equity has no more values"
            raise rejection("buckets.river", self.buckets.river, accepted)
        return self


Tier = Literal["small", "full", "huge"]


class Evaluate(_Section):
    """Tiers of boards over which exploitability is measured."""

    checkpoint_tier: Tier
    final_tier: Tier
    street_tier: Tier
    medoids: bool
    reach_rule: Literal["max", "total"]


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
        if self.kind == "ray" and not self.address:
            raise rejection("address", self.address, "the address of a Ray cluster, or auto")
        if self.kind != "ray" and self.address:
            raise rejection("address", self.address, "null unless cluster=ray")
        return self


class Tracking(_Section):
    """Where runs are recorded."""

    uri: Annotated[str, Field(pattern=r"^(sqlite|file|https?|postgresql|mysql|mssql|databricks)\b.*")]
    artifacts: str | None
    experiment: Annotated[str, Field(min_length=1)]


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
    evaluate: Evaluate
    cluster: Cluster
    tracking: Tracking
    store: StoreSection

    @model_validator(mode="after")
    def _boards_have_buckets(self) -> Config:
        if self.solver.boards == "members" and self.abstraction.boards == "medoids":
            raise rejection("abstraction.boards", "medoids", "all, unless solver.boards=medoids")
        return self


def check(data: Mapping[str, Any]) -> Config:
    """Turn a resolved config into a `Config`, or raise a `UserError` of one line per the first problem."""
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        raise UserError(one_line(error)) from None
