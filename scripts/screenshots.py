"""Take the README's pictures of the explorer: python scripts/screenshots.py STORE/export-KEY

A quick solve is run for two of them; it is kept in the folder that --store names.
"""

from __future__ import annotations

import argparse
import re
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import uvicorn
from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from pipelines.explorer.server import create_app
from scripts.chromium import FLAGS, require_chromium

WIDTH, HEIGHT = 1280, 960
#: Colours of a picture: enough for a page, and a third of the size.
COLOURS = 208
#: Milliseconds that a page may take.
PATIENCE = 120_000


def main() -> None:
    """Draw all pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", type=Path, help="an exported blueprint with buckets on every board")
    parser.add_argument("--out", type=Path, default=Path(".github/pictures"))
    parser.add_argument("--store", type=Path, help="where the solve is kept; a temporary folder if left out")
    parser.add_argument("--line", default="b250c/x")
    parser.add_argument("--board", default="QsJh2h")
    parser.add_argument("--iterations", type=int, default=300)
    asked = parser.parse_args()
    bundle = asked.bundle.resolve()
    spot = {"source": bundle.name, "line": asked.line, "board": asked.board}
    with (
        tempfile.TemporaryDirectory() as temporary,
        _served(asked.store or Path(temporary), bundle) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=require_chromium(), args=list(FLAGS))
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        _open(page, address, **spot, hand="KQs")
        page.wait_for_selector(".combos tbody tr", timeout=PATIENCE)
        page.screenshot(path=asked.out / "explorer-grid.png")
        _open(page, address, **spot, tab="solve")
        page.locator("#solve-iterations").fill(str(asked.iterations))
        page.locator("#solve-quick").click()
        # Three digits of iterations: the grid has been drawn from the solve a few times.
        expect(page.locator("#progress dd").first).to_have_text(re.compile(r"^\d{3,} "), timeout=PATIENCE)
        page.screenshot(path=asked.out / "explorer-solve.png")
        page.wait_for_url(re.compile("source=subgame-"), timeout=PATIENCE)
        solved = re.search(r"source=(subgame-\w+)", page.url)
        assert solved is not None
        dark = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="dark")
        _open(dark, address, **spot, other=solved[1], tab="range")
        dark.wait_for_selector(".category", timeout=PATIENCE)
        dark.screenshot(path=asked.out / "explorer-compare.png")
        browser.close()
    for name in ("grid", "solve", "compare"):
        picture = asked.out / f"explorer-{name}.png"
        with Image.open(picture) as drawn:
            drawn.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(picture, optimize=True)
        print(f"written: {picture}")


def _open(page: Page, address: str, **state: str) -> None:
    page.goto(f"{address}/?{urlencode(state)}")
    page.wait_for_selector(".legend-action", timeout=PATIENCE)
    expect(page.locator(".means")).to_contain_text("EV", timeout=PATIENCE)


@contextmanager
def _served(store: Path, bundle: Path) -> Iterator[str]:
    """The explorer on a free port."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(store, bundle), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    main()
