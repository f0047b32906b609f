"""Every preset composes, and every mistake is one line that names the key."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

import conf
from pipelines.config.composition import check_sweep, compose_config, split_flags
from pipelines.config.machine import largest_object_store_mb
from pipelines.config.trainable import check_trainable, fitted_to_seats, heads_up_game
from pipelines.run.errors import UserError
from solver.betting.tree import game_tree

FOLDER = Path(conf.__file__).parent
PRESETS = sorted(path.stem for path in (FOLDER / "preset").glob("*.yaml"))


def test_the_presets_are_those_the_readme_names() -> None:
    assert PRESETS == ["accurate", "coarse100", "coarse200", "coarse25", "fast", "smoke", "standard"]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("game", [None, "hu25", "hu100", "hu200"])
def test_every_preset_composes_with_every_game(preset: str, game: str | None) -> None:
    config = compose_config([f"+preset={preset}", *([f"game={game}"] if game else [])])
    assert config.preset == preset
    if game:
        assert config.game.name == game


@pytest.mark.parametrize(
    ("group", "option"),
    [(p.parent.name, p.stem) for p in sorted(FOLDER.glob("*/*.yaml")) if p.parent.name != "preset"],
)
def test_every_option_of_every_group_composes(group: str, option: str) -> None:
    boards = ["solver.boards=medoids"] if (group, option) == ("abstraction", "smoke") else []
    assert compose_config([f"{group}={option}", *boards]).seed >= 0


def test_the_presets_have_the_sizes_of_the_design() -> None:
    sizes = {name: compose_config([f"+preset={name}"]) for name in PRESETS}
    assert [sizes[p].abstraction.textures for p in ("fast", "standard", "accurate")] == [50, 20, 20]
    assert [sizes[p].abstraction.buckets.flop for p in ("fast", "standard", "accurate")] == [500, 400, 1000]
    assert [sizes[p].abstraction.buckets.river for p in ("fast", "standard", "accurate")] == [500, 200, 200]
    assert [sizes[p].abstraction.scope for p in ("fast", "standard", "accurate")] == [
        "global",
        "texture",
        "texture",
    ]
    assert [sizes[p].dcfr.iterations for p in ("standard", "accurate")] == [25000, 25000]
    for stack in (25, 100, 200):
        coarse = sizes[f"coarse{stack}"]
        assert coarse.game.stacks == [stack * 100, stack * 100]
        assert coarse.game.bet_sizes["river"] == {"bet": "50%,100%,200%", "raise": "2.5x"}
        assert 50 <= coarse.abstraction.buckets.flop <= 80
        assert 80 <= coarse.abstraction.buckets.turn <= 120
        assert 100 <= coarse.abstraction.buckets.river <= 150


MISTAKES = [
    ("foo=1", "foo: unknown key"),
    ("+game.foo=1", "game.foo: unknown key"),
    ("game=hu7", "game: 'hu7' is not accepted: one of hu100, hu200, hu25"),
    ("+preset=fats", "preset: 'fats' is not accepted: one of accurate"),
    ("preset=fast", "preset: give a preset as +preset=NAME"),
    ("seed", "seed: not understood"),
    ("seed=-1", "seed: -1 is not accepted"),
    ("seed=x", "seed: 'x' is not accepted"),
    ("plan=7", "plan: 7 is not accepted"),
    ("game.stacks=[-5,10000]", "game.stacks[0]: -5 is not a whole number"),
    ("game.stacks=[10000,90]", "game.stacks[1]: 90 is not accepted: more than ante and big blind"),
    ("game.stacks=[10000]", "game.stacks: 1 seats; accepted: 2 to 9"),
    ("game.small_blind=200", "game.big_blind: 100 is not positive and at least the small blind 200"),
    ("game.big_blind=200", "game.big_blind: 200 is not accepted: 100"),
    ("game.antes=[0,0,0]", "game.antes: 3 values for 2 seats"),
    ("game.straddle=150", "game.straddle: 150 is below two big blinds"),
    ("game.raise_sizes=['1.5']", "game.raise_sizes[0]"),
    ("game.raise_sizes=['2.5','1.2x']", "game.raise_sizes[1]"),
    ("game.over_limp_sizes='1.5'", "game.over_limp_sizes"),
    ("game.over_limp_sizes='3x,b'", "game.over_limp_sizes"),
    ("game.over_limp_sizes=true", "game.over_limp_sizes: True is not accepted"),
    ("game.raise_sizes=[]", "game.raise_sizes: no menu"),
    ("game.bet_sizes.flop.bet=half", "game.bet_sizes.flop"),
    ("game.bet_sizes.turn.bet=2.5x", "game.bet_sizes.turn"),
    ("game.bet_sizes.river.raise=0%", "game.bet_sizes.river"),
    ("+game.bet_sizes.preflop.bet=50%", "game.bet_sizes.preflop: unknown street"),
    ("game.rake=1.5", "game.rake: 1.5 is not a rate"),
    ("game.no_flop_no_drop=3", "game.no_flop_no_drop: 3 is not true or false"),
    ("game.donk_sizes=5", "game.donk_sizes: 5 is not a table of streets"),
    ("~game.name", "game.name: missing"),
    ("+lcfr.foo=1", "lcfr.foo: unknown key"),
    ("abstraction.textures=1756", "abstraction.textures: 1756 is not accepted"),
    ("abstraction.buckets.flop=0", "abstraction.buckets.flop: 0 is not accepted"),
    ("abstraction.opponent_buckets.turn=-1", "abstraction.opponent_buckets.turn: -1 is not accepted"),
    ("abstraction.buckets.river=65001", "abstraction.buckets.river: 65001 is not accepted"),
    ("abstraction.features=sift", "abstraction.features: 'sift' is not accepted: 'ehs' or 'emd'"),
    ("abstraction.turn_transitions=none", "abstraction.turn_transitions: 'none' is not accepted"),
    (
        "abstraction.boards=medoids",
        "abstraction.boards: 'medoids' is not accepted: all, unless solver.boards",
    ),
    (
        "solver.opponent=perfect",
        "solver.opponent: 'perfect' is not accepted: 'river_best_response' or 'abstract'",
    ),
    (
        "solver.showdown=bucket",
        "solver.showdown: 'bucket' is not accepted: exact with solver.opponent=river_best_response, which responds by "
        "hand",
    ),
    ("solver.showdown=maybe", "solver.showdown: 'maybe' is not accepted: 'exact' or 'bucket'"),
    ("dcfr.alpha=0", "dcfr.alpha: 0 is not accepted: greater than 0"),
    ("dcfr.schedule=cfr+", "dcfr.schedule: 'cfr+' is not accepted"),
    ("solver.batch=0", "solver.batch: 0 is not accepted: at least 1"),
    ("lcfr.iterations=-1", "lcfr.iterations: -1 is not accepted"),
    ("cluster.num_cpus=0", "cluster.num_cpus: 0 is not accepted"),
    ("cluster.address=auto", "cluster.address: 'auto' is not accepted: null unless cluster=ray"),
    ("tracking.uri=ftp://x", "tracking.uri: 'ftp://x' is not accepted"),
    ("store.root=", "store.root: '' is not accepted"),
]


@pytest.mark.parametrize(("override", "message"), MISTAKES)
def test_a_mistake_is_one_line_that_names_the_key(override: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        compose_config([override])
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_a_menu_of_one_size_may_be_a_number() -> None:
    game = compose_config(["game.raise_sizes=[2,3x,a]", "game.over_limp_sizes=3.5"]).game.game_config()
    assert game.raise_sizes == ("2", "3x", "a")
    assert game.over_limp_sizes == "3.5"


def test_one_number_serves_every_seat() -> None:
    game = compose_config(["game.stacks=2500", "game.antes=10"]).game.game_config()
    assert (game.stacks, game.antes) == ((2500, 2500), (10, 10))


def test_every_key_of_the_solver_is_a_key_of_the_configuration() -> None:
    config = compose_config(["game.no_flop_no_drop=true", "game.rake=0.05", "game.rake_cap=40"])
    tree = game_tree(config.game.game_config(), last_street=0)
    assert tree.rake_of(tree.node_at("f")) == 0.0
    assert tree.rake_of(tree.node_at("cx")) == 10.0


def test_the_id_of_a_game_is_that_of_earlier_runs() -> None:
    ids = {name: compose_config([f"game={name}"]).game.id for name in ("hu25", "hu100", "hu200")}
    assert ids == {"hu25": "hu25-def4da", "hu100": "hu100-776b71", "hu200": "hu200-1e28a2"}
    assert compose_config(["game.rake=0"]).game.id == ids["hu100"]
    assert compose_config(["game.rake=0.01"]).game.id != ids["hu100"]
    assert compose_config(["game.no_flop_no_drop=true"]).game.id != ids["hu100"]


def test_more_buckets_than_sampled_points_are_refused() -> None:
    with pytest.raises(
        UserError, match=r"abstraction\.buckets\.flop: 5000 .* at most abstraction\.sample, 2000"
    ):
        compose_config(["abstraction.buckets.flop=5000", "abstraction.sample=2000"])


def test_river_equity_alone_cannot_make_two_thousand_buckets() -> None:
    with pytest.raises(
        UserError, match=r"abstraction\.buckets\.river: 2000 .* at most 1900 with features=ehs"
    ):
        compose_config(["abstraction.buckets.river=2000", "abstraction.features=ehs"])
    assert compose_config(["abstraction.buckets.river=1900", "abstraction.features=ehs"])


def test_a_sweep_is_checked_job_by_job_before_it_starts() -> None:
    assert check_sweep(["+preset=smoke", "seed=1,2,3", "game=hu25,hu100"]) == 6
    with pytest.raises(UserError, match="seed: -2"):
        check_sweep(["+preset=smoke", "seed=1,-2"])


def test_flags_of_hydra_are_told_from_overrides() -> None:
    assert split_flags(["--cfg", "job", "seed=1", "--help"]) == ({"--cfg", "--help"}, ["seed=1"])


def test_flags_that_hydra_would_refuse_are_one_line() -> None:
    for arguments in (
        ["--foo"],
        ["--cfg", "nope"],
        ["--multi"],
        ["--config-dir", "x"],
        ["--cfg", "job", "-m"],
    ):
        with pytest.raises(UserError) as error:
            split_flags(arguments)
        assert "\n" not in str(error.value)
    assert split_flags(["-m", "seed=1,2"]) == ({"-m"}, ["seed=1,2"])


@pytest.mark.parametrize(
    "uri",
    [
        "http://tracker:5000",
        "https://user:word@tracker/mlflow",
        "postgresql+psycopg2://user@db/mlflow",
        "mysql://user@db/mlflow",
        "databricks",
        "databricks://profile",
        "sqlite:///runs.db",
        "sqlite:///new/store/mlflow.db",
    ],
)
def test_every_backend_of_mlflow_may_record_runs(
    uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert compose_config([f"tracking.uri='{uri}'", "store.root=new/store"]).tracking.uri == uri


def test_runs_may_be_recorded_in_a_database_that_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with sqlite3.connect("runs.db") as database:
        database.execute("create table runs (id integer)")
    assert compose_config(["tracking.uri=sqlite:///runs.db", "tracking.artifacts=plots"]).tracking.artifacts


def test_games_of_three_seats_are_trained_but_not_solved_exactly() -> None:
    config = compose_config(["game.stacks=[1000,1000,1000]"])
    assert game_tree(config.game.game_config(), last_street=0).num_seats == 3
    check_trainable(config)
    with pytest.raises(UserError, match=r"^game\.stacks: 3 seats; accepted: 2"):
        heads_up_game(config)


@pytest.mark.parametrize("game", ["three_max25", "six_max100", "nine_max100"])
def test_every_game_of_several_seats_can_be_trained(game: str) -> None:
    check_trainable(compose_config(["+preset=smoke", f"game={game}"]))


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_can_be_trained(preset: str) -> None:
    check_trainable(compose_config([f"+preset={preset}"]))


def test_the_machine_bounds_a_local_cluster_only() -> None:
    most = largest_object_store_mb()
    assert compose_config([f"cluster.object_store_mb={most}"]).cluster.object_store_mb == most
    with pytest.raises(UserError, match=rf"object_store_mb: .* 80 to {most}, the memory"):
        compose_config([f"cluster.object_store_mb={most + 1}"])
    with pytest.raises(UserError, match=rf"num_cpus: 99999 .* 1 to {os.cpu_count()}, the cores"):
        compose_config(["cluster.num_cpus=99999"])
    assert compose_config(["cluster=ray", "cluster.num_cpus=99999"]).cluster.num_cpus == 99999


@pytest.mark.parametrize(
    ("overrides", "street", "boards"),
    [
        (["+preset=smoke"], "flop", 8),
        (["+preset=smoke"], "river", 72),
        (["+preset=smoke", "abstraction.scope=texture"], "flop", 1),
        (["+preset=smoke", "abstraction.scope=texture"], "turn", 24),
        (["abstraction=standard"], "flop", 87),
        (["abstraction=standard"], "turn", 87 * 49),
    ],
)
def test_the_boards_that_share_a_set_of_buckets_are_bounded(
    overrides: list[str], street: str, boards: int
) -> None:
    assert compose_config(overrides).abstraction.boards_of_smallest_set(street) == boards


def test_several_seats_share_the_buckets_of_all_textures() -> None:
    asked = compose_config(["+preset=standard", "game=six_max100"])
    fitted = fitted_to_seats(asked).abstraction
    assert asked.abstraction.scope == "texture"
    assert (fitted.scope, fitted.textures) == ("global", asked.abstraction.textures)
    assert set(fitted.buckets.model_dump().values()) == {500}
    for same in (["+preset=standard"], ["+preset=fast", "game=six_max100"]):
        config = compose_config(same)
        assert fitted_to_seats(config) == config
