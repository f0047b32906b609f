"""Every malformed input gets one line on standard error, its exit code, and writes nothing.

The tables hold a command line (or what is changed in a good spot file), and a part of the message. They run in this
process, so that hundreds of them take seconds; a few run as a person would start them.
"""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipelines import (
    blueprint,
    compare,
    lbr,
    match,
    poker_solver,
    report,
    solve,
    store,
    three_way_equity,
    value_data,
)
from pipelines.run.command import run_app, run_command

COMMANDS: dict[str, Callable[[], Any]] = {
    "blueprint": lambda: run_command(blueprint.main),
    "compare": lambda: run_command(compare.main),
    "lbr": lambda: run_command(lbr.main),
    "match": lambda: run_command(match.main),
    "report": lambda: run_command(report.main),
    "solve": lambda: run_command(solve.main),
    "value_data": lambda: run_command(value_data.main),
    "store": lambda: run_app(store.app),
    "three_way_equity": lambda: run_command(three_way_equity.main),
    "poker-solver": poker_solver.main,
}
SPOT = {
    "board": "QsJh2h8d3c",
    "oop_range": "QQ,AQ",
    "ip_range": "JJ,KJ",
    "pot": 200,
    "stack": 300,
    "bet_sizes": {"river": {"bet": "50%,a", "raise": "2.5x"}},
    "max_iterations": 2,
}
LONG = "a" * 300
CHAINED = "poker-solver chained --hero-range AA,KK --villain-range QQ,JJ --board Ad8h9d"

# ---- overrides and flags of the pipeline ---------------------------------------------------------

OVERRIDES = [
    ("=5", "=5: not understood; overrides are key=value"),
    ("+=5", "+=5: not understood"),
    ("==", "==: not understood"),
    ("''", "'': not understood"),
    ("seed", "seed: not understood"),
    ("seed=", "seed: '' is not accepted"),
    ("seed=1.5", "seed: 1.5 is not accepted"),
    ("seed=nan", "seed: nan is not accepted"),
    ("'seed={a:1}'", "seed: {'a': 1} is not accepted"),
    ("seed=1,2", "seed=1,2: several values; a sweep needs -m"),
    ("'seed=range(1,4)'", "seed=range(1,4): several values"),
    ("'seed=${foo}'", "seed: Interpolation key 'foo' not found"),
    ("'seed=[1,'", "seed=[1,: not understood"),
    (f"seed={'[' * 500}", "not understood"),
    ("'seed=1\n2'", "seed=1 2: not understood"),
    ("+Foo=1", "Foo: unknown key"),
    ("+game.Foo=1", "game.Foo: unknown key"),
    ("~cluster", "cluster: missing"),
    ("~foo", "'foo' does not exist"),
    ("game=", "game: '' is not accepted: one of hu100"),
    ("game=null", "game=null: not understood"),
    ("abstraction=5", "abstraction=5: not understood"),
    ("lcfr=5", "lcfr: 5 is not accepted: a table of keys"),
    ("game.stacks.x=1", "game.stacks.x=1: not understood"),
    ("hydra/launcher=nope", "hydra/launcher: 'nope' is not accepted"),
    ("+preset=smoke +preset=fast", "Multiple values for preset"),
    ("--foo", "--foo: unknown flag"),
    ("-x seed=1", "-x: unknown flag"),
    ("--cfg", "--cfg/-c: expected one argument"),
    ("--cfg nope", "invalid choice: 'nope'"),
    ("--info nope", "invalid choice: 'nope'"),
    ("--config-dir nowhere", "--config-dir: not accepted here"),
    ("--shell-completion", "--shell-completion: not accepted here"),
    ("--resolve", "--resolve: goes with --cfg job only"),
    ("--run -m seed=1,2", "give one of --run, --multirun"),
    ("seed=1 --cfg job plan=true", "plan=true: write flags before all overrides"),
    ("-m seed=1,x", "seed: 'x' is not accepted"),
    ("-m =5", "=5: not understood"),
    ("-m 'seed=glob(*)'", "seed=glob(*): not understood"),
    ("-m game.stacks=[1000,1000],[1000]", "game.stacks: 1 seats; accepted: 2 to 9"),
]

CONFIG = [
    ("game.stacks=[1000]", "game.stacks: 1 seats; accepted: 2 to 9"),
    ("plan=true game.stacks=[1000,1000,1000,1000,1000,1000,1000,1000,1000,1000]", "game.stacks: 10 seats;"),
    (
        "plan=true game.antes=[0,0] game.stacks=[1000,1000,1000]",
        "game.antes: 2 values for 3 seats; accepted: one number for all",
    ),
    ("game.straddle=200", "game.straddle: 200 is not accepted: 0 with two seats"),
    (
        "game=three_max25 game.straddle=3000",
        "game.stacks[0]: 2500 is not accepted: more than ante and straddle, 3000",
    ),
    ("game.payouts=[50,30]", "game.payouts: two seats play for one prize"),
    ("game=three_max25 game.payouts=[20,30]", "game.payouts: [20.0, 30.0] rise; accepted: prizes from the"),
    ("game=three_max25 game.payouts=[5,4,3,2]", "game.payouts: 4 prizes for 3 seats; accepted: one for each"),
    ("game=three_max25 game.payouts=[0,0]", "game.payouts: all prizes are 0"),
    ("game=three_max25 game.payouts=[1] game.rake=0.05", "game.payouts: a tournament takes no rake"),
    ("game=six_max100 game.max_flop_players=1", "game.max_flop_players: 1 is not accepted: 2 or more"),
    ("game=three_max25 game.big_blind_ante=2500", "game.stacks[1]: 2500 does not exceed the ante 2500"),
    (
        "game=six_max100 +game.node_limit=1000",
        "game.node_limit: the tree has 29,770 nodes before the flop, the limit is 1,000; the key that adds most is",
    ),
    (
        "game=nine_max100 game.max_flop_players=0 +game.node_limit=800000 solver.postflop=checkdown",
        "the tree has 875,521 nodes before the flop, the limit is 800,000; the key that adds most is raise_cap (3)",
    ),
    (
        "game=six_max100 game.max_flop_players=6 +game.node_limit=100000",
        "game.node_limit: play after the flop has at least ",
    ),
    ("solver.postflop=checkdown", "solver.postflop: checkdown is for three or more seats"),
    ("multiway.streams=0", "multiway.streams: 0 is not accepted"),
    ("multiway.schedule=cfr+", "multiway.schedule: 'cfr+' is not accepted"),
    ("game.stacks=[1000,1000] game.raise_sizes=[a] game.limp=false", "game.raise_sizes: no line sees a flop"),
    ("+game.node_limit=10", "game.node_limit: the tree has more than 10 nodes"),
    ("game.stacks=abc", "game.stacks: 'abc' is not a list"),
    ("game.small_blind=0", "game.small_blind: 0 is not accepted: 1 to 100"),
    ("game.raise_sizes=[x]", "game.raise_sizes[0]: size 'x' is not understood; accepted: a plain number"),
    ("game.raise_sizes=[nan]", "game.raise_sizes[0]: size 'nan' is not understood"),
    ("game.over_limp_sizes=x", "game.over_limp_sizes: size 'x' is not understood; accepted: a plain number"),
    ("game.bet_sizes.flop.bet=50", "game.bet_sizes.flop.oop.bet"),
    ("game.add_allin_threshold=inf", "game.add_allin_threshold: inf is not a number"),
    ("game.merging_threshold=nan", "game.merging_threshold: nan is not a number"),
    ("game.rake=nan", "game.rake: nan is not a rate"),
    ("game.rake_cap=inf", "game.rake_cap: inf is not a number of chips"),
    ("'game.name=a b'", "game.name: 'a b' is not accepted: a name of letters, digits"),
    ("abstraction.buckets=5", "abstraction.buckets: 5 is not accepted: a table of keys"),
    (
        "+preset=smoke abstraction.buckets.flop=9409",
        "abstraction.buckets.flop: 9409 is not accepted: at most 9408, one per hand: this abstraction has 8",
    ),
    (
        "+preset=smoke abstraction.scope=texture abstraction.buckets.flop=1177",
        "abstraction.buckets.flop: 1177 is not accepted: at most 1176",
    ),
    (
        "+preset=smoke abstraction.textures=1 abstraction.turn_transitions=1 abstraction.buckets.turn=1129",
        "abstraction.buckets.turn: 1129 is not accepted: at most 1128",
    ),
    (
        "abstraction=standard abstraction.textures=1755 abstraction.buckets.flop=2000",
        "abstraction.buckets.flop: 2000 is not accepted: at most 1176",
    ),
    ("abstraction.sample=inf", "abstraction.sample: inf is not accepted"),
    ("solver.batch=1000000000", "solver.batch: 1000000000 is not accepted"),
    ("solver.checkpoint_minutes=inf", "solver.checkpoint_minutes: inf is not accepted: a finite number"),
    ("solver.max_core_hours=inf", "solver.max_core_hours: inf is not accepted"),
    ("solver.target_exploitability=nan", "solver.target_exploitability: nan is not accepted"),
    ("solver.prune_below=-inf", "solver.prune_below: -inf is not accepted"),
    ("dcfr.gamma=nan", "dcfr.gamma: nan is not accepted"),
    ("lcfr.iterations=0 dcfr.iterations=0", "dcfr.iterations: 0 is not accepted: at least 1, unless lcfr"),
    ("lcfr.iterations=0", "lcfr.iterations: 0 is not accepted: at least 1 with solver.preflop=self_play"),
    ("lcfr.iterations=1e3", "lcfr.iterations: 1000.0 is not accepted"),
    ("evaluate.final_tier=x", "evaluate.final_tier: 'x' is not accepted"),
    ("evaluate.ev_error=0", "evaluate.ev_error: 0 is not accepted: greater than or equal to 0.001"),
    (
        "evaluate.ev_max_boards=100",
        "evaluate.ev_max_boards: 100 is not accepted: greater than or equal to 128",
    ),
    ("cluster.num_cpus=100000", "cluster.num_cpus: 100000 is not accepted: 1 to "),
    ("cluster=inprocess cluster.num_cpus=100000", "the cores of this machine"),
    ("cluster.object_store_mb=100000000", "cluster.object_store_mb: 100000000 is not accepted: 80 to "),
    ("cluster=ray cluster.address=foo", "cluster.address: 'foo' is not accepted"),
    ("cluster=ray cluster.address=foo:bar", "HOST:PORT or ray://HOST:PORT"),
    ("tracking.uri=sqlite", "tracking.uri: 'sqlite' is not accepted: sqlite:///FILE, http://HOST"),
    ("tracking.uri=", "tracking.uri: '' is not accepted"),
    ("tracking.uri=sqlite:///", "tracking.uri: 'sqlite:///' is not accepted"),
    ("tracking.uri=sqlite:///:memory:", "is not accepted: sqlite:///FILE"),
    ("tracking.uri=sqlite:////nowhere/sub/x.db", "a place in a folder that exists; /nowhere/sub does not"),
    ("tracking.uri=sqlite:///folder", "is not accepted: an SQLite database"),
    ("tracking.uri=sqlite:///text.txt", "is not accepted: an SQLite database"),
    ("tracking.uri=file:folder", "tracking.uri: 'file:folder' is not accepted"),
    ("tracking.uri=http", "tracking.uri: 'http' is not accepted"),
    ("tracking.uri=http://", "tracking.uri: 'http://' is not accepted"),
    ("tracking.uri=/nowhere/mlruns", "tracking.uri: '/nowhere/mlruns' is not accepted"),
    ("tracking.uri=postgresql", "tracking.uri: 'postgresql' is not accepted"),
    ("tracking.artifacts=/nowhere/a/b", "tracking.artifacts: '/nowhere/a/b' is not accepted"),
    ("tracking.artifacts=file:///nowhere/a/b", "a place in a folder that exists; /nowhere/a does not"),
    ("tracking.artifacts=''", "tracking.artifacts: '' is not accepted"),
    ("tracking.experiment='\" \"'", "tracking.experiment: ' ' is not accepted"),
    ("store.root=''", "store.root: '' is not accepted"),
]

# ---- the other commands --------------------------------------------------------------------------

OTHER = [
    ("three_way_equity --foo", "--foo: not understood"),
    ("three_way_equity +foo=1", "foo: unknown key"),
    ("three_way_equity cluster=nope", "cluster: 'nope' is not accepted"),
    ("three_way_equity cluster.num_cpus=0", "cluster.num_cpus: 0 is not accepted"),
    ("compare --foo", "--foo: not understood"),
    ("compare x", "x: not understood"),
    ("compare =5", "=5: not understood"),
    ("compare out=folder", "folder: a folder; expected a file to write"),
    ("compare out=none/x.json", "out: the folder of none/x.json does not exist"),
    ("compare out=", "a folder; expected a file"),
    ("compare plot=x.txt", "plot: x.txt is not accepted: a file that ends in .png"),
    ("compare tracking.uri=sqlite:///text.txt", "an SQLite database"),
    ("compare store.root=nowhere", "does not exist; a pipeline run creates it"),
    ("poker-solver compare foo=1", "foo: unknown key"),
    ("poker-solver compare tracking.uri=mysql://u@127.0.0.1:1/x", "mysql://u@127.0.0.1:1/x does not answer"),
    ("match b=uniform", "a: give a strategy, a=STORE/export-KEY or a=always-call"),
    ("match a=uniform b=always-raise", "b: always-raise is no bundle, it has no manifest.json"),
    (
        "match a=uniform b=uniform hands=-3",
        "hands: '-3' is not accepted: a whole number from 2 to 100,000,000",
    ),
    ("match a=uniform b=uniform hands=1e3", "hands: '1e3' is not accepted"),
    (
        "match a=uniform b=uniform resolve_from=now",
        "resolve_from: 'now' is not accepted: one of flop, turn, river",
    ),
    ("match a=uniform b=uniform foo=1", "foo: unknown key"),
    ("match a b=uniform", "a: give a value, a=.."),
    ("lbr bundle=", "bundle: give a strategy"),
    ("lbr bundle=text.txt", "bundle: text.txt is no bundle"),
    ("lbr bundle=uniform actions=pot", "actions: 'pot' is not accepted: one of fc, fcpa, 56"),
    ("lbr bundle=uniform streets=", "streets: '' is not accepted: one of preflop, flop, turn, river"),
    ("report last other", "run: give one run"),
    ("report last store.root=nowhere", "does not exist; a pipeline run creates it"),
    ("report last out=none/x.html", "out: the folder of none/x.html does not exist"),
    ("report last out=folder", "folder: a folder; expected a file to write"),
    ("solve spots=folder line=b250c", "line: goes with spots=STORE/export-KEY"),
    ("solve spots=folder flops=25", "flops: goes with spots=STORE/export-KEY"),
    ("solve --foo", "spots: give one folder"),
    ("solve spots=", "spots: give one folder"),
    ("solve spots=folder spots=empty", "spots: give one folder"),
    ("solve spots=nowhere", "spots: nowhere is not a folder"),
    ("solve spots=text.txt", "spots: text.txt is not a folder"),
    ("solve spots=empty", "spots: empty holds no *.json files"),
    ("solve spots=bad_board", "bad_board/spot.json: board: board 'Qs' has 1 cards"),
    ("solve spots=bad_range", "bad_range/spot.json: oop_range: range token 'zz'"),
    ("solve spots=bad_sizes", "bad_sizes/spot.json: bet_sizes.river.oop.bet"),
    ("solve spots=bad_lock", "bad_lock/spot.json: line 'b7'"),
    ("solve spots=bad_target", "bad_target/spot.json: target_exploitability_pct: -1"),
    ("solve spots=folder foo=1", "foo: unknown key"),
    ("solve spots=folder cluster.num_cpus=100000", "cluster.num_cpus"),
    ("value_data street=river", "samples: give the number of states"),
    ("value_data samples=5", "street: '' is not accepted: one of flop, turn, river"),
    ("value_data street=preflop samples=5", "street: 'preflop' is not accepted: one of flop, turn, river"),
    ("value_data street=river samples=0", "samples: '0' is not accepted: a whole number from 1"),
    (
        "value_data street=river samples=5 accuracy=x",
        "accuracy: 'x' is not accepted: a number from 0.001 to 100",
    ),
    ("value_data street=river samples=5 accuracy=nan", "accuracy: 'nan' is not accepted"),
    (
        "value_data street=river samples=5 stack_low=9",
        "stack_high: '8' is not accepted: a number from 9 to 1000",
    ),
    (
        "value_data street=river samples=5 bet=2x",
        "bet, raise: bet_sizes.flop.oop.bet: size '2x' needs a previous bet",
    ),
    ("value_data street=river samples=5 rivers=2", "rivers: a river has no rivers below"),
    (
        "value_data street=turn samples=5 suit_copies=24",
        "suit_copies: '24' is not accepted: a whole number from 0 to 23",
    ),
    (
        "value_data street=river samples=5 blueprint_share=1",
        "blueprint_share: states of a blueprint need bundle=",
    ),
    ("value_data street=river samples=5 bundle=nowhere", "bundle: nowhere is no bundle"),
    ("value_data street=river samples=5 foo=1", "foo: unknown key"),
    ("store", "(--help explains)"),
    ("store nothing", "No such command 'nothing'"),
    ("store list --foo", "No such option: --foo"),
    ("store list =5", "=5: not understood"),
    ("store list store.root=nowhere", "store.root: nowhere does not exist"),
    ("store gc --keep -1", "--keep"),
    ("store pack x", "Missing argument"),
    ("store pack x y.tar store.root=nowhere", "x: is no bundle of nowhere"),
    ("store pack x folder", "folder: a folder; expected a file to write"),
    ("store pack x none/y.tar", "none/y.tar: its folder does not exist"),
    ("store unpack none.tar", "none.tar: no such file"),
    ("poker-solver", "(--help explains)"),
    ("poker-solver --foo", "No such option: --foo"),
    ("poker-solver nothing", "No such command 'nothing'"),
    ("poker-solver equity", "Missing argument 'hands'"),
    ("poker-solver equity AA", "1 hand given: expected 2 to 9 hands or ranges"),
    ("poker-solver equity AA KK QQ JJ TT 99 88 77 66 55", "10 hands given: expected 2 to 9"),
    ("poker-solver equity AhKh QQ AhQd", "no deal is possible: hands 1 and 3 both hold Ah"),
    ("poker-solver equity AA AA AA", "no deal is possible: 3 players have 4 cards to hold"),
    ("poker-solver equity AsAh,KsKh AsKd KsQd", "the hands cannot be dealt together"),
    ("poker-solver equity AA KK --board As2c3d --dead As", "dead card 'As' is on the board"),
    ("poker-solver equity AA KK --dead AsAs", "card 'As' appears twice"),
    ("poker-solver equity AA KK --dead Xx", "card 'Xx'"),
    ("poker-solver equity AA KK --dead AsAhAd", "range 'AA' has no hand with AsAhAd dead"),
    ("poker-solver equity '' KK", "range '' has no hand"),
    ("poker-solver equity AA Zz", "range token 'Zz'"),
    ("poker-solver equity AAs KK", "a pair is neither suited nor offsuit"),
    ("poker-solver equity AhAh KK", "the card 'Ah' appears twice"),
    ("poker-solver equity AA:2 KK", "weight '2' is no number from 0 to 1"),
    ("poker-solver equity AA:nan KK", "weight 'nan' is no number"),
    ("poker-solver equity AA,, KK", "nothing between two commas"),
    ("poker-solver equity AhKh AhKd", "no deal is possible"),
    ("poker-solver equity AA KK --board Xx", "card 'Xx'"),
    ("poker-solver equity AA KK --board As", "board 'As' has 1 cards"),
    ("poker-solver equity AA KK --board AsAs2c", "card 'As' appears twice"),
    ("poker-solver equity AhKh QQ --board Ah2c3d", "has no hand on board"),
    ("poker-solver tree =5", "=5: not understood"),
    ("poker-solver tree game=nope", "game: 'nope' is not accepted"),
    ("poker-solver tree --last-street 4", "--last-street"),
    ("poker-solver tree +game.node_limit=5", "node_limit: the tree has more than 5 nodes"),
    ("poker-solver tree --spot deep.json", "deep.json: not JSON"),
    ("poker-solver tree foo=1 --spot spot.json", "foo=1: overrides are for a game"),
    ("poker-solver preflop game.antes=0 game.stacks=[1000,1000,1000]", "game.stacks: 3 seats; accepted: 2"),
    ("poker-solver preflop --iterations 0", "--iterations"),
    ("poker-solver preflop --target nan", "--target"),
    ("poker-solver preflop --target inf", "--target': inf is not a finite number"),
    ("poker-solver preflop --schedule nope", "schedule 'nope' is unknown"),
    ("poker-solver explore nowhere", "nowhere: no bundle"),
    ("poker-solver explore --store nowhere", "nowhere: no such store"),
    ("poker-solver explore --store text.txt", "text.txt: no such store"),
    ("poker-solver explore --port 70000", "--port"),
    ("poker-solver explore --workers 0", "--workers"),
    ("poker-solver explore --store folder --no-open --host 192.0.2.1", "192.0.2.1:8780 cannot be used"),
    ("poker-solver chart", "no exported bundle in this store"),
    ("poker-solver chart nowhere", "nowhere: no bundle"),
    ("poker-solver chart 'no\nwhere'", "no where: no bundle"),
    ("poker-solver chart --store text.txt", "no exported bundle in this store"),
    ("poker-solver chart --png folder", "folder: a folder; expected a file to write"),
    ("poker-solver chart --svg folder", "folder: a folder; expected a file to write"),
    ("poker-solver chart --html none/x.html", "none/x.html: its folder does not exist"),
    ("poker-solver chart a b c", "c: one word too many"),
    ("poker-solver lines --street x", "--street"),
    ("poker-solver range --player xx", "--player"),
    ("poker-solver diff folder folder", "folder: no bundle"),
    ("poker-solver diff folder folder --top 0", "--top"),
    ("poker-solver chained", "Missing option"),
    (CHAINED.replace("Ad8h9d", "As"), "board: board 'As' has 1 cards"),
    (CHAINED.replace("AA,KK", "zz"), "hero-range: range token 'zz'"),
    (CHAINED.replace("QQ,JJ", "AdAh"), "villain-range: every hand is blocked"),
    (f"{CHAINED} --line zz", "line 'zz': no token at 'zz'"),
    (f"{CHAINED} --bet x", "size 'x' is not understood"),
    (f"{CHAINED} --time-limit inf", "--time-limit': inf is not a finite number"),
    (f"{CHAINED} --threads 0", "--threads"),
    (f"{CHAINED} --out folder", "folder: a folder; expected a file to write"),
    (f"{CHAINED} --postflop-line xx", "postflop-line: 'xx' plays 1 streets"),
    (f"{CHAINED} --bundle folder --game game=hu25", "--game: the game is that of --bundle"),
    (f"{CHAINED} --game game.antes=0 --game game.stacks=[1000,1000,1000]", "game.stacks: 3 seats"),
    ("poker-solver solve", "Missing argument 'spot'"),
    ("poker-solver solve none.json", "none.json: No such file or directory"),
    ("poker-solver solve folder", "folder: Is a directory"),
    (f"poker-solver solve {LONG}", "File name too long"),
    ("poker-solver solve loop", "loop: Too many levels of symbolic links"),
    ("poker-solver solve text.txt", "text.txt: not JSON"),
    ("poker-solver solve list.json", "list.json: expected a JSON object"),
    ("poker-solver solve bytes.json", "bytes.json: not JSON"),
    ("poker-solver solve deep.json", "deep.json: not JSON that can be read (nested too deeply)"),
    ("poker-solver solve twice.json", "twice.json: not JSON (the key 'pot' appears twice in one object)"),
    ("poker-solver solve nan.json", "nan.json: not JSON (NaN is no number of JSON)"),
    ("poker-solver solve infinite.json", "infinite.json: rake: inf is not a number"),
    ("poker-solver solve digits.json", "digits.json: not JSON"),
    ("poker-solver solve spot.json --out folder", "folder: a folder; expected a file to write"),
    ("poker-solver solve spot.json --out none/x.json", "none/x.json: its folder does not exist"),
    ("poker-solver solve spot.json --out text.txt/x", "text.txt/x: its folder does not exist"),
    (f"poker-solver solve spot.json --out {LONG}", "File name too long"),
    ("poker-solver solve spot.json --out loop", "loop: Too many levels of symbolic links"),
    ("poker-solver solve spot.json --state folder", "folder: a folder; expected a file to write"),
    ("poker-solver solve spot.json --state text.txt", "text.txt: not a file that --state saved"),
    ("poker-solver solve spot.json --state cut.npz", "cut.npz: not a file that --state saved"),
]

#: What is wrong in a spot file, and the key that the message names.
SPOTS = [
    ({"target_exploitability_pct": -1}, "target_exploitability_pct: -1 is not a number from 0"),
    ({"max_iterations": 0}, "max_iterations: 0 is not a positive number"),
    ({"max_iterations": 1.5}, "max_iterations: 1.5 is not a positive number, whole"),
    ({"max_iterations": 10**30}, "at most 1,000,000,000"),
    ({"time_limit_s": 0}, "time_limit_s: 0 is not a positive number"),
    ({"time_limit_s": True}, "time_limit_s: True is not a positive number"),
    ({"threads": 0}, "threads: 0 is not a positive number"),
    ({"memory_limit_mib": 0}, "memory_limit_mib: 0 is not a positive number"),
    ({"memory_limit_mib": 1e308}, "memory_limit_mib: 1e+308 is not a positive number up to 1e12"),
    ({"memory_limit_mib": 0.001}, "memory: the tree needs"),
    ({"pot": 0}, "pot: 0 chips"),
    ({"pot": 10**12}, "pot: 1000000000000 is not a whole number"),
    ({"stack": None}, "stack: None is not a whole number"),
    ({"board": ""}, "board: 0 cards; accepted: 3 (flop)"),
    ({"board": "Zz2c3d"}, "board: card 'Zz'"),
    ({"board": "QsJh2h8d3c4c"}, "board: board 'QsJh2h8d3c4c' has 6 cards"),
    ({"oop_range": "x"}, "oop_range: range token 'x'"),
    ({"oop_range": "QsQh"}, "oop_range: every hand is blocked"),
    ({"oop_range": "AhKh", "ip_range": "AhKd"}, "ranges: no hand of oop_range can be dealt together"),
    ({"folded_ranges": "22+"}, "folded_ranges: '22+' is no list of ranges"),
    ({"folded_ranges": [5]}, "folded_ranges[0]: 5 is not text"),
    ({"folded_ranges": ["22+", "zz"]}, "folded_ranges[1]: range token 'zz'"),
    ({"folded_ranges": [""]}, "folded_ranges[0]: the range is empty"),
    ({"folded_ranges": ["22+"] * 8}, "folded_ranges: 8 ranges; accepted: up to 7"),
    (
        {"folded_ranges": ["QsQh"]},
        "folded_ranges: with these hands folded no deal of both ranges is possible",
    ),
    ({"bet_sizes": {}}, "bet_sizes.river: no sizes"),
    ({"bet_sizes": 5}, "bet_sizes: 5 is no object with streets"),
    ({"bet_sizes": {"rivr": {"bet": "50%"}}}, "bet_sizes.rivr: unknown street"),
    ({"bet_sizes": {"river": {"bets": "50%"}}}, "bet_sizes.river.oop.bets: unknown key"),
    ({"bet_sizes": {"river": {"bet": "2x"}}}, "size '2x' needs a previous bet"),
    ({"bet_sizes": {"river": {"bet": "0%"}}}, "size '0%' is not positive"),
    ({"bet_sizes": {"river": {"bet": f"{'9' * 5000}%"}}}, "bet_sizes.river.oop.bet: size '999"),
    ({"rake_cap": 10**400}, "rake_cap: 1000"),
    ({"donk_sizes": {"river": 5}}, "donk_sizes.river: 5 is not a text"),
    ({"rake": 1}, "rake: 1 is not a rate"),
    ({"rake_cap": -1}, "rake_cap: -1 is not a number of chips"),
    ({"merging_threshold": 1e9}, "merging_threshold: 1000000000.0"),
    ({"schedule": "x"}, "schedule 'x' is unknown"),
    ({"compress": True, "schedule": "pcfr+"}, "cannot be compressed"),
    ({"locks": [5]}, "locks[0]: 5 is no lock"),
    ({"locks": [{"line": "b7", "strategy": {"x": 1}}]}, "line 'b7': 'b7' is not possible"),
    ({"locks": [{"line": "x/", "strategy": {"x": 1}}]}, "line 'x/': '/' is not possible after x"),
    ({"locks": [{"line": "xx", "strategy": {"x": 1}}]}, "line 'xx': nobody acts there"),
    ({"locks": [{"line": "", "strategy": {}}]}, "do not sum to 1"),
    (
        {"locks": [{"line": "", "strategy": {"x": -1, "b100": 2}}]},
        "locks[0].strategy.x: -1 is not a number from 0 to 1",
    ),
    ({"locks": [{"line": "", "strategy": {"x": 1}, "hands": "zz"}]}, "range token 'zz'"),
    ({"locks": [{"line": "", "strategy": {"x": 1}, "cards": "2c"}]}, "deals 0 cards, got 1"),
    ({"Surprise": 1}, "'Surprise' is no key"),
]

#: With a bundle where BUNDLE stands.
READING = [
    ("chart BUNDLE b7", "line 'b7': 'b7' is not possible after the start; accepted: f c b250"),
    ("chart BUNDLE zz", "line 'zz': no token at 'zz'"),
    ("chart BUNDLE f", "line 'f': nobody acts there"),
    ("chart BUNDLE cx/", "line 'cx/' is not a preflop decision"),
    (f"chart BUNDLE b{'9' * 5000}", "is not possible after the start"),
    ("lines BUNDLE --prefix zz", "prefix 'zz': no line begins with it"),
    ("lines BUNDLE --board AsKs", "board 'AsKs' has 2 cards"),
    ("lines BUNDLE --board 2c3c4c", "board 2c3c4c has no buckets"),
    ("range BUNDLE b7", "line 'b7': 'b7' is not possible"),
    ("range BUNDLE cx/x", "board '' has 0 cards: line 'cx/x' needs 3"),
    ("range BUNDLE c --board 2c3c4c", "line 'c' needs 0"),
    ("diff BUNDLE nowhere", "nowhere: no bundle"),
    ("diff BUNDLE BUNDLE --board 2c3c", "board '2c3c' has 2 cards"),
    ("diff BUNDLE BUNDLE --prefix zz", "prefix 'zz'"),
    (f"{CHAINED.partition(' ')[2]} --bundle BUNDLE --line f", "line: 'f' does not lead to a flop"),
    (f"{CHAINED.partition(' ')[2]} --bundle BUNDLE --raise 1x", "size '1x' is not above the previous bet"),
    (f"{CHAINED.partition(' ')[2]} --bundle BUNDLE --folded zz", "folded_ranges[0]: range token 'zz'"),
]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a good spot and all kinds of bad files."""
    folder = tmp_path_factory.mktemp("desk")
    good = json.dumps(SPOT)
    texts = {
        "spot.json": good,
        "folder/spot.json": good,
        "text.txt": "hello\n",
        "list.json": "[1, 2]",
        "deep.json": '{"a":' * 100_000,
        "twice.json": good.replace('"stack"', '"pot": 7, "stack"'),
        "nan.json": json.dumps(SPOT | {"rake": float("nan")}),
        "infinite.json": json.dumps(SPOT | {"rake": 7}).replace('"rake": 7', '"rake": 1e999'),
        "digits.json": good.replace("200", "9" * 5000),
        "bad_board/spot.json": json.dumps(SPOT | {"board": "Qs"}),
        "bad_range/spot.json": json.dumps(SPOT | {"oop_range": "zz"}),
        "bad_sizes/spot.json": json.dumps(SPOT | {"bet_sizes": {"river": {"bet": "x"}}}),
        "bad_lock/spot.json": json.dumps(SPOT | {"locks": [{"line": "b7", "strategy": {"x": 1}}]}),
        "bad_target/spot.json": json.dumps(SPOT | {"target_exploitability_pct": -1}),
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "empty").mkdir()
    (folder / "bytes.json").write_bytes(b"\xff\xfe\x00")
    (folder / "cut.npz").write_bytes(b"PK\x03\x04 and no more")
    (folder / "loop").symlink_to("loop")
    return folder


@pytest.fixture
def refused(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., None]]:
    """`refused(words, message)`: the command exits with 2 and one line, and the folder is as it was."""

    def check(words: list[str], message: str, code: int = 2) -> None:
        before = _files(desk)
        monkeypatch.setattr("sys.argv", words)
        with pytest.raises(SystemExit) as end:
            COMMANDS[words[0]]()
        error = capsys.readouterr().err
        assert message in error
        assert error.startswith("error: ")
        assert len(error.splitlines()) == 1
        assert end.value.code == code
        assert _files(desk) == before

    def run_nothing(job: object) -> None:
        pytest.fail("the input was accepted")

    on_terminate = signal.getsignal(signal.SIGTERM)  # commands install their own
    monkeypatch.setattr(blueprint, "run_hydra", run_nothing)
    monkeypatch.chdir(desk)
    yield check
    signal.signal(signal.SIGTERM, on_terminate)


def _files(folder: Path) -> dict[str, int]:
    return {str(path): path.lstat().st_mtime_ns for path in folder.rglob("*")}


@pytest.mark.parametrize(("overrides", "message"), OVERRIDES + CONFIG)
def test_the_pipeline_refuses(refused: Callable[..., None], overrides: str, message: str) -> None:
    refused(["blueprint", *shlex.split(overrides)], message)


@pytest.mark.parametrize(("line", "message"), OTHER)
def test_the_other_commands_refuse(refused: Callable[..., None], line: str, message: str) -> None:
    refused(shlex.split(line), message)


@pytest.mark.parametrize(("changes", "message"), SPOTS)
def test_a_spot_file_is_refused(
    refused: Callable[..., None], desk: Path, changes: dict[str, Any], message: str
) -> None:
    (desk / "changed.json").write_text(json.dumps(SPOT | changes))
    refused(["poker-solver", "solve", "changed.json"], message)


@pytest.mark.parametrize(("line", "message"), READING)
def test_reading_a_bundle_refuses(
    refused: Callable[..., None], exported: Path, line: str, message: str
) -> None:
    words = [str(exported) if word == "BUNDLE" else word for word in shlex.split(line)]
    refused(["poker-solver", *words], message)


def test_a_folder_that_is_no_bundle_is_the_machines_fault(refused: Callable[..., None], desk: Path) -> None:
    (desk / "folder" / "manifest.json").write_text("{}")
    try:
        refused(["poker-solver", "chart", "folder"], "folder/manifest.json", code=1)
    finally:
        (desk / "folder" / "manifest.json").unlink()


@pytest.mark.parametrize(
    ("module", "arguments", "message"),
    [
        ("pipelines.blueprint", "=5", "=5: not understood"),
        ("pipelines.blueprint", "--foo", "--foo: unknown flag"),
        (
            "pipelines.blueprint",
            "plan=true game.antes=[0,0] game.stacks=[1000,1000,1000]",
            "game.antes: 2 values for 3 seats",
        ),
        ("pipelines.solve", "spots=bad_board", "bad_board/spot.json: board"),
        ("pipelines.poker_solver", "solve deep.json", "deep.json: not JSON that can be read"),
    ],
)
def test_a_person_sees_one_line(
    run: Callable[..., subprocess.CompletedProcess[str]],
    desk: Path,
    module: str,
    arguments: str,
    message: str,
) -> None:
    before = _files(desk)
    done = run(module, *arguments.split(), cwd=desk)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {message}")
    assert len(done.stderr.splitlines()) == 1
    assert _files(desk) == before
