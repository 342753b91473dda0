#!/bin/bash
#SBATCH --array=0-4              # one job for each size
#SBATCH --nodes=4                # enough for the largest size
#SBATCH --ntasks-per-node=64     # ranks on each node
#SBATCH --time=01:00:00          # limit for recording and analysis
#SBATCH --signal=TERM@300        # 5 minutes left: stop, analyse
#SBATCH --output=%x-%A_%a.out    # everything that is printed
set -u

# Records a program with several numbers of ranks, and analyses each run. When all jobs have ended, this compares them:
#
#     replay-analyze scaling_JOB/256 --reference scaling_JOB/{16,32,64,128}/trace.cubex
#
# To change: the program, the sizes, and the modules and the launcher of the MPI that it was built with.
PROGRAM=(./app input.nml)
SIZES=(16 32 64 128 256)
# module load openmpi replay
# export SLURM_MPI_TYPE=pmix     # for Open MPI; pmi2 for MPICH and Intel MPI

ranks=${SIZES[$SLURM_ARRAY_TASK_ID]}
output=scaling_$SLURM_ARRAY_JOB_ID/$ranks
mkdir -p "${output%/*}"
srun --ntasks="$ranks" replay-record -o "$output" "${PROGRAM[@]}"
status=$?
if [ -d "$output/recording" ]; then
    replay-record --finish "$output"
fi
srun --ntasks="$ranks" --cpu-bind=none replay-analyze "$output"
analysis=$?

# The program's status if it failed, else the analysis's. Stopped by the signal is no failure.
[ "$status" = 143 ] && status=0
exit $((status ? status : analysis))
