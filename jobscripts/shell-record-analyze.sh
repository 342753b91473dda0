#!/bin/bash
set -u

# No batch system, or one that is not listed: copy what is below behind the directives of yours. On one node as it stands.
#
# To change: the program, its ranks, how long it may run if there is a limit, and the modules and the launcher of the MPI
# that it was built with.
PROGRAM=(./app input.nml)
RANKS=4
OUTPUT=replay_$(date +%Y%m%d_%H%M%S)
# module load openmpi replay
LAUNCHER=(mpirun -n "$RANKS")
LIMIT=()                         # (--stop-after 55m)

# Record. A program that has not ended by then is stopped (status 143).
"${LAUNCHER[@]}" replay-record "${LIMIT[@]}" -o "$OUTPUT" "${PROGRAM[@]}"
status=$?

# Complete what was recorded, if launchers were killed before they could.
if [ -d "$OUTPUT/recording" ]; then
    replay-record --finish "$OUTPUT"
fi

# Analyse; the summary is printed, the report is $OUTPUT/trace.cubex.
"${LAUNCHER[@]}" replay-analyze "$OUTPUT"
analysis=$?

# The program's status if it failed, else the analysis's. Stopped before the limit is no failure.
[ "$status" = 143 ] && status=0
exit $((status ? status : analysis))
