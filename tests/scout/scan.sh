#!/bin/sh
# What Scalasca's scan does for the analysis of a trace: starts the analyzer that SCAN_TRACE_ANALYZER names under the launcher, and
# wants its report to be there afterwards (site 4.1). Stands in for scan in tests.
#
#   scan.sh DIR [LAUNCHER ARGUMENTS…]
set -u
directory=$1
shift
name=${SCAN_TRACE_ANALYZER##*/}
report=$directory/${name%%.*}.cubex
# shellcheck disable=SC2086 # several options, or none
"$@" "$SCAN_TRACE_ANALYZER" ${SCAN_ANALYZE_OPTS:-} "$directory/traces.otf2" 2>>"$directory/scout.err" |
    tee -a "$directory/scout.log" >/dev/null
if ! [ -r "$report" ] || ! [ -s "$report" ]; then
    echo "Abort: $directory trace analysis failed!" >&2
    cat "$directory/scout.err" >&2
    exit 4
fi
echo "$directory complete."
