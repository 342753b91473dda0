#!/bin/bash
#SBATCH --nodes=1                # nodes of the program
#SBATCH --ntasks-per-node=64     # its ranks on each node
#SBATCH --time=01:00:00          # limit for recording and analysis
#SBATCH --signal=TERM@300        # 5 minutes left: stop, analyse
#SBATCH --output=%x-%j.out       # everything that is printed
set -u

# Records a program in a container of Apptainer, with Replay from outside. The container needs the C library of GNU, and an MPI
# that the launcher outside can start (as without Replay).
#
# To change: the program, the container, where Replay is installed, and the launcher of the MPI in the container.
PROGRAM=(./app input.nml)
IMAGE=image.sif
REPLAY=/opt/replay
OUTPUT=$PWD/replay_${SLURM_JOB_NAME}_${SLURM_JOB_ID}_${SLURM_RESTART_COUNT:-0}
# export SLURM_MPI_TYPE=pmix     # for Open MPI; pmi2 for MPICH and Intel MPI

# Record. The recorder is loaded inside, so that nothing depends on how Apptainer hands on LD_PRELOAD.
srun apptainer exec --bind "$REPLAY,$PWD" "$IMAGE" \
    "$REPLAY/bin/replay-record" -o "$OUTPUT" "${PROGRAM[@]}"
status=$?

# Complete what was recorded, if launchers were killed before they could.
if [ -d "$OUTPUT/recording" ]; then
    "$REPLAY/bin/replay-record" --finish "$OUTPUT"
fi

# Analyse outside; the summary is printed, the report is $OUTPUT/trace.cubex.
srun --cpu-bind=none "$REPLAY/bin/replay-analyze" "$OUTPUT"
analysis=$?

# The program's status if it failed, else the analysis's. Stopped by the signal is no failure.
[ "$status" = 143 ] && status=0
exit $((status ? status : analysis))
