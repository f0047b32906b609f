"""The flops on which blueprints are evaluated, the same whatever a run's textures are.

Written down so that runs with other textures are measured on the same boards and can be compared.

The flops of `real`, its subset `real_small` and `full` are weighted, so that suits, pairs and high cards have the
shares with which they are dealt (`pipelines.training.flop_draw`). Those of `small` and `huge` count alike: a systematic
sample of all flops by weight (how often each is dealt), once for each tier, in the order of 200 textures. `full` was
such a sample too, with twice as many monotone flops as are dealt, until it was drawn again.
"""

from __future__ import annotations

_SMALL = """
    2d5h6s 6d6h7s 2s6h8s 2d4h9s 6d7h9s 2d5hTs 4h6hTs 4h9sTs 9dJhJs 6h9sJs 2s7sJs 2d9hQs 5hTsQs 4h5sQs 5d7hKs
    3d7hKs 5dKhKs 5h5sKs 7hQhKs 5h7sAs 2dKhAs TdKhAs 5h9sAs KsAhAs
"""

_HUGE = """
    2h2s3s 3d4h4s 3s4h4s 2h4s5s 3h3s5s 2d5h6s 3s5h6s 4d6h6s 2h4s6s 4h4s6s 2d5h7s 4d6h7s 3s6h7s 3d6h7s 2h4h7s
    2h5s7s 5s6h7s 6s7h7s 2d7h8s 2d4h8s 3d6h8s 2h5h8s 3s6h8s 5d7h8s 6d8h8s 2h7s8s 2h2s8s 4h7s8s 7s8h8s 5s7h8s
    2d4h9s 3d7h9s 2s4h9s 2d2h9s 4d6h9s 3s5h9s 4h6s9s 5d6h9s 5s8h9s 5d5h9s 2h8h9s 3h8s9s 6h8h9s 4s5s9s 8h8s9s
    3d5hTs 4d5hJs 2d6hTs 6d8hTs 2s9hTs 6h9hTs 3d8hTs 3d9hTs 8d9hTs 9d9h9s 4h6hTs 4h5sTs 5sThTs 2s5hTs 3h7sTs
    3s9sTs 7h8sTs 3h8hTs 5s9hTs 8h8sTs 2d5hJs 5d6hJs 6d6hJs 3d9hJs 4dThJs 3d7hJs 5d9hJs 7d9hJs 2dThTs 8dJhJs
    2s3hJs 5s7hJs 2h9hJs 6hThJs 5sThJs 6h9sJs 5h8hJs 3h7sJs 3h4hJs 4h5sJs 3h3sJs 7sThJs 7sJhJs 9sThJs 2h4hQs
    3s6hQs 3d4hQs 2d2hQs 2d5hQs 3d7hQs 7d9hQs 6d8hQs 4d9hQs 6dThQs 4dJhQs 8dQhQs 5h9hQs 3hJhQs 3sJhQs 2h8sQs
    5hTsQs 8sThQs 8dThQs TdJhQs 4dQhQs 3h3sQs 5sQhQs 6s8sQs 4s5hQs 4h8hQs 5s8hQs 5h8sQs 8sQhQs ThJhQs 7s9sQs
    2d3hKs 3d5hKs 2h3hKs 2h3sKs 3d3hKs 5d6hKs 7d8hKs 2d9hKs 3dThKs 8dThKs 3d7hKs 6d9hKs 6h9hKs 5h8sKs QdQhKs
    8dJhKs 5dQhKs 9dQhKs 2dKhKs 2s7hKs 2hThKs 3sThKs 2hTsKs 2hJhKs 5hQhKs 5sQhKs 4hQsKs 8h8sKs 3h4hKs 4s6hKs
    6sAhAs 6s8hKs 9hQhKs 7s9sKs 9sKhKs 7hQhKs ThQhKs 2d3hAs 4d5hAs 5d8hAs 6d6hAs 2d8hAs 5d9hAs 4h6sAs 4d9hAs
    3dThAs 4dJhAs 8h9hAs 3sThAs 7h9sAs 6dThAs 3dQhAs 3dKhAs TdThAs 6dJhAs 7dQhAs 8dKhAs 9hQhAs 7sKhAs 9hQsAs
    TdKhAs 3hKhAs 8sJhAs TsKhAs 5dAhAs 2s4hAs 2h6hAs 2s8hAs 4h8sAs 4sAhAs 4h7hAs 6h7sAs 7hThAs 4hQhAs 6s9hAs
    2hQsAs TsAhAs 4s9sAs ThJhAs 9sJsAs
"""

#: Flop and weight in parts of 100,000.
_REAL = """
    2d7h7s:3538 3d4h8s:6224 3h5h8s:6341 2h6s9s:6341 3d6hTs:3869 3s4sTs:2054 7s8hTs:3941 7d7hJs:1825 7d8hJs:3210
    4sJhJs:4093 3h6sJs:3270 5d9hQs:5011 2s5hQs:5105 9hJsQs:5105 7d8hKs:5880 JdKhKs:3343 4sQhKs:5990 2sJsKs:3122
    4h5hAs:3498 2d6hAs:3433 4dQhAs:3433 4s5hAs:3498 2hQsAs:3498 KsAhAs:4378
"""

_REAL_SMALL = """
    2d7h7s:8706 3h5h8s:23294 9hJsQs:23294 2sJsKs:5176 2d6hAs:31059 KsAhAs:8471
"""

_FULL = """
    2h2s5s:2251 3d4h6s:2138 3h5s6s:2304 4d5h8s:2138 5d5h8s:2310 5h6h8s:2304 4h5h9s:2304 5d6h9s:2138 3s9h9s:2251
    2h6s9s:2304 3d6hTs:2062 7d9hTs:2062 4h9hTs:2223 2s4sTs:1293 3h7sTs:2223 3d3hJs:2104 4d8hJs:1947 2h9hJs:2099
    4h5sJs:2099 8h8sJs:2051 5hTsJs:2099 2d3hQs:2219 6d8hQs:2219 4dJhQs:2219 2hJhQs:2392 5s7hQs:2392 5s6sQs:1391
    2hTsQs:2392 4d4hKs:1967 4d7hKs:1820 4h9hKs:1962 5dThKs:1820 7dQhKs:1820 2sQhKs:1962 2h7sKs:1962 8sKhKs:1917
    9sTsKs:1142 3hJsKs:1962 6d7hAs:2153 3h9hAs:2321 8dThAs:2153 TdQhAs:2153 9hKhAs:2321 TdAhAs:2326 5s7hAs:2321
    3h9sAs:2321 JhQsAs:2321 9sQsAs:1350
"""


def _flops(text: str) -> list[str]:
    return [part.partition(":")[0] for part in text.split()]


def _weights(text: str) -> list[int]:
    return [int(part.partition(":")[2]) for part in text.split()]


#: Every turn and every river.
ALL_RUN_OUTS = (49, 48)
#: By tier: its flops, the turn cards of each flop, the river cards of each turn, and the weights of the flops.
TIER_FLOPS: dict[str, tuple[list[str], int, int, list[int] | None]] = {
    "real": (_flops(_REAL), *ALL_RUN_OUTS, _weights(_REAL)),
    "real_small": (_flops(_REAL_SMALL), *ALL_RUN_OUTS, _weights(_REAL_SMALL)),
    "small": (_SMALL.split(), 5, 5, None),
    "full": (_flops(_FULL), 8, 8, _weights(_FULL)),
    "huge": (_HUGE.split(), 14, 14, None),
}
#: What runs are recorded under where a tier was drawn again, so that they are not ranked with older ones.
TIER_LABELS = {"full": "full (second draw)"}
