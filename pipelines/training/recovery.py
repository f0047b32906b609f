"""Work on hosts that may be lost: it is done again on fresh ones, from the last checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from pipelines.training.checkpoints import Checkpoints
from pipelines.training.hosts import ShardsLostError

#: Times that hosts may be lost without a new checkpoint in between.
MAX_LOSSES = 10


class Closed(Protocol):
    """What can be let go."""

    def close(self) -> None:
        """Let the hosts go."""


Fleet = TypeVar("Fleet", bound=Closed)
Result = TypeVar("Result")


def replayed(
    open_fleet: Callable[[], Fleet], work: Callable[[Fleet], Result], checkpoints: Checkpoints
) -> Result:
    """Return what `work` makes on hosts; when they are lost under it, it begins again on new ones.

    `work` reads the newest checkpoint itself.
    """
    losses, last = 0, -1
    while True:
        fleet = None
        try:
            fleet = open_fleet()
            return work(fleet)
        except ShardsLostError:
            saved = checkpoints.newest()
            now = -1 if saved is None else saved.iteration
            losses, last = (1 if now > last else losses + 1), now
            if losses > MAX_LOSSES:
                raise
        finally:
            if fleet is not None:
                fleet.close()
        # A node's death is noticed late, and a new node needs time to come up.
        time.sleep(min(5 * (losses - 1), 30))
