#!/bin/bash
# Nodes of the program.
#BSUB -nnodes 2
# The limit for recording and analysis.
#BSUB -W 1:00
# The signal before the limit, and the minutes that are left then.
#BSUB -wa TERM
#BSUB -wt 5
# All that is printed goes to one file.
#BSUB -o %J.out
set -u

# To change: the program, its ranks, and the modules of the MPI that it was built with.
PROGRAM=(./app input.nml)
RANKS=84                         # 42 on each node
OUTPUT=replay_${LSB_JOBNAME:-job}_${LSB_JOBID:-0}
# module load spectrum-mpi replay
LAUNCHER=(jsrun -n "$RANKS" -a 1 -c 1)
# LAUNCHER=(mpirun -n "$RANKS")

# The signal comes to this script as well, which must go on.
trap : TERM

# Record. The program is stopped by the signal (status 143), and in any case 5 minutes before the limit.
"${LAUNCHER[@]}" replay-record --stop-after 55m -o "$OUTPUT" "${PROGRAM[@]}"
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
