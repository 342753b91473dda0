#!/bin/bash
set -u

# Not a job: submits one that records, and one that analyses behind it, however the first one ends.
#
#     ./slurm-chain.sh [OPTIONS OF SBATCH FOR RECORDING] -- PROGRAM [ARGUMENTS]
#     ./slurm-chain.sh --nodes=2 --ntasks-per-node=64 --time=01:00:00 -- ./app input.nml
#
# Between them a small job reads how large the recording has become, and submits the analysis with as many nodes as
# it needs. Prints the numbers of the first two jobs; the third one is in the output of the second.
#
# To change: the modules, the launcher of the program's MPI, what a node has, and the options for small jobs.
# module load openmpi replay
# export SLURM_MPI_TYPE=pmix     # for Open MPI; pmi2 for MPICH and Intel MPI
NODE=${NODE:-128c,8n,256G}       # cores, NUMA domains, memory
SMALL=(--nodes=1 --ntasks=1 --time=00:10:00)

options=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    options+=("$1")
    shift
done
if [ $# -lt 2 ]; then
    echo "usage: $0 [OPTIONS OF SBATCH] -- PROGRAM [ARGUMENTS]" >&2
    exit 2
fi
shift
printf -v program '%q ' "$@"
output=$PWD/replay_$(date +%Y%m%d_%H%M%S)_$$

# Signals reach the program, not the script, 5 minutes before the limit.
recording=$(sbatch --parsable --signal=TERM@300 "${options[@]}" <<JOB
#!/bin/bash
srun replay-record -o '$output' $program
JOB
) || exit
planning=$(sbatch --parsable --dependency="afterany:$recording" "${SMALL[@]}" <<JOB
#!/bin/bash
[ -d '$output/recording' ] && replay-record --finish '$output'
{ echo '#!/bin/bash'; replay-analyze --plan=slurm --node $NODE '$output'; } > '$output.sh' || exit
sbatch '$output.sh'
JOB
) || exit
echo "recording: job $recording, planning: job $planning, experiment: $output"
