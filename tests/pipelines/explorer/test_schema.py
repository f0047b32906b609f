"""Whatever fits the OpenAPI schema, or nearly fits it, gets an answer or a refusal, never an error of the server."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.explorer.server import create_app
from tests.pipelines.explorer.conftest import Client

BLUEPRINT = "export-global"
#: Values that lead somewhere: from the schema alone hardly any request would name a source.
LIKELY = {
    "source": [BLUEPRINT, "export-texture", f"uniform:{BLUEPRINT}", "../x"],
    "other": [BLUEPRINT, "export-texture", f"always-fold:{BLUEPRINT}"],
    "line": [
        "",
        "b250",
        "b250c",
        "b250c/x",
        "b250c/xx/x",
        "b250c/xx/xx/xA",
        "cx/",
        "f",
        "bc",
        "b99999999999999999999",
    ],
    "board": ["", "QsJh2h", "QsJh2h8d", "QsJh2h8d3c", "2c2c2c", "AsKs"],
    "hand": ["AA", "AKs", "72o"],
    "seat": ["sb", "bb"],
    "token": ["f", "c", "x", "A", "b250"],
    "sizes": ["75%", "a", "33%,75%,a", "0%", "1e99%"],
    "raises": ["a", "2.5x", "0x"],
    "hands": ["AA", "22+", "AhKh", "all"],
    "game": ["hu25", "six_max100"],
}


def values(schema: dict[str, Any], name: str, components: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of a schema, and values that lie just outside it."""
    if "$ref" in schema:
        schema = components[schema["$ref"].rpartition("/")[2]]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return st.one_of([values(option, name, components) for option in schema[key]])
    kind = schema.get("type")
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"]) | st.text(max_size=5)
    if kind == "string":
        free = st.text(max_size=schema.get("maxLength", 30) + 2)
        return st.sampled_from(LIKELY[name]) | free if name in LIKELY else free
    if kind == "integer":
        low, high = schema.get("minimum", -10), schema.get("maximum", 1000)
        return st.integers(low - 1, min(high, low + 3)) | st.just(high + 1)
    if kind == "number":
        return st.floats(-1, 2, allow_nan=False)
    if kind == "boolean":
        return st.booleans()
    if kind == "null":
        return st.none()
    if kind == "array":
        return st.lists(values(schema["items"], name, components), max_size=2)
    if "properties" in schema:
        required = set(schema.get("required", ()))
        fields = {key: values(field, key, components) for key, field in schema["properties"].items()}
        return st.fixed_dictionaries(
            {key: field for key, field in fields.items() if key in required},
            optional={key: field for key, field in fields.items() if key not in required},
        )
    return st.dictionaries(st.sampled_from(LIKELY["token"]), st.floats(0, 1), max_size=2)


def requests(schema: dict[str, Any]) -> st.SearchStrategy[tuple[str, str, dict[str, Any], Any]]:
    """Method, path, query and body of any endpoint."""
    components = schema["components"]["schemas"]
    found = []
    for path, methods in schema["paths"].items():
        if path == "/api/runs":
            continue  # it takes no parameters, and reads MLflow's database each time
        for method, about in methods.items():
            query, place = {}, {}
            for parameter in about.get("parameters", []):
                strategy = values(parameter["schema"], parameter["name"], components)
                (place if parameter["in"] == "path" else query)[parameter["name"]] = strategy
            body = st.none()
            if "requestBody" in about:
                body = values(
                    about["requestBody"]["content"]["application/json"]["schema"], "body", components
                )
            found.append(
                st.tuples(
                    st.just(method.upper()),
                    st.fixed_dictionaries(place).map(lambda names, path=path: filled(path, names)),
                    st.fixed_dictionaries({}, optional=query),
                    body,
                )
            )
    return st.one_of(found)


def filled(path: str, names: dict[str, str]) -> str:
    """A path with its names, those that would be another path left out."""
    for key, value in names.items():
        path = path.replace(f"{{{key}}}", "".join(letter for letter in value if letter.isalnum()) or "none")
    return path


def test_no_request_makes_the_server_fail(store: Any) -> None:
    app = create_app(store, workers=1)
    client = Client(app)
    schema = client.get("/api/openapi.json").json()

    @settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(requests(schema))
    def ask(request: tuple[str, str, dict[str, Any], Any]) -> None:
        method, path, query, body = request
        options = {} if body is None else {"json": body}
        answer = client.request(method, path, params=query, **options)
        assert answer.status_code < 500, (request, answer.text)
        if answer.status_code >= 400:
            detail = answer.json()["detail"]
            assert isinstance(detail, str)
            assert detail
            assert "\n" not in detail

    ask()
    app.state.solves.close()


def test_the_schema_names_every_question_of_the_page(client: Client) -> None:
    paths = client.get("/api/openapi.json").json()["paths"]
    assert {"get"} <= set(paths["/api/node"])
    for path, method in [
        ("/api/sources", "get"),
        ("/api/combos", "get"),
        ("/api/solve", "post"),
        ("/api/solve/{name}", "get"),
        ("/api/solve/{name}", "delete"),
        ("/api/solve/{name}/events", "get"),
    ]:
        assert method in paths[path]
    for methods in paths.values():
        for about in methods.values():
            refusal = about["responses"]["422"]["content"]["application/json"]["schema"]["$ref"]
            assert refusal.endswith("/Problem")


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff", b'{"kind": "subgame"}', b"[" * 5000]
)
def test_a_body_that_is_no_request_is_refused(client: Client, body: bytes) -> None:
    answer = client.post("/api/solve", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert isinstance(answer.json()["detail"], str)
