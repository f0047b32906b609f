"""Who may talk to the explorer, and what happens to requests that make no sense."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipelines.explorer.guards import COOKIE, MAX_BODY
from pipelines.explorer.server import create_app
from tests.pipelines.explorer.conftest import Client

BLUEPRINT = "export-global"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8780", "127.0.0.1.evil.example", "0.0.0.0", ""]
)
def test_only_names_of_this_machine_are_answered(client: Client, host: str) -> None:
    answer = client.get("/api/sources", headers={"host": host})
    assert answer.status_code == 403
    assert "is not this server" in answer.json()["detail"]


@pytest.mark.parametrize("host", ["127.0.0.1:8780", "localhost:8780", "localhost", "[::1]:8780"])
def test_all_names_of_this_machine_are(client: Client, host: str) -> None:
    assert client.get("/api/about", headers={"host": host}).status_code == 200


def test_pages_of_other_sites_are_not(client: Client) -> None:
    for headers in ({"origin": "http://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}):
        assert client.post("/api/solve", json={}, headers=headers).status_code == 403
        assert client.get("/api/about", headers=headers).status_code == 403
    own = {"origin": "http://127.0.0.1:8780", "sec-fetch-site": "same-origin"}
    assert client.get("/api/about", headers=own).status_code == 200


def test_a_form_of_another_page_cannot_be_sent(client: Client) -> None:
    answer = client.post("/api/solve", content=b"x", headers={"content-type": "text/plain"})
    assert answer.status_code == 415


def test_large_requests_are_refused(client: Client) -> None:
    headers = {"content-type": "application/json"}
    answer = client.post("/api/solve", content=b"x" * (MAX_BODY + 1), headers=headers)
    assert answer.status_code == 413
    answer = client.get("/api/node", params={"source": "x" * 9000})
    assert answer.status_code == 414


def test_beyond_this_machine_a_token_is_needed(store: Path) -> None:
    app = create_app(store, host="192.0.2.7", token="secret-token", workers=1)
    client = Client(app, "http://192.0.2.7:8780")
    for path in ("/", "/api/sources", "/page/main.js"):
        assert client.get(path).status_code == 401
        assert client.get(path, headers={"cookie": f"{COOKIE}=wrong"}).status_code == 401
        assert client.get(path, headers={"cookie": f"{COOKIE}=secret-token"}).status_code == 200
        assert client.get(path, headers={"authorization": "Bearer secret-token"}).status_code == 200
    first = client.get("/", params={"token": "secret-token"})
    assert (first.status_code, first.headers["location"]) == (303, "/")
    assert "HttpOnly" in first.headers["set-cookie"]
    # Its own address only.
    assert (
        client.get("/", headers={"host": "evil.example", "cookie": f"{COOKIE}=secret-token"}).status_code
        == 403
    )


def test_the_page_may_load_nothing_from_elsewhere(client: Client) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    for name in ("index.html", "docs.html", "style.css", "main.js"):
        text = client.get(f"/page/{name}").text
        assert "http://" not in text.replace("http://www.w3.org", "")
        assert "https://" not in text


SECRETS = [
    "../export-global",
    "/etc/passwd",
    "..",
    ".",
    "export-global/",
    "export-global/preflop.arrow",
    "%2e%2e",
    "\x00",
]


@pytest.mark.parametrize("name", [*SECRETS, "textures-global", "nobody:export-global", "always-call:/etc"])
def test_a_source_is_a_name_in_the_store_and_never_a_path(refused: Callable[..., str], name: str) -> None:
    assert "is not in this store" in refused("node", 404, source=name)


@pytest.mark.parametrize(
    "path", ["/page/../server.py", "/page/%2e%2e/server.py", "/page//etc/passwd", "/page/"]
)
def test_no_file_beside_the_page_is_served(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404


def test_a_link_in_the_store_is_no_source(store: Path, exported: Path, ask: Callable[..., Any]) -> None:
    link = store / "export-linked"
    link.symlink_to(exported)
    try:
        assert "export-linked" not in [source["id"] for source in ask("sources")["sources"]]
    finally:
        link.unlink()


BAD = [
    ("node", {}, "source: Field required"),
    ("node", {"source": BLUEPRINT, "line": "b250k"}, "no token at 'k'; accepted: f x c"),
    (
        "node",
        {"source": BLUEPRINT, "line": "b260"},
        "'b260' is not possible after the start; accepted: f c b250",
    ),
    (
        "node",
        {"source": BLUEPRINT, "line": "b260f"},
        "line 'b260f': b260 is not known at ''; accepted: f, c, b250",
    ),
    ("node", {"source": BLUEPRINT, "line": "b250c/x", "board": "QsJh"}, "2 cards"),
    ("node", {"source": BLUEPRINT, "line": "b250c/x", "board": "QsQs2h"}, "twice"),
    ("node", {"source": BLUEPRINT, "line": "b250c/x", "board": "xxyyzz"}, "card"),
    ("node", {"source": BLUEPRINT, "line": "", "board": "QsJh2h"}, "needs 0"),
    ("node", {"source": BLUEPRINT, "line": "x" * 300}, "line: String should have at most 200 characters"),
    ("node", {"source": BLUEPRINT, "seat": "co"}, "seat 'co': accepted are sb, bb"),
    ("node", {"source": BLUEPRINT, "raw": "maybe"}, "raw: Input should be a valid boolean"),
    ("node", {"source": BLUEPRINT, "line": "b250c/x", "board": "AsKsQd"}, "has no buckets"),
    ("combos", {"source": BLUEPRINT, "hand": "AKx"}, "accepted are the 169 classes"),
    ("combos", {"source": BLUEPRINT, "line": "f"}, "nobody acts there"),
    ("compare", {"source": BLUEPRINT, "other": "export-texture", "line": "f"}, "nobody acts"),
    ("report", {"source": BLUEPRINT, "line": "b250"}, "a report needs a line at whose end cards are dealt"),
    ("report", {"source": BLUEPRINT, "line": "b250c", "flops": 0}, "flops: Input should be greater than"),
]


@pytest.mark.parametrize(("path", "parameters", "message"), BAD)
def test_a_bad_question_gets_one_clear_sentence(
    refused: Callable[..., str], path: str, parameters: dict[str, Any], message: str
) -> None:
    assert message in refused(path, 422, **parameters)


def test_what_is_not_there_is_not_found(client: Client) -> None:
    for method, path in (("GET", "/api/nothing"), ("GET", "/nothing"), ("GET", "/api/solve/none")):
        answer = client.request(method, path)
        assert answer.status_code == 404
        assert isinstance(answer.json()["detail"], str)
    assert client.delete("/api/solve/none").status_code == 404
    assert client.delete("/api/node").status_code == 405


def test_a_damaged_bundle_is_listed_with_its_problem(
    store: Path, ask: Callable[..., Any], refused: Callable[..., str]
) -> None:
    import shutil

    folder = store / "export-damaged"
    shutil.copytree(store / BLUEPRINT, folder)
    file = folder / "preflop.arrow"
    file.write_bytes(file.read_bytes()[:-100])
    try:
        about = {source["id"]: source for source in ask("sources")["sources"]}["export-damaged"]
        assert "preflop.arrow" in about["problem"]
        assert "preflop.arrow" in refused("node", 409, source="export-damaged")
    finally:
        shutil.rmtree(folder)
