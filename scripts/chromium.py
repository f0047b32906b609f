"""Find a Chromium for the tests of the page and for screenshots: python scripts/chromium.py

The variable CHROMIUM names one; else the first on PATH is taken. As root on Debian or Ubuntu, where none is found, the
distribution's package is installed. No browser is downloaded from elsewhere.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
#: Without graphics, updates and talk to the network.
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
ADVICE = (
    "no Chromium for the tests of the page: install the package chromium, or set CHROMIUM=/path/to/chromium, "
    "or leave them out: make test ARGS='-m \"not deep and not browser\"'"
)


def find_chromium(environment: Mapping[str, str] = os.environ) -> str | None:
    """Path of a Chromium, None if there is none.

    Raises
    ------
    FileNotFoundError
        If the variable names something that cannot be run.
    """
    named = environment.get(VARIABLE)
    if named:
        found = shutil.which(named, path=environment.get("PATH"))
        if found is None:
            raise FileNotFoundError(f"{VARIABLE}={named}: no program; it names a Chromium")
        return found
    return next((path for name in NAMES if (path := shutil.which(name, path=environment.get("PATH")))), None)


def install_chromium() -> None:
    """Install the package of Debian or Ubuntu, where this process may."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    print("installing Debian's package chromium for the tests of the page", flush=True)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False}
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]):
        subprocess.run(["apt-get", *words], env=environment, **quiet)  # type: ignore[call-overload]


def require_chromium() -> str:
    """Path of a Chromium, installed if need be; exits with one line where there is none."""
    try:
        found = find_chromium()
        if found is None:
            install_chromium()
            found = find_chromium()
    except FileNotFoundError as error:
        sys.exit(f"error: {error}")
    if found is None:
        sys.exit(f"error: {ADVICE}")
    return found


if __name__ == "__main__":
    print(f"chromium: {Path(require_chromium())}")
