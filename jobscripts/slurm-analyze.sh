#!/bin/bash
#SBATCH --nodes=1                # what "replay-analyze --plan=slurm DIR" says
#SBATCH --ntasks-per-node=8      # processes: one for each NUMA domain
#SBATCH --cpus-per-task=16       # threads of each process
#SBATCH --time=00:05:00          # the plan says it, too
#SBATCH --output=%x-%j.out       # the summary
set -u

# Analyses an experiment that is there, of replay-record or Score-P:
#
#     sbatch slurm-analyze.sh DIR
#
# To change: the modules of Replay, and the launcher of the MPI that it was built with.
EXPERIMENT=${1:?the experiment directory is missing: sbatch slurm-analyze.sh DIR}
# module load openmpi replay
# export SLURM_MPI_TYPE=pmix     # for Open MPI; pmi2 for MPICH and Intel MPI

# A recording that was killed with its job is completed first. The summary is printed, the report is
# $EXPERIMENT/trace.cubex.
threads=${SLURM_CPUS_PER_TASK:-1}
srun --cpus-per-task="$threads" --cpu-bind=cores replay-analyze --finish --threads "$threads" "$EXPERIMENT"
