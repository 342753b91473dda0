#!/bin/bash
#SBATCH --nodes=2                # nodes of the program
#SBATCH --ntasks-per-node=64     # its ranks on each node
#SBATCH --time=01:00:00          # limit for recording and analysis
#SBATCH --signal=TERM@300        # 5 minutes left: stop, analyse
#SBATCH --output=%x-%j.out       # everything that is printed
#SBATCH --open-mode=append       # also when the job is requeued
set -u

# To change: the program, and the modules and the launcher of the MPI that it was built with.
PROGRAM=(./app input.nml)
OUTPUT=replay_${SLURM_JOB_NAME}_${SLURM_JOB_ID}_${SLURM_RESTART_COUNT:-0}
# module load openmpi replay
# export SLURM_MPI_TYPE=pmix     # for Open MPI; pmi2 for MPICH and Intel MPI

# Record. The signal ends the program (status 143), not this script.
srun replay-record -o "$OUTPUT" "${PROGRAM[@]}"
status=$?

# Complete what was recorded, if launchers were killed before they could.
if [ -d "$OUTPUT/recording" ]; then
    replay-record --finish "$OUTPUT"
fi

# Analyse on the same nodes; the summary is printed, the report is $OUTPUT/trace.cubex.
srun --cpu-bind=none replay-analyze "$OUTPUT"
analysis=$?

# The program's status if it failed, else the analysis's. Stopped by the signal is no failure.
[ "$status" = 143 ] && status=0
exit $((status ? status : analysis))
