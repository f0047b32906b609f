"""The lines of an exported bundle, walked by the same rules as those of a tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from artifacts import open_bundle
from artifacts.blueprint.betting_lines import BettingLines
from solver.betting.lines import PUBLIC_CARDS, STREETS, split_street, tokens, without_prefix


@pytest.fixture(scope="module")
def betting(exported: Path) -> BettingLines:
    return BettingLines(open_bundle(exported)["lines"])


def test_every_decision_is_found_by_walking_to_it(betting: BettingLines) -> None:
    for line in betting.lines():
        decision = betting.decision(line)
        assert decision.line == line
        walk = betting.walk(line)
        assert walk.end == without_prefix(line)
        assert not walk.over
        assert walk.street == decision.street
        taken = [step.tokens[action] for step, action in walk.steps]
        assert taken == [token for token in tokens(line) if token != "/"]


def test_the_slash_behind_a_street_may_be_left_out(betting: BettingLines) -> None:
    for street in STREETS[1:]:
        for line in betting.lines(street):
            before, now = split_street(line)
            if now:
                continue
            ended = betting.walk(before.removesuffix("/"))
            assert ended.over
            assert betting.decision(before.removesuffix("/")).line == line
            num_cards = PUBLIC_CARDS[STREETS.index(street)]
            assert ended.entered(num_cards) == betting.walk(line)
            assert ended.entered(num_cards - 1) is ended


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("b300", "line 'b300': 'b300' is not possible after the start; accepted: f c b250"),
        ("||p|b250c/f", "line '||p|b250c/f': 'f' is not possible after b250c/; accepted: x b250"),
        ("b250c/k", "line 'b250c/k': no token at 'k'; accepted: f x c b<to> r<to> A /"),
        ("b250cx", "line 'b250cx': 'x' is not possible after b250c; accepted: /"),
        ("b250f/", "line 'b250f/': '/' is not possible after b250f; accepted: nothing, the betting is over"),
    ],
)
def test_a_line_that_is_not_in_the_bundle_is_named(betting: BettingLines, line: str, message: str) -> None:
    with pytest.raises(ValueError, match="line") as error:
        betting.walk(line)
    assert str(error.value) == message
