# shellcheck shell=bash disable=SC2034
# A Slurm of three nodes on this one machine, for the demo: sourced, run as root. It keeps to its own directory and ports.
#
#   start_cluster DIRECTORY   starts munged, slurmctld and a slurmd for each of n1, n2, n3; sets SLURM_CONF
#   stop_cluster              ends what start_cluster started
#   node_pids NODE            the processes of one node: its slurmd, and what runs there now
# A task on node N gets the environment variables of DIRECTORY/N.env, lines of NAME=VALUE: its drivers, say.

cluster=
cluster_nodes="n1 n2 n3"
cluster_pids=()
declare -A slurmd_pid=()

start_cluster() {
  cluster=$(realpath "$1")
  mkdir -p "$cluster"/{spool,state,log,munge}
  chmod 711 "$cluster/munge"
  cluster_base=$((20000 + RANDOM % 10000))
  # Reads the node's file whenever a task starts; Slurm takes lines of `export NAME=VALUE`.
  printf '%s\n' '#!/bin/sh' "sed -n 's/^[A-Z]/export &/p' '$cluster'/\$SLURMD_NODENAME.env" > "$cluster/prolog"
  chmod +x "$cluster/prolog"
  cat > "$cluster/slurm.conf" <<CONF
ClusterName=demo
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$cluster_base
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/munge/socket,cred_expire=5
ProctrackType=proctrack/pgid
TaskPlugin=task/none
TaskProlog=$cluster/prolog
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmctldTimeout=30
SlurmdTimeout=10
JobRequeue=1
ReturnToService=2
MpiDefault=none
SlurmdParameters=config_overrides
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool/%n
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/%n.pid
SlurmctldLogFile=$cluster/log/slurmctld
SlurmdLogFile=$cluster/log/%n
NodeName=n[1-3] NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=[$((cluster_base + 1))-$((cluster_base + 3))] CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
  export SLURM_CONF=$cluster/slurm.conf
  (umask 077; head -c 128 /dev/urandom > "$cluster/munge/key")
  munged --foreground --force --key-file="$cluster/munge/key" --socket="$cluster/munge/socket" \
    --pid-file="$cluster/munge/pid" --log-file="$cluster/munge/log" --seed-file="$cluster/munge/seed" \
    > "$cluster/log/munged" 2>&1 &
  cluster_pids+=($!)
  start_controller
  local node
  for node in $cluster_nodes; do start_node "$node"; done
  local i
  for ((i = 0; i < 100; i++)); do
    [ "$(sinfo --noheader --Node --format=%T 2> /dev/null | grep -c idle)" = 3 ] && return 0
    sleep 0.2
  done
  echo "Slurm's nodes did not come up: $cluster/log has the reasons" >&2
  return 1
}

start_controller() {
  slurmctld -D > "$cluster/log/slurmctld.out" 2>&1 &
  controller_pid=$!
  cluster_pids+=($!)
}

start_node() {
  touch "$cluster/$1.env"
  slurmd -D -N "$1" > "$cluster/log/$1.out" 2>&1 &
  slurmd_pid[$1]=$!
  cluster_pids+=($!)
}

node_pids() {
  local process parent
  echo "${slurmd_pid[$1]}"
  for process in /proc/[0-9]*; do
    grep -qzx "SLURMD_NODENAME=$1" "$process/environ" 2> /dev/null || continue
    grep -qzxF "SLURM_CONF=$SLURM_CONF" "$process/environ" 2> /dev/null || continue
    parent=$(awk '/^PPid:/ {print $2}' "$process/status" 2> /dev/null) || continue
    echo "${process#/proc/}"
    if grep -qz '^slurmstepd' "/proc/$parent/cmdline" 2> /dev/null; then echo "$parent"; fi
  done | sort -u
}

stop_cluster() {
  local pid node
  [ -n "$cluster" ] || return 0
  for node in $cluster_nodes; do
    for pid in $(node_pids "$node"); do kill -9 "$pid" 2> /dev/null || true; done
  done
  for pid in "${cluster_pids[@]}"; do kill "$pid" 2> /dev/null || true; done
  for pid in "${cluster_pids[@]}"; do wait "$pid" 2> /dev/null || true; done
  cluster=
}
