"""From a command line to a checked `Config`: Hydra composes, the schema checks, errors are one line."""

from __future__ import annotations

import argparse
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from hydra import compose, initialize_config_module
from hydra._internal.utils import get_args_parser
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Quote, QuotedString
from hydra.errors import HydraException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from pipelines.config.default_store import default_store
from pipelines.config.schema import Config, check
from pipelines.config.trainable import check_trainable
from pipelines.run.errors import UserError

CONFIG_MODULE = "conf"
CONFIG_NAME = "config"
_FLAGS_WITH_VALUE = ("--cfg", "-c", "--package", "-p", "--info", "-i", "--config-dir", "-cd")
# Of `conf/store`: the place depends on the folder in which a command runs.
OmegaConf.register_new_resolver("default_store", default_store, replace=True)


def config_from(hydra_config: DictConfig) -> Config:
    """Resolve interpolations and check against the schema."""
    try:
        data: Any = OmegaConf.to_container(hydra_config, resolve=True)
    except OmegaConfBaseException as error:
        raise UserError(f"{error.full_key or 'configuration'}: {_one_line(error)}") from None
    return check(data)


def compose_config(overrides: Sequence[str] = ()) -> Config:
    """The `Config` that `python -m pipelines.blueprint OVERRIDES` would run.

    >>> compose_config(["+preset=smoke"]).abstraction.textures
    8
    """
    for override in overrides:
        if re.match(r"[+~]*=", override):  # Hydra takes it for a group without a name
            raise UserError(_not_understood(override))
    GlobalHydra.instance().clear()
    try:
        with initialize_config_module(CONFIG_MODULE, version_base="1.3"):
            composed = compose(CONFIG_NAME, overrides=list(overrides))
    except (HydraException, OmegaConfBaseException) as error:
        raise UserError(_one_line(error)) from None
    except Exception as error:
        # Our own files compose, so what else Hydra stumbles over is in the overrides; it has no one class for it.
        raise UserError(f"{' '.join(overrides)}: not understood ({_one_line(error)})") from None
    return config_from(composed)


def split_flags(arguments: Sequence[str]) -> tuple[set[str], list[str]]:
    """Hydra's flags and the overrides of a command line.

    >>> split_flags(["--cfg", "job", "+preset=fast"])
    ({'--cfg'}, ['+preset=fast'])
    """
    _check_flags(arguments)
    flags: set[str] = set()
    overrides: list[str] = []
    takes_value = False
    for argument in arguments:
        if argument.startswith("-"):
            flags.add(argument)
            takes_value = argument in _FLAGS_WITH_VALUE
        elif takes_value:
            takes_value = False
        else:
            overrides.append(argument)
    return flags, overrides


def printed_resolved(arguments: Sequence[str]) -> list[str]:
    """A command line on which `--cfg job` prints values, such as the store in use, rather than where they are from.

    >>> printed_resolved(["--cfg", "job", "seed=7"])
    ['--cfg', 'job', 'seed=7', '--resolve']
    """
    words = list(arguments)
    asked = {"--cfg=job"} & set(words) or ("job" in words and {"--cfg", "-c"} & set(words))
    return [*words, "--resolve"] if asked and "--resolve" not in words else words


def quoted_override(key: str, value: str) -> str:
    """An override whose value is taken as it is, whatever characters it has.

    >>> quoted_override("store.root", "my runs/[1]")
    "store.root='my runs/[1]'"
    """
    return f"{key}={QuotedString(value, Quote.single).with_quotes()}"


def _check_flags(arguments: Sequence[str]) -> None:
    """Refuse flags that Hydra would refuse: it prints its usage or a traceback."""
    parser = get_args_parser()
    parser.exit_on_error = False
    parser.allow_abbrev = False
    try:
        given, unknown = parser.parse_known_args(list(arguments))
    except argparse.ArgumentError as error:
        raise UserError(f"{error}; --hydra-help lists the flags") from None
    for argument in unknown:
        if argument.startswith("-"):
            raise UserError(f"{argument}: unknown flag; --hydra-help lists the accepted ones")
        raise UserError(f"{argument}: write flags before all overrides, or behind them")
    # The check of the configuration reads `conf/` alone, so what is run must do the same.
    for key in ("config_path", "config_name", "config_dir", "experimental_rerun", "shell_completion"):
        if getattr(given, key):
            raise UserError(
                f"--{key.replace('_', '-')}: not accepted here; change the configuration by key=value"
            )
    if (given.resolve or given.package) and not (given.cfg or given.help):
        raise UserError(f"--{'resolve' if given.resolve else 'package'}: goes with --cfg job only")
    if sum(map(bool, (given.run, given.multirun, given.cfg, given.info))) > 1:
        raise UserError("flags: give one of --run, --multirun, --cfg and --info")


def check_sweep(overrides: Sequence[str]) -> int:
    """Check every job of a sweep (`-m seed=1,2`) before the first one starts; return how many there are."""
    jobs = 0
    for job in _sweep_jobs(overrides):
        check_trainable(compose_config(job))
        jobs += 1
    return jobs


def _sweep_jobs(overrides: Sequence[str]) -> Iterator[list[str]]:
    choices: list[list[str]] = []
    try:
        for override in OverridesParser.create().parse_overrides(list(overrides)):
            if override.is_sweep_override():
                key = override.get_key_element()
                choices.append([f"{key}={value}" for value in override.sweep_string_iterator()])
            else:
                choices.append([override.input_line or ""])
    except OverrideParseException as error:
        raise UserError(_one_line(error)) from None
    except HydraException as error:  # glob(*) chooses among the files of a group
        raise UserError(f"{override.input_line}: not understood ({_one_line(error)})") from None
    return (list(job) for job in itertools.product(*choices))


def _one_line(error: Exception) -> str:
    """Hydra explains itself over several lines; keep the key, what was found and what is accepted."""
    text = str(error)
    if match := re.search(r"Could not find '(?P<group>.+)/(?P<option>[^/']*)'", text):
        options = re.findall(r"^\t(?!provider|path)(\S+)$", text, re.M)
        return f"{match['group']}: {match['option']!r} is not accepted: one of {', '.join(options)}"
    if match := re.search(r"Could not override '(?P<key>.+)'\. No match in the defaults list", text):
        return f"{match['key']}: give a {match['key']} as +{match['key']}=NAME"
    if match := re.search(r"Could not override '(?P<key>.+)'", text):
        return f"{match['key']}: unknown key; `--cfg job` prints the accepted ones"
    if match := re.search(r"(Ambiguous value for argument|Sweep parameters) '(?P<override>.+)'", text):
        return f"{match['override']}: several values; a sweep needs -m, a list is written key=[1,2]"
    if isinstance(error, OverrideParseException):
        return _not_understood(error.override)
    return next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)


def _not_understood(override: str) -> str:
    return f"{override or repr('')}: not understood; overrides are key=value, for example seed=7"
