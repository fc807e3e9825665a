#!/usr/bin/env bash
# A worker of `make grid`, on this machine or as a task of SLURM: a clean clone of one revision, in which the stages of
# some runs are made (ops.grid.worker). Called as
#     worker.sh BIN HEAD REVISION CACHE TASK…
# with the programs of an environment, the folder to clone, the folder of DVC's cache, and tasks, of which SLURM's index of
# the array says which.
set -euo pipefail
bin=$1 head=$2 revision=$3 cache=$4
shift $((4 + ${SLURM_ARRAY_TASK_ID:-0}))
task=$1
node=${SLURMD_NODENAME:-$(hostname)}

# It ends here where the folder is not mounted, or not ours to write: that of a log is the one sign of it.
exec >>"$head/.grid/logs/${task%%+*}.log" 2>&1
[ -x "$bin/python" ] || { echo "$node: $bin/python is not here: build it with make, or share it" >&2; exit 69; }
clone=$(mktemp -d "${TMPDIR:-/tmp}/strata-worker-XXXXXX")
trap 'rm -rf "$clone"' EXIT
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null  # no hooks of the user's
git clone --quiet --shared --no-checkout "$head" "$clone"
cd "$clone"
# remote/ holds what the cache has already.
git sparse-checkout set --no-cone '/*' '!/remote/'
git checkout --quiet --detach "$revision"
export PATH=$bin:$PATH PYTHONPATH=$clone:$clone/src
exec "$bin/python" -m ops.grid.worker "$head" "$cache" "$task"
