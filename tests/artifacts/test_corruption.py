"""A damaged bundle gives the true answers or a `BundleError` that names the file: never others, never another error."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from artifacts import BlueprintBundle, BundleError, open_blueprint
from artifacts.format.manifest import MANIFEST

FLOP, RIVER = "QsJh2h", "QsJh2h8d3c"
Answers = dict[str, Any]


def quick_answers(bundle: BlueprintBundle) -> Answers:
    """What the files before the flop, the texts and the manifest say."""
    rows = bundle.preflop("||p|cb250")
    return {
        "manifest": bundle.manifest,
        "settings": dict(bundle.config),
        "metrics": dict(bundle.metrics),
        "stacks": bundle.game.stacks,
        "lines": len(bundle.lines()),
        "aces": bundle.strategy("||p|", "AA"),
        "cleaned": bundle.strategy("||p|cb250", "72o"),
        "rows": (rows.hands, rows.reasons, rows.raw_probability.tobytes(), rows.ev.tobytes()),
        "exploitability": bundle["trace"]["exploitability"].tolist(),
    }


def all_answers(bundle: BlueprintBundle) -> Answers:
    """`quick_answers`, and every table that answers questions after the flop; the large ones among them."""
    return quick_answers(bundle) | {
        "flop": bundle.strategy("b250c/x", "AhKc", FLOP),
        "river": bundle.strategy("b250c/xx/xx/b250", "AhKc", RIVER, clean=False),
        "range": bundle.range("b250c/x", "bb", FLOP).tobytes(),
        "tables": [hash(bundle[name][column].tobytes()) for name, column in TABLES],
    }


TABLES = (
    ("textures", "texture"),
    ("equity", "wins"),
    ("texture_summary", "weight"),
    ("equity_river", "equity"),
)


class Damage:
    """One way at a time to damage a copy of a bundle, and back."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.rng = np.random.default_rng(seed)
        self.sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
        self.names = sorted(self.sizes)

    def one(self) -> tuple[str, Callable[[], None], Callable[[], None]]:
        """Name of a file, what damages it, and what puts it back."""
        rng = self.rng
        # The manifest is small and says most, so it is damaged most often.
        name = MANIFEST if rng.random() < 0.4 else self.names[rng.integers(len(self.names))]
        path = self.folder / name
        way = self._bytes if rng.random() < 0.9 else self._moved
        return name, *way(path, self.sizes[name])

    def _bytes(self, path: Path, size: int) -> tuple[Callable[[], None], Callable[[], None]]:
        """One byte, or a run of zeros, in place; half of the time under the old modification time."""
        rng = self.rng
        start = int(rng.integers(size))
        length = 1 if rng.random() < 0.9 else int(rng.integers(2, 600))
        keep_time = rng.random() < 0.5
        change = int(rng.integers(1, 256))
        with path.open("rb") as file:
            file.seek(start)
            good = file.read(length)
        bad = bytes([good[0] ^ change]) if length == 1 else bytes(len(good))

        def write(data: bytes) -> None:
            found = path.stat()
            with path.open("r+b") as file:
                file.seek(start)
                file.write(data)
            if keep_time:
                os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))

        return lambda: write(bad), lambda: write(good)

    def _moved(self, path: Path, size: int) -> tuple[Callable[[], None], Callable[[], None]]:
        """Something else in its place: nothing, a folder, a link, a shorter or longer file, another file."""
        aside = path.with_name("aside")
        way = int(self.rng.integers(6))
        cut = int(self.rng.integers(size))
        other = self.folder / self.names[self.rng.integers(len(self.names))]

        def damage() -> None:
            path.rename(aside)
            if way == 1:
                path.mkdir()
            elif way == 2:
                path.symlink_to(aside.name)
            elif way == 3:
                path.write_bytes(aside.read_bytes()[:cut])
            elif way == 4:
                path.write_bytes(aside.read_bytes() + b"\0")
            elif way == 5:
                shutil.copy2(other if other.exists() else aside, path)

        def repair() -> None:
            if path.is_dir():
                path.rmdir()
            path.unlink(missing_ok=True)
            aside.rename(path)

        return damage, repair


def read_damaged(folder: Path, truth: Answers, seed: int, reads: int) -> int:
    """Damage, ask and repair, many times; returns how many reads were refused."""
    damage = Damage(folder, seed)
    refused = 0
    for number in range(reads):
        name, spoil, repair = damage.one()
        ask = all_answers if number % 10 == 0 else quick_answers
        bundle = open_blueprint(folder) if damage.rng.random() < 0.05 else None
        if bundle is not None and damage.rng.random() < 0.5:
            ask(bundle)
        spoil()
        where = f"seed {seed}, read {number}, {name}"
        answers: Answers = {}
        message = ""
        try:
            answers = ask(bundle or open_blueprint(folder))
        except BundleError as error:
            message = str(error)
        finally:
            repair()
        wrong = [question for question in answers if answers[question] != truth[question]]
        assert not wrong, f"{where}: other answers about {wrong}"
        if not answers:
            assert f"/{name}: " in message, where
            assert "\n" not in message, where
            refused += 1
    return refused


@pytest.fixture(scope="module")
def truth(exported: Path) -> Answers:
    return all_answers(open_blueprint(exported))


def test_a_thousand_damaged_reads_give_no_wrong_answer(
    exported: Path, truth: Answers, tmp_path: Path
) -> None:
    folder = shutil.copytree(exported, tmp_path / "copy")
    assert read_damaged(folder, truth, seed=0, reads=1_000) > 900
    assert all_answers(open_blueprint(folder, verify="always")) == truth


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(1, 11))
def test_a_hundred_thousand_damaged_reads_give_no_wrong_answer(
    exported: Path, truth: Answers, tmp_path: Path, seed: int
) -> None:
    folder = shutil.copytree(exported, tmp_path / "copy")
    assert read_damaged(folder, truth, seed=seed, reads=10_000) > 9_000
    assert all_answers(open_blueprint(folder, verify="always")) == truth
