"""Who may talk to the explorer, and how much: checked before a request is read.

A page of another site must not be able to reach a server on this machine, so the names that a browser asks for and the
page that asks are both checked. Beyond this machine, a token is needed.
"""

from __future__ import annotations

import ipaddress
import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

#: Bytes of a request's body and of its address.
MAX_BODY, MAX_ADDRESS = 64 << 10, 8 << 10
COOKIE = "explorer_token"
_HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        b"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-cache"),
]


def is_loopback(host: str) -> bool:
    """Whether a name or address can be reached from this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Guard:
    """Middleware that refuses requests before the application sees them.

    Parameters
    ----------
    host
        What the server is bound to. Bound to loopback, only names of this machine are answered and no token is
        needed. Bound to one address, only that one is; bound to all (``0.0.0.0``), any.
    token
        What a request must bring, as a cookie, as ``?token=`` or as ``Authorization: Bearer``.
    """

    def __init__(self, app: App, *, host: str = "127.0.0.1", token: str | None = None) -> None:
        self.app, self.host, self.token = app, host.strip("[]"), token

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _answer(send, *refusal)
            return
        if self.token is not None and "token" in parse_qs(scope["query_string"].decode("latin-1")):
            # The token moves into a cookie, so that it does not stay in the address.
            cookie = f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/"
            place = [
                (b"location", scope["path"].encode("latin-1", "replace")),
                (b"set-cookie", cookie.encode()),
            ]
            await _answer(send, 303, "see the address without its token", place)
            return
        await self.app(scope, _bounded(receive), _with_headers(send))

    def _refusal(self, scope: Message, headers: dict[str, str]) -> tuple[int, str] | None:
        if len(scope.get("raw_path") or scope["path"]) + len(scope["query_string"]) > MAX_ADDRESS:
            return 414, f"the address is longer than {MAX_ADDRESS} bytes"
        host = headers.get("host", "")
        if not self._is_known(host):
            return 403, f"host {host[:80]!r} is not this server; open it by the address that it printed"
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return 403, f"requests from {origin[:80]!r} are not answered; only pages of this server may ask"
        if headers.get("sec-fetch-site") == "cross-site":
            return 403, "requests of other sites are not answered; open the page itself"
        if not self._has_token(scope, headers):
            return 401, "a token is needed: open the address that the server printed when it started"
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MAX_BODY:
            return 413, f"the body is larger than {MAX_BODY} bytes"
        if scope["method"] in ("POST", "PUT", "PATCH"):
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                return 415, f"content type {kind[:40]!r}: accepted is application/json"
        return None

    def _is_known(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if is_loopback(self.host):
            return is_loopback(name)
        return self.host in ("0.0.0.0", "::") or name == self.host.lower()

    def _has_token(self, scope: Message, headers: dict[str, str]) -> bool:
        if self.token is None:
            return True
        offered = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        offered.append(headers.get("authorization", "").removeprefix("Bearer "))
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            cookie = None
        if cookie is not None:
            offered.append(cookie.value)
        return any(secrets.compare_digest(one.encode(), self.token.encode()) for one in offered)


def _bounded(receive: Receive) -> Receive:
    """Reads a body that may come without a length, up to the limit."""
    seen = 0

    async def bounded() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MAX_BODY:
            # The rest of the body is not read: to the application, the client has gone.
            return {"type": "http.disconnect"}
        return message

    return bounded


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name for name, _ in message["headers"]}
            message["headers"] = [
                *message["headers"],
                *((name, value) for name, value in _HEADERS if name not in given),
            ]
        await send(message)

    return sending


async def _answer(
    send: Send, status: int, detail: str, headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    body = json.dumps({"detail": detail}).encode()
    start = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send(
        {"type": "http.response.start", "status": status, "headers": start + _HEADERS + (headers or [])}
    )
    await send({"type": "http.response.body", "body": body})
