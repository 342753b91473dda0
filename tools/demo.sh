#!/bin/sh
# Analyzes a Score-P trace that ships with the project, alone and with two processes, compares the two reports, and shows
# what came out. Writes to target/demo only.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tools/environment.sh
. tools/environment.sh

trace=tests/archives/imbalance_chain.4
analyze=$CARGO_TARGET_DIR/release/replay-analyze
demo=target/demo
rm -rf $demo
mkdir -p $demo

echo "\$ replay-analyze $trace"
"$analyze" -o $demo/trace.cubex $trace >$demo/summary.txt

if [ -n "$REPLAY_MPIRUN" ]; then
    echo
    echo "\$ mpirun -n 2 replay-analyze $trace"
    "$REPLAY_MPIRUN" -n 2 "$analyze" -o $demo/mpirun.cubex $trace >$demo/summary.mpirun.txt
    cmp $demo/trace.cubex $demo/mpirun.cubex
    echo
    echo "The two reports are the same, byte for byte."
else
    echo
    echo "Without MPI there is no second run to compare with."
fi
cat $demo/summary.txt
