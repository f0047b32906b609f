"""`poker-solver explore`: the explorer in the browser."""

from __future__ import annotations

import secrets
import socket
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

from pipelines.commands.options import DEFAULT_STORE, Store, open_exported
from pipelines.config.default_store import default_store
from pipelines.run.errors import UserError

#: Where the explorer listens when nobody says where.
HOST, PORT = "127.0.0.1", 8780


def explore(
    bundle: Annotated[Path | None, typer.Argument(help="bundle to show first; left out, the newest")] = None,
    store: Store = DEFAULT_STORE,
    host: Annotated[
        str, typer.Option(help="address to listen on; a token is needed for any but loopback")
    ] = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free port")] = PORT,
    workers: Annotated[
        int | None, typer.Option(min=1, max=256, help="solves at a time; left out, one for each core")
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="do not open a browser")] = False,
) -> None:
    """Explore strategies in the browser: grids on every street, solves, comparisons, and a table to play at.

    The page shows the bundles of the store. Ctrl-C ends the server.

    \b
    Examples:
      poker-solver explore
      poker-solver explore STORE/export-KEY --port 9000 --no-open
      poker-solver explore --store runs/store
    """
    given = None if bundle is None else open_exported(bundle).path.resolve()
    if store is not None:
        root = store
    else:
        root = Path(default_store()) if given is None else given.parent
    if not root.is_dir():
        raise UserError(f"{root}: no such store; make blueprint makes one, --store names another")
    import uvicorn

    from pipelines.explorer.guards import is_loopback
    from pipelines.explorer.server import create_app

    token = None if is_loopback(host) else secrets.token_urlsafe(24)
    listening = _bound(host, port)
    app = create_app(root.resolve(), given, host=host, token=token, workers=workers)
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    number = listening.getsockname()[1]
    name = f"[{shown}]" if ":" in shown else shown
    address = f"http://{name}:{number}/" + (f"?token={token}" if token else "")
    print(f"explorer: {address} (Ctrl-C ends it)", flush=True)
    if not no_open and sys.stdout.isatty():
        import webbrowser

        threading.Timer(0.5, webbrowser.open, (address,)).start()
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=2)
    uvicorn.Server(config).run(sockets=[listening])


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens, or a mistake in one line."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        # Whoever reads the address may ask at once: the question waits until the server is ready.
        listening.listen(128)
    except OSError as error:
        raise UserError(
            f"--port: {host}:{port} cannot be used ({error.strerror or error}); --port 0 takes any free port"
        ) from None
    return listening
