"""A mistake is one line: the key, what was found and what is accepted."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, TypeAdapter, model_validator

from solver.validation import otherwise, read, rejection


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    size: Annotated[int | float, otherwise("is not a number")] = 1
    kind: Literal["a", "b"] | int = "a"
    low: int = 0
    high: int = 9

    @model_validator(mode="after")
    def _in_order(self) -> Part:
        if self.low > self.high:
            raise rejection("low", self.low, f"at most high, {self.high}")
        return self


class Whole(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: str
    parts: Annotated[list[Part], otherwise("is not a list")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"parts": []}, "name: missing"),
        ({"name": "x", "parts": [], "colour": 1}, "colour: unknown key"),
        ({"name": "x", "parts": [], "Two-Words": 1}, "Two-Words: unknown key"),
        ({"name": "x", "parts": [{"Size": 1}]}, "parts[0].Size: unknown key"),
        ({"name": "x", "parts": [5]}, "parts[0]: 5 is not accepted: a table of keys"),
        ({"name": 7, "parts": []}, "name: 7 is not accepted: a valid string"),
        ({"name": "x", "parts": "no"}, "parts: 'no' is not a list"),
        ({"name": "x", "parts": [{}, {"size": "s"}]}, "parts[1].size: 's' is not a number"),
        (
            {"name": "x", "parts": [{"kind": "c"}]},
            "parts[0].kind: 'c' is not accepted: 'a' or 'b' or a valid integer",
        ),
        ({"name": "x", "parts": [{"low": 10}]}, "parts[0].low: 10 is not accepted: at most high, 9"),
        ({"name": 7, "parts": "no"}, "name: 7 is not accepted: a valid string"),
    ],
)
def test_the_first_mistake_is_named(data: dict, message: str) -> None:
    with pytest.raises(ValueError, match=r"^\S+: ") as error:
        read(TypeAdapter(Whole), data)
    assert str(error.value) == message


def test_a_key_may_come_from_outside() -> None:
    with pytest.raises(ValueError, match=r"^file\.parts\[0\]\.size: True is not a number$"):
        read(TypeAdapter(Whole), {"name": "x", "parts": [{"size": True}]}, "file")
