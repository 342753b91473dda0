#!/bin/bash
# Nodes, their cores, and the ranks on each.
#PBS -l select=2:ncpus=64:mpiprocs=64
# The limit for recording and analysis.
#PBS -l walltime=01:00:00
# All that is printed goes to one file.
#PBS -j oe
set -u
cd "${PBS_O_WORKDIR:-.}" || exit

# To change: the program, how long it may run (PBS gives no signal before its limit: leave minutes for the analysis), and
# the modules and the launcher of the MPI that the program was built with.
PROGRAM=(./app input.nml)
STOP_AFTER=55m
OUTPUT=replay_${PBS_JOBNAME:-job}_${PBS_JOBID%%.*}
# module load openmpi replay
LAUNCHER=(mpiexec)
# LAUNCHER=(mpiexec --ppn 64)    # PALS, on Cray systems

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

# The program's status if it failed, else the analysis's. Stopped by the launcher is no failure.
[ "$status" = 143 ] && status=0
exit $((status ? status : analysis))
