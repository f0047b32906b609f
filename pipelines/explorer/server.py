"""The server of the explorer: one route for each question, each a call.

Endpoints compose what bundles and solvers return. Readers of bundles share scratch memory, so questions are answered
one at a time; solves run beside them.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, StreamingResponse
from fastapi.staticfiles import StaticFiles

from abstractions.cards import NUM_COMBOS, parse_board
from abstractions.equity import combo_equities
from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.blueprint.known_boards import draw_board
from artifacts.bundle_store import BundleStore
from artifacts.errors import BundleError
from pipelines.config.named_games import named_games
from pipelines.explorer import models
from pipelines.explorer.catalogue import Catalogue
from pipelines.explorer.guards import Guard
from pipelines.explorer.hands import Tables
from pipelines.explorer.models import MAX_BOARD, MAX_LINE, MAX_SOURCE
from pipelines.explorer.positions import Positions
from pipelines.explorer.refusals import Refusal
from pipelines.explorer.reports import MAX_FLOPS, card_report
from pipelines.explorer.runs import recorded, source_trace
from pipelines.explorer.solves import SolveQueue
from pipelines.explorer.views import Views
from pipelines.run.code_version import code_version
from solver.blueprint.continuation import Continuations
from solver.subgame.config import SAFETIES
from solver.subgame.hand_solver import solve_street

PAGE = Path(__file__).parent / "page"

SourceName = Annotated[str, Query(min_length=1, max_length=MAX_SOURCE, description="id of a source")]
Line = Annotated[str, Query(max_length=MAX_LINE, description="the hand so far: b250c/xb300")]
Board = Annotated[str, Query(max_length=MAX_BOARD, description="public cards as dealt: QsJh2h")]
Seat = Annotated[str, Query(max_length=8, description="whose hands to show; the seat to act if left out")]
Raw = Annotated[bool, Query(description="the strategy as trained, off-path hands and all")]
Values = Annotated[bool, Query(description="say what hands win, which takes longer after the flop")]


def create_app(
    store: Path,
    given: Path | None = None,
    *,
    host: str = "127.0.0.1",
    token: str | None = None,
    workers: int | None = None,
) -> FastAPI:
    """The application on a store.

    Parameters
    ----------
    given
        A bundle that is shown first, wherever it lies.
    host, token
        What the server is bound to, and the token that requests need, see `pipelines.explorer.guards.Guard`.
    workers
        Solves that run at a time.
    """
    catalogue = Catalogue(BundleStore(store), given)
    positions = Positions(catalogue)
    views, tables = Views(positions), Tables(catalogue)
    solves = SolveQueue(catalogue, workers=workers, keep=os.access(store, os.W_OK))

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        # Kernels are loaded while the browser opens, so that the first question does not wait for them.
        threading.Thread(target=_warm_up, args=(catalogue, views), daemon=True).start()
        yield
        solves.close()

    app = FastAPI(
        title="Explorer",
        description="Strategies of a store: see, walk and solve.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=life,
        responses={"4XX": {"model": models.Problem}, 422: {"model": models.Problem}},
    )
    app.add_middleware(Guard, host=host, token=token)
    _add_refusals(app)
    app.state.solves = solves

    @app.get("/api/about", tags=["sources"])
    def about() -> models.AboutModel:
        """What this server offers."""
        asked = models.SubgameRequest(source="x", line="", board="")
        return models.AboutModel(
            games=[name for name, game in named_games().items() if game.num_seats == 2],
            safeties=list(SAFETIES),
            sizes=asked.sizes,
            raises=asked.raises,
            memory_limit=solves.memory_limit,
            workers=solves.workers,
            write=solves.keep,
        )

    @app.get("/api/sources", tags=["sources"])
    def sources() -> models.SourceList:
        """Everything that can be shown: blueprints, preflop solves, saved spots, subgames, agents."""
        return models.SourceList(sources=catalogue.sources(), store=store.name)

    @app.get("/api/node", tags=["strategy"])
    def node(
        source: SourceName,
        line: Line = "",
        board: Board = "",
        seat: Seat = "",
        raw: Raw = False,
        values: Values = True,
    ) -> models.NodeModel:
        """A line on a board: who acts, the actions, and the grid of 169 hands."""
        with catalogue.using(source):
            return views.node(source, line, parse_board(board), seat=seat, raw=raw, values=values)

    @app.get("/api/compare", tags=["strategy"])
    def compare(
        source: SourceName,
        other: SourceName,
        line: Line = "",
        board: Board = "",
        raw: Raw = False,
        values: Values = False,
    ) -> models.CompareModel:
        """Two sources at one line, with the distance of their strategies by hand."""
        with catalogue.using(source):
            return views.compare(source, other, line, parse_board(board), raw=raw, values=values)

    @app.get("/api/combos", tags=["strategy"])
    def combos(
        source: SourceName,
        line: Line = "",
        board: Board = "",
        hand: Annotated[str, Query(max_length=3, description="one cell of the grid: AKs")] = "",
        raw: Raw = False,
        values: Values = True,
    ) -> models.CombosModel:
        """The combos of a decision, with what they have made and draw to, and the range by these."""
        with catalogue.using(source):
            return views.combos(source, line, parse_board(board), hand=hand, raw=raw, values=values)

    @app.get("/api/distribution", tags=["strategy"])
    def distribution(source: SourceName, line: Line = "", board: Board = "") -> models.DistributionModel:
        """Equity and EV over both ranges at a decision."""
        with catalogue.using(source):
            return views.distribution(source, line, parse_board(board))

    @app.get("/api/report", tags=["strategy"])
    def report(
        source: SourceName,
        line: Line = "",
        board: Board = "",
        flops: Annotated[int, Query(ge=1, le=MAX_FLOPS, description="flops of a report over flops")] = 60,
        solved: Annotated[bool, Query(description="only boards that were solved, as solved")] = False,
    ) -> models.ReportModel:
        """How the next decision is played over the cards to come."""
        return card_report(positions, source, line, parse_board(board), flops=flops, solved=solved)

    @app.get("/api/trace", tags=["runs"])
    def trace(source: SourceName) -> models.TraceModel:
        """The exploitability of a source while it was made."""
        with catalogue.using(source) as opened:
            return source_trace(opened)

    @app.get("/api/runs", tags=["runs"])
    def runs() -> models.RunsModel:
        """The recorded runs of the store: exploitability and core-hours."""
        return recorded(store)

    @app.post("/api/solve", tags=["solve"], status_code=202)
    def solve(request: models.SolveRequest) -> models.SolveModel:
        """Solve a street again, or a game before the flop; what was solved before is done at once."""
        return solves.submit(request)

    @app.post("/api/forecast", tags=["solve"])
    def forecast(request: models.SubgameRequest) -> models.ForecastModel:
        """What a solve would take in memory, and whether it is kept already."""
        return solves.forecast(request)

    @app.get("/api/solves", tags=["solve"])
    def all_solves() -> models.SolveList:
        """The solves of this server, the newest first."""
        return models.SolveList(solves=solves.all())

    @app.get("/api/solve/{name}", tags=["solve"])
    def solve_state(name: str, grid: bool = False) -> models.SolveModel:
        """Where a solve stands; with `grid`, the strategy so far."""
        return solves.get(name, grid=grid)

    @app.get(
        "/api/solve/{name}/events",
        tags=["solve"],
        response_class=StreamingResponse,
        responses={200: {"content": {"text/event-stream": {}}}},
    )
    async def solve_events(name: str) -> StreamingResponse:
        """The state of a solve whenever it changes, as server-sent events, until it has ended."""
        solves.get(name)

        async def events() -> AsyncIterator[str]:
            async for model in solves.events(name):
                yield f"data: {model.model_dump_json()}\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    @app.delete("/api/solve/{name}", tags=["solve"])
    def cancel(name: str) -> models.SolveModel:
        """Cancel a solve."""
        return solves.cancel(name)

    @app.post("/api/play", tags=["play"], status_code=201)
    def play(request: models.SeatRequest) -> models.TableModel:
        """Open a table against a blueprint."""
        with catalogue.using(request.source):
            return tables.open(request).model()

    @app.get("/api/play/{name}", tags=["play"])
    def table(name: str) -> models.TableModel:
        """The table as the person sees it."""
        found = tables.get(name)
        with found.lock:
            return found.model()

    @app.post("/api/play/{name}/act", tags=["play"])
    def act(name: str, request: models.ActRequest) -> models.TableModel:
        """Take an action; the opponent answers."""
        found = tables.get(name)
        with found.lock, catalogue.using(found.request.source):
            found.act(request.token)
            return found.model()

    @app.post("/api/play/{name}/deal", tags=["play"])
    def deal(name: str, request: models.DealRequest) -> models.TableModel:
        """Deal the next hand."""
        del request
        found = tables.get(name)
        with found.lock, catalogue.using(found.request.source):
            found.next_hand()
            return found.model()

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(PAGE / "index.html")

    @app.get("/api/docs", include_in_schema=False)
    def docs() -> FileResponse:
        return FileResponse(PAGE / "docs.html")

    app.mount("/page", StaticFiles(directory=PAGE), name="page")
    return app


def _warm_up(catalogue: Catalogue, views: Views) -> None:
    """Answer the first question that the page will ask, then load what the first flop needs."""
    # A store without a source, or with a damaged one, is told to the page when it asks.
    with suppress(Refusal, BundleError, ValueError, OSError):
        for source in catalogue.sources()[:1]:
            with catalogue.using(source.id) as opened:
                views.node(source.id, "", parse_board(source.board or ""), raw=False, values=True)
            if isinstance(opened, BlueprintBundle):
                # These share no scratch memory with the questions, which go on meanwhile.
                board, everybody = draw_board(opened, np.random.default_rng(0)), np.ones(NUM_COMBOS)
                opened.postflop(opened.lines("flop")[0], board[:3])
                combo_equities(everybody, board[:3])
                river = opened.lines("river")[0]
                Continuations(opened.blueprint).action_values(river, board, (everybody, everybody))
                # Solves are kept by it; it is read from the source once.
                code_version(solve_street)
    # What is loaded by now stays. Not looking through it again spares a question now and then a tenth of a second.
    gc.collect()
    gc.freeze()


def _add_refusals(app: FastAPI) -> None:
    """Every mistake is one sentence under `detail`."""

    @app.exception_handler(Refusal)
    def refused(_: Request, error: Refusal) -> JSONResponse:
        return _problem(error.status, str(error))

    @app.exception_handler(RequestValidationError)
    def not_valid(_: Request, error: RequestValidationError) -> JSONResponse:
        return _problem(422, validation_sentence(error.errors()))

    @app.exception_handler(ValueError)
    def not_accepted(_: Request, error: ValueError) -> JSONResponse:
        # The library raises it about its input, in one line.
        return _problem(422, str(error))

    @app.exception_handler(BundleError)
    def damaged(_: Request, error: BundleError) -> JSONResponse:
        return _problem(409, str(error))

    @app.exception_handler(400)
    @app.exception_handler(404)
    @app.exception_handler(405)
    def unknown(request: Request, error: HTTPException) -> JSONResponse:
        sentence = (
            f"{request.method} {request.url.path[:80]}: {str(error.detail).lower()}; see /api/openapi.json"
        )
        return _problem(error.status_code, sentence)


def validation_sentence(errors: Any) -> str:
    """The first thing that is wrong with a request.

    >>> validation_sentence([{"loc": ("query", "line"), "msg": "String should have at most 200 characters"}])
    'line: String should have at most 200 characters'
    """
    first = errors[0]
    where = ".".join(str(part) for part in first["loc"][1:] if part != "subgame")
    message = str(first["msg"]).removeprefix("Value error, ")
    return f"{where}: {message}" if where else message


def _problem(status: int, detail: str) -> JSONResponse:
    return JSONResponse({"detail": " ".join(detail.splitlines())}, status_code=status)
