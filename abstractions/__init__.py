"""Cards: evaluator, isomorphism, ranges, equities, features, clustering."""

import os
import sys

# numba reads this when it caches the first kernel. `abstractions.kernel_cache` says what it is for.
os.environ.setdefault(
    "NUMBA_CACHE_LOCATOR_CLASSES",
    ",".join(f"abstractions.kernel_cache.{name}" for name in ("UserProvided", "InTree", "UserWide")),
)
if "numba" in sys.modules:
    sys.modules["numba"].config.reload_config()
