#!/bin/sh
# A Slurm cluster of one node with a Munge of its own, below the directory $1, with the ports $2 and $3. It runs until
# standard input ends: the process that has started it is gone then. All its processes are killed in the end, jobs
# included, and the directory is removed. It needs neither root nor systemd nor control groups, and touches no other Slurm.
#
#   tests/slurm/cluster.sh /tmp/one 20001 20002      # end of input, such as Ctrl-D, ends it
#   SLURM_CONF=/tmp/one/slurm.conf sinfo
set -u
PATH=$PATH:/usr/sbin:/sbin
directory=$1
user=$(id -un)
host=$(uname -n | cut -d. -f1)
# Far more than any test needs: the process at the other end of the input may hang.
limit=1800

# Processes of the cluster: what works in the directory, as slurmd and slurmstepd do, or has it in its environment, as jobs
# do. The title that slurmstepd gives itself lies over its environment.
processes() {
    for process in /proc/[0-9]*; do
        case $(readlink "$process/cwd") in
            "$directory" | "$directory"/*) echo "${process#/proc/}" ;;
            *) grep -qzFx "REPLAY_TEST_CLUSTER=$directory" "$process/environ" && echo "${process#/proc/}" ;;
        esac
    done 2>/dev/null
}

# Again, as long as there are any: one may have started another meanwhile.
kill_all() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        left=$(processes)
        [ -n "$left" ] || return 0
        # shellcheck disable=SC2086 # several numbers
        kill -KILL $left 2>/dev/null
        sleep 0.1
    done
}

# start LOG COMMAND…: starts a daemon.
start() {
    log=$directory/log/$1
    shift
    (cd "$directory" && REPLAY_TEST_CLUSTER=$directory SLURM_CONF=$directory/slurm.conf exec "$@") \
        >"$log" 2>&1 </dev/null &
}

umask 022
for part in state spool log munge tmp; do
    mkdir -p "$directory/$part" || exit
done
(umask 077 && head -c 128 /dev/urandom >"$directory/munge/key") || exit

# config_overrides: the node claims processors that it does not have. TmpFS: the plugin for PMIx makes directories there that are
# named by the job alone, and leaves them when it is killed; the first job of the next cluster would not start.
cat >"$directory/slurm.conf" <<END || exit
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=$2
SlurmdPort=$3
AuthType=auth/munge
AuthInfo=socket=$directory/munge/socket
CredType=cred/munge
StateSaveLocation=$directory/state
SlurmdSpoolDir=$directory/spool
TmpFS=$directory/tmp
SlurmctldPidFile=$directory/slurmctld.pid
SlurmdPidFile=$directory/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MailProg=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=16 RealMemory=4096 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=01:00:00 State=UP OverSubscribe=YES
END

start munged munged --foreground --key-file="$directory/munge/key" --socket="$directory/munge/socket" \
    --pid-file="$directory/munge/pid" --log-file="$directory/munge/log" --seed-file="$directory/munge/seed"
start slurmctld slurmctld -D
start slurmd slurmd -D
timeout "$limit" cat >/dev/null
kill_all
rm -rf "$directory"
