"""What each stage cost when it was computed, for honest estimates. Losing the file loses nothing else."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from pipelines.run.progress import StageDisk


class Costs:
    """Measured costs, in a file beside the bundles.

    A cost is kept under the bundle's name, and under its signature for other versions of the code.
    """

    def __init__(self, root: Path) -> None:
        self._path = root / ".costs.json"

    def _read(self) -> dict[str, dict[str, float]]:
        try:
            return {name: dict(cost) for name, cost in json.loads(self._path.read_text()).items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def of(self, name: str) -> dict[str, float]:
        """`core_seconds`, `peak_bytes`, `bundle_bytes` and `scratch_bytes` of a bundle or a signature.

        Figures that nobody has measured are left out.
        """
        return self._read().get(name, {})

    def disk(self, signature: str) -> StageDisk | None:
        """What such a stage wrote last, or None."""
        cost = self.of(signature)
        if "bundle_bytes" not in cost or "scratch_bytes" not in cost:
            return None
        return StageDisk(cost["bundle_bytes"], cost["scratch_bytes"])

    def remember(self, name: str, signature: str, cost: Mapping[str, float]) -> None:
        """Record what was measured. On a full disk it is forgotten."""
        rounded = {figure: round(float(value), 3) for figure, value in cost.items()}
        known = self._read() | {name: rounded, signature: rounded}
        temporary = self._path.with_suffix(f".{os.getpid()}")
        try:
            temporary.write_text(json.dumps(known, indent=0, sort_keys=True))
            temporary.replace(self._path)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
