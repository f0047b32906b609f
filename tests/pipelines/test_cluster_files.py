"""The files a user copies are ones their tools accept."""

from __future__ import annotations

import subprocess
from pathlib import Path

import yaml
from ray.autoscaler._private.util import prepare_config, validate_config

FOLDER = Path(__file__).parents[2] / "scripts" / "cluster"


def test_ray_accepts_the_cluster_file() -> None:
    config = yaml.safe_load((FOLDER / "cluster.yaml").read_text())
    validate_config(prepare_config(config))
    worker = config["available_node_types"]["worker"]["node_config"]
    assert worker["InstanceMarketOptions"] == {"MarketType": "spot"}


def test_the_submit_script_is_sound_shell_and_explains_itself() -> None:
    subprocess.run(["bash", "-n", FOLDER / "submit.sh"], check=True)
    done = subprocess.run([FOLDER / "submit.sh"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "usage: submit.sh PRESET" in done.stderr
