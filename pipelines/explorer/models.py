"""What the endpoints take and give, as the OpenAPI schema describes it.

Probabilities and reach are from 0 to 1. EVs are in big blinds, as `ev_meaning` says; null where they are not known.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pipelines.commands.lock_tables import MAX_LINE, MAX_LOCKS, MAX_SOURCE, Lock
from solver.subgame.config import SAFETIES

#: Bounds of requests.
MAX_BOARD, MAX_SIZES = 10, 60
MAX_ITERATIONS, MAX_SECONDS, MAX_THREADS = 100_000, 600.0, 64

Line = Annotated[str, Field(max_length=MAX_LINE, description="the hand so far: b250c/xb300")]
Board = Annotated[str, Field(max_length=MAX_BOARD, description="public cards as dealt: QsJh2h")]
SourceName = Annotated[str, Field(min_length=1, max_length=MAX_SOURCE, description="id of a source")]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Strict(BaseModel):
    """A request body: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """Why a request was refused."""

    detail: str


class SourceKind(StrEnum):
    """Where a strategy comes from."""

    BLUEPRINT = "blueprint"
    PREFLOP = "preflop"
    SUBGAME = "subgame"
    SPOT = "spot"
    AGENT = "agent"


class SourceModel(BaseModel):
    """A strategy that can be shown."""

    id: str
    kind: SourceKind
    title: str
    game: str | None = None
    seats: list[str] = []
    exploitability_mbb: float | None = None
    exploitability_pct: float | None = None
    tier: str | None = None
    preset: str | None = None
    line: str | None = Field(default=None, description="of a subgame: the line that was solved")
    board: str | None = Field(default=None, description="of a spot or a subgame: its public cards")
    blueprint: str | None = Field(
        default=None, description="of a subgame or an agent: the blueprint below it"
    )
    locked: list[str] = Field(default=[], description="of a subgame: lines whose strategy was given")
    iterations: int | None = None
    problem: str | None = Field(default=None, description="why the bundle cannot be read")


class SourceList(BaseModel):
    """All sources of the store; the first one is shown by default."""

    sources: list[SourceModel]
    store: str


class ActionModel(BaseModel):
    """An action on offer."""

    label: str
    token: str
    to: int | None = Field(default=None, description="street total in chips, of a bet or raise")
    frequency: float | None = Field(default=None, description="how often it is taken when the line is played")
    next: str = Field(description="the line once it is taken")
    leads_to: Literal["decision", "deal", "end"]


class SeatModel(BaseModel):
    """A seat at a line."""

    name: str
    stack: int = Field(description="chips behind")
    committed: int = Field(description="chips put in since the start of the hand")
    folded: bool
    acts: bool


class StepModel(BaseModel):
    """A decision on the way, with the action that the line takes there."""

    line: str
    board: str
    street: str
    seat: str
    pot: int
    taken: int
    actions: list[ActionModel]
    answered_by: str | None = Field(default=None, description="the source that tells the step; null for none")


class CellModel(BaseModel):
    """A hand class of the 13 x 13 grid; `strategy` has an entry for each action."""

    hand: str
    strategy: list[float]
    reach: float
    ev: float | None = None
    equity: float | None = None
    realisation: float | None = None
    reason: str | None = Field(default=None, description="why the hand is off-path")
    combos: int = Field(description="combos that the board leaves")


class NodeModel(BaseModel):
    """A line of a source on a board: a decision, one that must be solved first, cards to deal, or the end."""

    source: str
    answered_by: str = Field(description="the source that the strategy is of")
    kind: Literal["decision", "unsolved", "deal", "end"]
    line: str
    board: str
    street: str
    note: str | None = None
    seat: str | None = Field(default=None, description="who acts")
    viewing: str | None = Field(default=None, description="whose hands the grid shows")
    seats: list[SeatModel]
    pot: int
    big_blind: int
    cards_needed: int = 0
    known_boards: list[str] | None = Field(
        default=None, description="of cards to deal: boards that the source knows; null for any"
    )
    actions: list[ActionModel] = []
    ev: float | None = Field(default=None, description="mean EV of the range shown")
    equity: float | None = Field(default=None, description="mean equity of the range shown")
    ev_meaning: str | None = None
    raw: bool = False
    grid: list[CellModel] = []
    reasons: dict[str, str] = Field(default={}, description="what each reason in the grid says")
    history: list[StepModel] = []
    can_solve: bool = Field(default=False, description="whether POST /api/solve takes this line")
    goes_on: bool = Field(
        default=False,
        description="of an unsolved street: POST /api/solve of kind `next_street` solves it as it is",
    )


class CompareModel(BaseModel):
    """Two sources at one line: the distance is the total variation, by hand in grid order."""

    first: NodeModel
    second: NodeModel
    distance: list[float | None]
    mean: float | None = Field(description="mean distance over the hands that get there")
    by: Literal["action", "kind"] = Field(description="kind: fold, call or raise, where the actions differ")


class ComboModel(BaseModel):
    """A combo at a decision."""

    combo: str
    hand: str
    made: str | None = None
    draw: str | None = None
    strategy: list[float]
    reach: float
    ev: float | None = None
    action_ev: list[float | None] | None = None
    equity: float | None = None
    realisation: float | None = None
    reason: str | None = None


class CategoryModel(BaseModel):
    """A part of the range and how it plays."""

    name: str
    share: float
    strategy: list[float]


class CombosModel(BaseModel):
    """The combos of a decision, or of one cell of its grid."""

    seat: str
    actions: list[str]
    combos: list[ComboModel]
    made: list[CategoryModel]
    draws: list[CategoryModel]
    range: str = Field(description="the range as text")
    ev_meaning: str | None = None


class CurveModel(BaseModel):
    """Values of a range from its best hands to its worst, at shares of the range."""

    seat: str
    shares: list[float]
    values: list[float]


class DistributionModel(BaseModel):
    """How equity and EV are spread over the ranges at a line."""

    equity: list[CurveModel]
    ev: list[CurveModel]
    ev_meaning: str | None = None


class TracePoint(BaseModel):
    """A measurement during training or solving."""

    phase: str
    iteration: int
    exploitability: float


class TraceModel(BaseModel):
    """The exploitability of a source while it was made."""

    unit: str
    points: list[TracePoint]


class RunModel(BaseModel):
    """A recorded run."""

    run: str
    preset: str
    game: str
    tier: str
    exploitability_mbb: float | None
    core_hours: float | None
    bundle: str


class RunsModel(BaseModel):
    """The recorded runs; `note` says why there are none."""

    runs: list[RunModel]
    note: str | None = None


class ReportRow(BaseModel):
    """A board of a report: how the player to act plays there."""

    board: str
    cards: str = Field(description="the cards that the report is over")
    weight: float = Field(description="how often it is dealt, relative to the others")
    seat: str
    frequencies: list[float]
    equity: float | None
    ev: float | None
    source: str | None = Field(default=None, description="the solve that the row is of")


class ReportModel(BaseModel):
    """How a line plays over the cards to come."""

    over: Literal["flop", "turn", "river"]
    line: str
    actions: list[str]
    rows: list[ReportRow]
    missing: int = Field(default=0, description="boards without an answer")
    mean: list[float] = Field(default=[], description="frequencies over all rows by weight")
    ev_meaning: str | None = Field(default=None, description="what the EVs of the rows count")


class SubgameRequest(Strict):
    """Solve the street of a line again, on top of a blueprint."""

    kind: Literal["subgame"] = "subgame"
    source: SourceName
    line: Line
    board: Board
    depth: Literal["quick", "deep"] = "quick"
    safety: Literal[SAFETIES] = "unsafe"  # type: ignore[valid-type]
    sizes: Annotated[str, Field(max_length=MAX_SIZES)] = "33%,75%,150%,a"
    raises: Annotated[str, Field(max_length=MAX_SIZES)] = "2.5x,a"
    iterations: Annotated[int, Field(ge=1, le=MAX_ITERATIONS)] = 300
    seconds: Annotated[float, Field(gt=0.0, le=MAX_SECONDS)] | None = None
    target_pct: Annotated[float, Field(gt=0.0, le=100.0)] | None = None
    locks: Annotated[list[Lock], Field(max_length=MAX_LOCKS)] = []


class NextStreetRequest(Strict):
    """Go on with a solve to the river on the cards that came: with its sizes, from the ranges that it left."""

    kind: Literal["next_street"]
    source: SourceName
    line: Line
    board: Board


class PreflopRequest(Strict):
    """Solve a game before the flop."""

    kind: Literal["preflop"]
    game: Annotated[str, Field(max_length=40)]
    iterations: Annotated[int, Field(ge=1, le=MAX_ITERATIONS)] = 5000
    target_mbb: Annotated[float, Field(ge=0.0, le=1000.0)] = 0.1


SolveRequest = Annotated[SubgameRequest | NextStreetRequest | PreflopRequest, Field(discriminator="kind")]


class SolveState(StrEnum):
    """Where a solve stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


class SolveModel(BaseModel):
    """A solve: its state, and its source once it is done."""

    id: str
    state: SolveState
    title: str
    position: int = Field(default=0, description="solves ahead of it in the queue")
    iteration: int = 0
    iterations: int = Field(description="iterations at most")
    seconds: float = 0.0
    seconds_left: float | None = None
    exploitability: float | None = None
    unit: str = ""
    memory_bytes: int | None = None
    memory_limit: int
    cached: bool = False
    source: str | None = None
    detail: str | None = None
    actions: list[str] = []
    frequencies: list[float] = Field(default=[], description="of the decision that was asked for, so far")
    grid: list[list[float]] | None = Field(default=None, description="its strategy by hand class, so far")


class ForecastModel(BaseModel):
    """What a solve would take, before it is asked for."""

    memory_bytes: int = Field(description="that the solve needs at least")
    memory_limit: int = Field(description="of one solve; more is refused")
    kept: str | None = Field(default=None, description="the source, where it was solved before")


class SolveList(BaseModel):
    """Solves of this server, the newest first."""

    solves: list[SolveModel]


class SeatRequest(Strict):
    """A new table, against a blueprint or an agent."""

    source: SourceName
    opponent: Literal["blueprint", "subgame"] = "blueprint"
    seed: Annotated[int, Field(ge=0, le=2**31)] | None = None


class ActRequest(Strict):
    """An action of the person at the table."""

    token: Annotated[str, Field(max_length=12)]


class DealRequest(Strict):
    """Nothing needs to be said to deal the next hand."""


class ReviewModel(BaseModel):
    """A decision of the person, looked at after the hand."""

    line: str
    board: str
    actions: list[str]
    taken: int
    strategy: list[float]
    ev: list[float | None]
    lost: float | None = Field(description="big blinds that the best action would have won more")


class TableModel(BaseModel):
    """A table at which a person plays."""

    id: str
    source: str
    opponent: str
    hand: int
    seat: str
    cards: str
    opponent_cards: str | None = Field(default=None, description="shown when the hand is over at showdown")
    line: str
    board: str
    pot: int
    big_blind: int
    seats: list[SeatModel]
    actions: list[ActionModel]
    story: list[str]
    over: bool
    won: float | None = Field(default=None, description="big blinds won in this hand")
    review: list[ReviewModel] = []
    hands_played: int
    mean: float | None = Field(default=None, description="big blinds per 100 hands")
    interval: float | None = Field(default=None, description="half width of its 95 % interval")
    lost: float = Field(default=0.0, description="EV lost by decision so far, in big blinds")


class AboutModel(BaseModel):
    """What this server offers."""

    games: list[str]
    safeties: list[str]
    sizes: str
    raises: str
    memory_limit: int
    workers: int
    write: bool = Field(description="whether solves can be kept")
