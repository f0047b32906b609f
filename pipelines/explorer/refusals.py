"""Requests that the explorer refuses: one sentence, and whose fault it is as a status code."""

from __future__ import annotations


class Refusal(Exception):
    """A request that cannot be answered.

    Parameters
    ----------
    detail
        One sentence that names what was found and what is accepted.
    status
        A 4xx status code.
    """

    def __init__(self, detail: str, status: int = 422) -> None:
        super().__init__(detail)
        self.status = status
