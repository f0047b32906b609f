"""A store with a tiny blueprint, and the explorer on it."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, expect, sync_playwright

from pipelines.explorer.server import create_app
from scripts.chromium import FLAGS, require_chromium

#: The tiny blueprint has buckets for this flop, this turn, and every river of it.
FLOP, TURN, RIVER = "QsJh2h", "QsJh2h8d", "QsJh2h8d3c"
ADDRESS = "http://127.0.0.1:8780"
#: Sizes that make a solve of the tiny game take a moment.
SMALL = {"sizes": "75%", "raises": "a", "iterations": 3}


#: Milliseconds that a page may take: the first question of a kind may load kernels.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def store(export_tiny: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two blueprints of one game; solves are kept in it."""
    root = tmp_path_factory.mktemp("explorer")
    for scope in ("texture", "global"):
        folder = export_tiny(scope=scope)
        shutil.copytree(folder, root / folder.name)
    return root


class Client:
    """Talks to the explorer in this process, without a socket."""

    def __init__(self, app: FastAPI, address: str = ADDRESS) -> None:
        self.app, self.address = app, address

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """One request, and its whole answer."""

        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url=self.address) as client:
                return await client.request(method, path, **options)

        return anyio.run(ask)

    def get(self, path: str, **options: Any) -> httpx.Response:
        """GET."""
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        """POST."""
        return self.request("POST", path, **options)

    def delete(self, path: str, **options: Any) -> httpx.Response:
        """DELETE."""
        return self.request("DELETE", path, **options)


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """The explorer on a port of its own: its address."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=require_chromium(), args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def client(store: Path) -> Iterator[Client]:
    """The explorer on the store, in process."""
    app = create_app(store, workers=1)
    yield Client(app)
    app.state.solves.close()


@pytest.fixture(scope="module")
def ask(client: Client) -> Callable[..., Any]:
    """`ask("node", source=..)`: the answer of an endpoint, which must be good."""

    def question(path: str, **parameters: Any) -> Any:
        answer = client.get(f"/api/{path}", params=parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return question


@pytest.fixture(scope="module")
def refused(client: Client) -> Callable[..., str]:
    """`refused("node", 404, source=..)`: the one sentence of a refusal."""

    def question(path: str, status: int, **parameters: Any) -> str:
        answer = client.get(f"/api/{path}", params=parameters)
        assert answer.status_code == status, answer.text
        (detail,) = answer.json().values()
        assert "\n" not in detail
        return str(detail)

    return question
