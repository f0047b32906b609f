"""Solved subgames in a store: each street that was solved is a bundle, found by the content of its spot."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from artifacts.bundle_store import BundleStore
from artifacts.format.array_pack import pack_arrays, unpack_arrays
from solver.subgame.solved_street import SolvedDecision, SolvedStreet

STAGE = "subgame"
_KEY_LENGTH = 20
_FIGURES = ("seconds", "iterations", "num_leaves", "memory_bytes")


@dataclass(frozen=True)
class StoredSubgames:
    """The `SolutionCache` of a store.

    Attributes
    ----------
    store
        Where the bundles lie.
    blueprint
        Key of the exported bundle that the subgames are solved on.
    code
        Version of the code that solves them.
    """

    store: BundleStore
    blueprint: str
    code: str

    @property
    def blueprint_key(self) -> str:
        """Identity of blueprint and solver: a change of either makes solves anew."""
        return f"{self.blueprint}/{self.code}"

    def get(self, key: str) -> SolvedStreet | None:
        """What was kept under a key, None for nothing."""
        short = key[:_KEY_LENGTH]
        if not self.store.has(STAGE, short):
            return None
        bundle = self.store.open(STAGE, short)
        about = json.loads(bundle.text("street.json"))
        arrays = {name: np.array(array) for name, array in unpack_arrays(bundle, "street").items()}
        found = {
            line: SolvedDecision(
                decision["player"],
                tuple(decision["actions"]),
                arrays[f"strategy/{number}"].astype(np.float64),
                arrays[f"ev/{number}"].astype(np.float64),
            )
            for number, (line, decision) in enumerate(about["decisions"].items())
        }
        figures = {name: about[name] for name in _FIGURES}
        return SolvedStreet(
            line=about["line"],
            ranges=(arrays["range/0"], arrays["range/1"]),
            by_line=found,
            reason=about["reason"],
            **figures,
        )

    def put(self, key: str, solved: SolvedStreet) -> None:
        """Keep a solved street; strategies and EVs in single precision."""
        arrays = {f"range/{seat}": weights for seat, weights in enumerate(solved.ranges)}
        for number, decision in enumerate(solved.by_line.values()):
            arrays[f"strategy/{number}"] = decision.strategy.astype(np.float32)
            arrays[f"ev/{number}"] = decision.ev.astype(np.float32)
        about = {
            "line": solved.line,
            "reason": solved.reason,
            "decisions": {
                line: {"player": decision.player, "actions": list(decision.actions)}
                for line, decision in solved.by_line.items()
            },
            **{name: getattr(solved, name) for name in _FIGURES},
        }
        self.store.commit(
            pack_arrays("street", arrays),
            texts={"street.json": json.dumps(about) + "\n"},
            stage=STAGE,
            key=key[:_KEY_LENGTH],
            code=self.code,
            config={"line": solved.line},
            inputs={"export": self.blueprint},
            metrics={"iterations": solved.iterations, "seconds": solved.seconds},
        )
