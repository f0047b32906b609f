"""Mistakes in configs and files as one line: the key, what was found and what is accepted.

Every schema of the project is a pydantic type: a game (`solver.betting.game`), a spot (`solver.postflop.spot`) and
the sections of `conf/` (`pipelines.config.schema`). Pydantic explains a mistake over several lines; here it is put
into one.
"""

from __future__ import annotations

import functools
import inspect
import re
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError, WrapValidator
from pydantic_core import PydanticCustomError

Class = TypeVar("Class", bound=type)
Value = TypeVar("Value")
#: Type of the errors whose message says all about the value at their key.
_REFUSED = "refused"
#: What is said of errors that are about a key and not about its value.
_ABOUT_KEYS = {
    "extra_forbidden": "unknown key",
    "unexpected_keyword_argument": "unknown key",
    "missing": "missing",
    "missing_argument": "missing",
}
#: What is accepted where pydantic would name a class of ours.
_IN_WORDS = {"model_type": "a table of keys", "dataclass_type": "a table of keys"}


def refusal(value: object, sentence: str) -> PydanticCustomError:
    """An error of a validator about the value it was given: `KEY: VALUE sentence`."""
    return PydanticCustomError(_REFUSED, "{value} {sentence}", {"value": repr(value), "sentence": sentence})


def rejection(key: str, found: object, accepted: str) -> ValueError:
    """An error of a validator of a whole section about one of its keys."""
    return ValueError(f"{key}: {found!r} is not accepted: {accepted}")


def otherwise(sentence: str) -> WrapValidator:
    """Annotation of a type: what is said about a value that is not of it.

    >>> from typing import Annotated
    >>> read(TypeAdapter(Annotated[int, otherwise("is not a whole number")]), "x", "pot")
    Traceback (most recent call last):
    ValueError: pot: 'x' is not a whole number
    """

    def validate(value: Any, validator: Any) -> Any:
        try:
            return validator(value)
        except ValidationError as error:
            if _dotted("", error.errors()[0]["loc"]):  # a part of the value is wrong, and has its own message
                raise
            raise refusal(value, sentence) from None

    return WrapValidator(validate)


def read(schema: TypeAdapter[Value], data: Any, key: str = "") -> Value:
    """Check `data` against a schema; a mistake is a `ValueError` of one line. `key` is where the data is from."""
    try:
        return schema.validate_python(data)
    except ValidationError as error:
        raise ValueError(one_line(error, key)) from None


def one_line_init(cls: Class) -> Class:
    """Decorator of a pydantic dataclass: a mistake in its arguments is a `ValueError` of one line."""
    init = cls.__init__  # type: ignore[misc]
    signature = inspect.signature(cls)

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            # By name, since pydantic calls a positional argument by its number.
            init(self, **signature.bind(*args, **kwargs).arguments)
        except ValidationError as error:
            raise ValueError(one_line(error)) from None

    cls.__init__ = __init__  # type: ignore[misc]
    return cls


def one_line(error: ValidationError, key: str = "") -> str:
    """`KEY: VALUE is not accepted: what is accepted`, the first problem only."""
    problems = error.errors(include_url=False)
    first, where = problems[0], _dotted(key, problems[0]["loc"])
    if first["type"] in _ABOUT_KEYS:
        # The key as it was written: it need not look like one of ours.
        *above, own = first["loc"]
        return f"{_dotted(key, tuple(above))}.{own}: {_ABOUT_KEYS[first['type']]}".lstrip(".")
    if first["type"] == _REFUSED:
        return f"{where}: {first['msg']}"
    if first["type"] == "value_error":  # ours: the message begins with the key below this section
        return f"{where}.{first['msg'].removeprefix('Value error, ')}".lstrip(".")
    # The branches of a union fail one by one, each with its own message about the same key.
    accepted = [
        _IN_WORDS.get(problem["type"]) or problem["msg"].removeprefix("Input should be ")
        for problem in problems
        if _dotted(key, problem["loc"]) == where
    ]
    return f"{where}: {first['input']!r} is not accepted: {' or '.join(accepted)}"


def _dotted(key: str, location: tuple[int | str, ...]) -> str:
    """A pydantic location as a dotted key; the names of union branches in it are left out."""
    for part in location:
        if isinstance(part, int):
            key += f"[{part}]"
        elif re.fullmatch(r"\w+", part) and part not in ("int", "float", "str", "bool"):
            key += f".{part}" if key else part
    return key
