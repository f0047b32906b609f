"""The typed schema of `conf/`: every key, range and combination, checked before any work starts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pipelines.run.errors import UserError
from solver.betting.game import GameConfig
from solver.betting.lines import FLOP, STREETS

Count = Annotated[int, Field(ge=1)]


#: On the river `ehs` is the equity alone, and fewer than 2,000 equities occur.
EHS_RIVER_BUCKETS = 1900


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _reject(key: str, found: object, accepted: str) -> ValueError:
    """An error about `key`, relative to the section that raises it."""
    return ValueError(f"{key}: {found!r} is not accepted: {accepted}")


# A menu of one size may be a number: game.raise_sizes=[2,3x,a]. `GameConfig.from_mapping` makes text of it.
Menu = str | int | float


class Game(_Section):
    """Stakes, stacks and menus: the keys of `solver.betting.game.GameConfig`, which checks them."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$")]
    stacks: list[int]
    small_blind: int
    big_blind: Literal[100]
    antes: list[int]
    straddle: int
    limp: bool
    raise_sizes: list[Menu]
    over_limp_sizes: Menu
    raise_cap: int
    bet_sizes: dict[str, Any]
    donk_sizes: dict[str, Any]
    postflop_raise_cap: int | None
    add_allin_threshold: float
    force_allin_threshold: float
    merging_threshold: float
    rake: float
    rake_cap: float

    @model_validator(mode="after")
    def _playable(self) -> Game:
        config = self.game_config()
        config.check_minimum_raises()
        for seat, stack in enumerate(config.stacks):
            least = config.big_blind + config.antes[seat]
            if stack <= least:
                raise _reject(f"stacks[{seat}]", stack, f"more than ante and big blind, {least}")
        return self

    def game_config(self) -> GameConfig:
        """The game as the solver takes it; raises ValueError that names the key."""
        return GameConfig.from_mapping(self.model_dump(exclude={"name"}))


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
                raise _reject(f"buckets.{street}", count, f"at most abstraction.sample, {self.sample}")
        if self.features == "ehs" and self.buckets.river > EHS_RIVER_BUCKETS:
            accepted = f"at most {EHS_RIVER_BUCKETS} with features=ehs: river equity has no more values"
            raise _reject("buckets.river", self.buckets.river, accepted)
        return self


class Solver(_Section):
    """The blueprint trainer."""

    showdown: Literal["exact", "bucket"]
    boards: Literal["members", "medoids"]
    batch: Annotated[int, Field(ge=0)]
    epoch_length: Annotated[int, Field(ge=0)]
    pot_types: Literal["per_line", "shared"]
    prune_below: Annotated[float, Field(lt=0)] | None
    checkpoint_minutes: Annotated[float, Field(gt=0)]
    max_core_hours: Annotated[float, Field(gt=0)] | None
    target_exploitability: Annotated[float, Field(gt=0)] | None

    @model_validator(mode="after")
    def _batch(self) -> Solver:
        if self.batch == 0 and self.boards == "members":
            raise _reject("batch", 0, "at least 1; 0, all boards at once, needs solver.boards=medoids")
        return self


class Phase(_Section):
    """One phase of training: a discount schedule run for a number of iterations."""

    iterations: Annotated[int, Field(ge=0, le=100_000_000)]
    # Flooring and predicting schedules lose their meaning when boards are sampled.
    schedule: Literal["vanilla", "lcfr", "dcfr", "dcfr-postflop", "hs-dcfr"]
    # alpha <= 0 silently leaves equilibrium: positive regrets are then forgotten as fast as they come.
    alpha: Annotated[float, Field(gt=0, le=10)] | None
    beta: Annotated[float, Field(ge=-10, le=10)] | None
    gamma: Annotated[float, Field(ge=0, le=20)] | None
    measurements: Count

    @model_validator(mode="after")
    def _exponents(self) -> Phase:
        if self.schedule == "vanilla" and (self.alpha is not None or self.beta is not None):
            raise _reject("alpha", self.alpha, "null with schedule vanilla, which does not discount regrets")
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
            raise _reject("address", self.address, "the address of a Ray cluster, or auto")
        if self.kind != "ray" and self.address:
            raise _reject("address", self.address, "null unless cluster=ray")
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
    solver: Solver
    lcfr: Phase
    dcfr: Phase
    evaluate: Evaluate
    cluster: Cluster
    tracking: Tracking
    store: StoreSection

    @model_validator(mode="after")
    def _boards_have_buckets(self) -> Config:
        if self.solver.boards == "members" and self.abstraction.boards == "medoids":
            raise _reject("abstraction.boards", "medoids", "all, unless solver.boards=medoids")
        return self


def check(data: Mapping[str, Any]) -> Config:
    """Turn a resolved config into a `Config`, or raise a `UserError` of one line per the first problem."""
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        raise UserError(_one_line(error)) from None


def _one_line(error: ValidationError) -> str:
    """`key: value is not accepted: what is accepted`, the first problem only."""
    problems = error.errors(include_url=False)
    first, key = problems[0], _key(problems[0]["loc"])
    if first["type"] == "extra_forbidden":
        return f"{key}: unknown key"
    if first["type"] == "missing":
        return f"{key}: missing"
    if first["type"] == "value_error":  # ours: the message begins with the key below this section
        return f"{key}.{first['msg'].removeprefix('Value error, ')}".lstrip(".")
    # The branches of a union fail one by one, each with its own message about the same key.
    accepted = [
        problem["msg"].removeprefix("Input should be ") for problem in problems if _key(problem["loc"]) == key
    ]
    return f"{key}: {first['input']!r} is not accepted: {' or '.join(accepted)}"


def _key(location: tuple[int | str, ...]) -> str:
    """A pydantic location as a dotted key; the names of union branches in it are left out."""
    key = ""
    for part in location:
        if isinstance(part, int):
            key += f"[{part}]"
        elif re.fullmatch(r"[a-z_][a-z0-9_]*", part) and part not in ("int", "float", "str", "bool"):
            key += f".{part}" if key else part
    return key
