#!/usr/bin/env bash
# A worker of `make grid`, on this machine or as a task of SLURM (ops.grid.worker). Called as
#     worker.sh BIN HEAD REVISION TASK…
# with the programs of an environment, the folder that it works for, what to make a copy of, and tasks, of which SLURM's
# index of the array says which.
bin=$1 head=$2 revision=$3
shift $((3 + ${SLURM_ARRAY_TASK_ID:-0}))
# It ends here where the folder is not mounted, or not ours to write: that of a log is the one sign of it.
exec >>"$head/.grid/logs/${1%%+*}.log" 2>&1 || exit 1
[ -x "$bin/python" ] || { echo "$(hostname): $bin/python is not here: build it with make, or share it" >&2; exit 69; }
cd "$head" || exit 1
export PATH=$bin:$PATH PYTHONPATH=$head:$head/src
exec "$bin/python" -m ops.grid.worker "$revision" "$1"
