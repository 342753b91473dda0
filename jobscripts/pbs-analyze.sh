#!/bin/bash
# Nodes, processes and threads: "replay-analyze --plan=pbs DIR" says them.
#PBS -l select=1:ncpus=128:mpiprocs=8:ompthreads=16
# The plan says the time, too.
#PBS -l walltime=00:05:00
# All that is printed goes to one file.
#PBS -j oe
set -u
cd "${PBS_O_WORKDIR:-.}" || exit

# Analyses an experiment that is there, of replay-record or Score-P:
#
#     qsub -v EXPERIMENT=DIR pbs-analyze.sh
#
# To change: the modules of Replay, and the launcher of the MPI that it was built with.
EXPERIMENT=${EXPERIMENT:?the experiment directory is missing: qsub -v EXPERIMENT=DIR pbs-analyze.sh}
# module load openmpi replay
LAUNCHER=(mpiexec)
# LAUNCHER=(mpiexec --ppn 8 --depth 16 --cpu-bind depth)    # PALS, on Cray systems

# A recording that was killed with its job is completed first. The summary is printed, the report is
# $EXPERIMENT/trace.cubex.
"${LAUNCHER[@]}" replay-analyze --finish --threads "${OMP_NUM_THREADS:-1}" "$EXPERIMENT"
