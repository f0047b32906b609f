#!/usr/bin/env bash
# Train on the cluster of cluster.yaml and bring the result home.
#   scripts/cluster/submit.sh standard [key=value ...]
# The job runs on the head node and survives a lost connection; run the same line again after a crash:
# finished stages and checkpoints are in the head's store.
set -euo pipefail
preset=${1:?usage: submit.sh PRESET [key=value ...]}
shift
here=$(dirname "$0")
ray up --yes "$here/cluster.yaml"
ray dashboard "$here/cluster.yaml" & dashboard=$!
trap 'kill "$dashboard"' EXIT
sleep 5
ray job submit --address http://127.0.0.1:8265 -- \
  bash -c "cd ~/blueprint && ~/venv/bin/python -m pipelines.blueprint +preset=$preset cluster=ray $*"
ray rsync-down "$here/cluster.yaml" '~/blueprint/artifacts/store/' artifacts/store/
