#!/bin/sh
# Records a Jacobi solver that sends its borders late, analyzes it, and shows what came out; then the same solver that
# sends them early, and how much less it waits. Writes to target/demo-record only.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tools/environment.sh
. tools/environment.sh

if [ -z "$REPLAY_MPIRUN" ]; then
    echo "There is no MPI to record a program with: see the README."
    exit 1
fi
programs=$(cd "$CARGO_TARGET_DIR/release" && pwd)
record=$programs/replay-record
analyze=$programs/replay-analyze
demo=target/demo-record
rm -rf $demo
mkdir -p $demo
"$MPICC" -g -O2 -Imeasurement/include -o $demo/jacobi tests/programs/jacobi.c -lm
cd $demo

# Ranks that share a core do not wait for each other alone. MPICH never gives a core away while it waits.
case $flavour in
    ompi*) unbound="--bind-to none" ;;
    *) unbound= ;;
esac

# waiting FILE: the seconds in the line "waiting for others" of a summary.
waiting() { sed -n 's/.*% *\([0-9.]*\) s  waiting for others$/\1/p' "$1"; }

# Other programs on this machine make ranks wait, too: of three runs each, the one counts that waits least.
for sends in late early; do
    echo "\$ replay-record --sample 200 -o $sends mpirun -n 2 ./jacobi $sends 40 16000"
    for run in ${sends}_1 ${sends}_2 ${sends}_3; do
        # shellcheck disable=SC2086 # several words, or none
        "$record" --sample 200 -o "$run" "$REPLAY_MPIRUN" -n 2 $unbound ./jacobi $sends 40 16000 >"$run.out" 2>"$run.err"
        "$analyze" "$run" >"$run.txt" 2>/dev/null
        if [ "$run" = ${sends}_1 ] || awk "BEGIN { exit !($(waiting "$run.txt") < $(waiting $sends.txt)) }"; then
            rm -rf $sends
            mv "$run" $sends
            for file in txt out err; do sed "s/$run/$sends/" "$run.$file" >$sends.$file; done
        fi
        rm -rf "$run" "$run".*
    done
    cat $sends.out $sends.err
    echo "\$ replay-analyze $sends"
    [ $sends = early ] || cat $sends.txt
    echo
done
late=$(waiting late.txt)
early=$(waiting early.txt)
echo "Waiting for others: $late s where borders are sent late, $early s where they are sent early."
awk "BEGIN { exit !($early < $late) }"
