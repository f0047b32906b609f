"""`poker-solver explore`, as a person starts and ends it."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.whole


def start(*words: str) -> tuple[subprocess.Popen[str], str]:
    """The server, and the address that it prints."""
    command = [sys.executable, "-m", "pipelines.poker_solver", "explore", "--no-open", "--port", "0", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://\S+", line)
    assert found is not None, line
    return process, found[0]


def get(address: str, **headers: str) -> Any:
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60) as answer:
        return json.load(answer)


def test_it_serves_the_store_until_ctrl_c(exported: Path, tmp_path: Path) -> None:
    shutil.copytree(exported, tmp_path / "store" / exported.name)
    process, address = start("--store", str(tmp_path / "store"))
    try:
        listed = get(address + "api/sources")
        assert (listed["store"], listed["sources"][0]["id"]) == ("store", exported.name)
    finally:
        process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert "Traceback" not in process.stderr.read()  # type: ignore[union-attr]


def test_a_named_bundle_comes_first_and_another_address_needs_the_token(exported: Path) -> None:
    process, address = start(str(exported), "--host", "0.0.0.0")
    try:
        plain, token = address.split("?token=")
        with pytest.raises(urllib.error.HTTPError, match="401"):
            get(plain + "api/sources")
        listed = get(plain + "api/sources", Authorization=f"Bearer {token}")
        assert listed["sources"][0]["id"] == exported.name
    finally:
        process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 130
