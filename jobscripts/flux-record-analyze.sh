#!/bin/bash
# Nodes of the program, and its ranks.
#flux: -N 2
#flux: -n 128
# The limit for recording and analysis.
#flux: -t 1h
# All that is printed goes to one file.
#flux: --output=replay-{{id}}.out
set -u

# To change: the program, its ranks, how long it may run (minutes must be left for the analysis), and the modules of the MPI
# that it was built with. Start it with: flux batch flux-record-analyze.sh
PROGRAM=(./app input.nml)
RANKS=128
STOP_AFTER=55m
OUTPUT=replay_${FLUX_JOB_ID:-job}
# module load openmpi replay
LAUNCHER=(flux run -n "$RANKS")
# LAUNCHER=(flux run -n "$RANKS" -o pmi=pmix)    # Open MPI 5

# Record. A program that has not ended by then is stopped (status 143).
"${LAUNCHER[@]}" replay-record --stop-after "$STOP_AFTER" -o "$OUTPUT" "${PROGRAM[@]}"
status=$?

# Complete what was recorded, if launchers were killed before they could.
if [ -d "$OUTPUT/recording" ]; then
    replay-record --finish "$OUTPUT"
fi

# Analyse on the same nodes; the summary is printed, the report is $OUTPUT/trace.cubex.
"${LAUNCHER[@]}" replay-analyze "$OUTPUT"
analysis=$?

# The program's status if it failed, else the analysis's. Stopped before the limit is no failure.
[ "$status" = 143 ] && status=0
exit $((status ? status : analysis))
