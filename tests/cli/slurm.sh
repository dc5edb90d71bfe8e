#!/bin/sh
# `wattle sweep submit` on a real Slurm that is started for it on the loopback, in a folder of its own: an array of
# four, of which one task is killed, one runs out of time and one is cancelled; what is missing submitted again; in
# the end the table of one process. Skipped (77) where Slurm or munge is not installed, or cannot be started.
# usage: slurm.sh WATTLE
set -eu
wattle=$1
for program in munged slurmctld slurmd sbatch; do
    PATH=$PATH:/usr/sbin command -v $program >/dev/null || {
        echo "slurm: skipped, there is no $program"
        exit 77
    }
done
PATH=$PATH:/usr/sbin
folder=$(mktemp -d /tmp/wattle-slurm-XXXXXX)
into="$folder/a sweep's folder"
daemons=

# Whatever happens: jobs, daemons and what is left of either. A job has its working folder in ours.
finish() {
    scancel --me 2>/dev/null || true
    for process in $daemons; do kill "$process" 2>/dev/null || true; done
    for process in $daemons; do wait "$process" 2>/dev/null || true; done
    for entry in /proc/[0-9]*; do
        case $(readlink "$entry/cwd" 2>/dev/null) in
        "$folder"/*) kill -KILL "${entry#/proc/}" 2>/dev/null || true ;;
        esac
    done
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 1' INT TERM

die() {
    printf 'slurm: %s\n' "$*" >&2
    for file in "$folder"/log/* "$into"/logs/*; do
        [ ! -f "$file" ] || { echo "== $file" && tail -n 30 "$file"; } >&2
    done
    exit 1
}

# until_true WHAT COMMAND...: however slow the machine is, within ten minutes.
until_true() {
    what=$1
    tries=6000
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || die "never came: $what"
        sleep 0.1
    done
}

# ---- the cluster ----------------------------------------------------------------------------

mkdir -p "$folder/run" "$folder/log" "$folder/state" "$folder/spool"
chmod 755 "$folder" "$folder/run" "$folder/log"
dd if=/dev/urandom of="$folder/key" bs=128 count=1 2>/dev/null
chmod 400 "$folder/key"
set -- $(/usr/bin/python3 -c 'import socket
both = [socket.socket(), socket.socket()]
for one in both: one.bind(("127.0.0.1", 0))
print(*[one.getsockname()[1] for one in both])')
host=$(hostname -s)
cat >"$folder/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
SlurmctldPort=$1
SlurmdPort=$2
AuthType=auth/munge
AuthInfo=socket=$folder/run/munge.sock,cred_expire=5
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.log
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$folder/slurm.conf"
munged --foreground --force --key-file="$folder/key" --socket="$folder/run/munge.sock" --pid-file="$folder/run/munged.pid" \
    --log-file="$folder/log/munged.log" --seed-file="$folder/run/seed" >"$folder/log/munged.out" 2>&1 &
daemons="$!"
until_true munged test -S "$folder/run/munge.sock"
slurmctld -D -c -f "$SLURM_CONF" >"$folder/log/slurmctld.out" 2>&1 &
daemons="$daemons $!"
slurmd -D -c -f "$SLURM_CONF" >"$folder/log/slurmd.out" 2>&1 &
daemons="$daemons $!"
idle() { [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; }
tries=600
until idle; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || { # without /sys, say
        echo "slurm: skipped, a cluster cannot be started here: $(tail -n 1 "$folder/log/slurmd.out")"
        exit 77
    }
    sleep 0.1
done

# ---- the sweep ------------------------------------------------------------------------------

cd "$folder"
cat >spec.ini <<'END'
[sweep]
experiment = train
task = and:3
length = 30
m = 100
steps = 60
to-end = yes
reps = 32
seed = 1
END
state() { "$wattle" sweep status "$into" --json 2>/dev/null; }
number() { state | sed -n "s/^ *\"$1\": \([0-9]*\),*$/\1/p"; }

# The process of a task of the first array, once it has stored a cell.
find_task() {
    found=
    [ -s "$into/parts/00000$1.db" ] || return 1
    "$wattle" sweep list "$into/parts/00000$1.db" 2>/dev/null | grep -q . || return 1
    # one look at all processes, as the task runs on meanwhile
    for entry in $(LC_ALL=C grep -laP "\\x00run\\x00.*\\x00parts/00000$1\\.db\\x00" /proc/[0-9]*/cmdline 2>/dev/null); do
        entry=${entry%/cmdline}
        [ "$(readlink "$entry/cwd" 2>/dev/null)" != "$into" ] || found=${entry#/proc/}
    done
    [ -n "$found" ]
}

# Stops a task that has stored a cell, and writes its process down.
catch() {
    until_true "task $1" find_task "$1"
    kill -STOP "$found"
    echo "$found" >"task-$1"
}

# the notice is longer than what is left after a few seconds: Slurm sends it at its next look, every 30 s
"$wattle" sweep submit spec.ini --into "$into" --tasks 4 --time 1:00 --mem 100M --sbatch '--signal=B:USR1@55' --json \
    >out 2>err || die "$(cat out err)"
job=$(sed -n 's/^tasks,slurm,1,1,4,\([0-9]*\),.*/\1/p' "$into/jobs.csv")
[ -n "$job" ] || die "no job is written down: $(cat "$into/jobs.csv")"

catch 1 & first=$!
catch 2 & second=$!
catch 3 & third=$!
wait "$first" && wait "$second" && wait "$third" || die "a task was not caught"
kill -KILL "$(cat task-1)"
late=$(cat task-2) # does not come further, and its time runs on
scancel "${job}_3"

# SIGUSR1 waits for it (bit 9) when its time is nearly over
told() { awk '/^ShdPnd:/ { last = substr($2, length($2) - 2, 1); exit !(last ~ /[2367abef]/) }' "/proc/$late/status"; }
until_true 'the signal of the time limit' told
kill -CONT "$late"
queued_again() { grep -q 'stopped, and queued again' "$into/logs/${job}_2.log"; }
until_true 'the requeue' queued_again
queue_is_empty() { [ -z "$(squeue --me -h)" ]; }
until_true 'the end of all jobs' queue_is_empty

# task 2 went on to its end; 1 and 3 did not; what they had was merged all the same
[ "$(number missing)" -gt 0 ] || die "nothing is missing: $(state)"
[ "$(number incomplete)" = 2 ] || die "not two tasks are incomplete: $(state)"
[ -s "$into/report.html" ] || die "there is no page"
count() { "$wattle" sweep status "$1" --json | sed -n 's/^ *"done": \([0-9]*\),*$/\1/p'; }
[ "$(count "$into/parts/000002.db")" = 8 ] || die "task 2 has not all of its cells"
[ "$(count "$into/results.db")" = "$(number done)" ] || die "the merge left cells out"
missing=$(number missing)

# again: what is missing, and no more
"$wattle" sweep submit spec.ini --into "$into" --tasks 2 --json >out 2>err || die "$(cat out err)"
grep -q "\"to_do\": $missing," out || die "not $missing cells are submitted: $(cat out)"
until_true 'the end of the second round' queue_is_empty
[ "$(number missing)" = 0 ] || die "cells are missing: $(state)"
"$wattle" sweep run --quiet spec.ini --store one.db >/dev/null
table() {
    "$wattle" sweep export --quiet "$1" --csv |
        awk -F, 'NR == 1 { while ($++last != "wall_seconds"); } { NF = last - 1; print }'
}
table one.db >one.csv
table "$into/results.db" | cmp - one.csv || die "the tables differ"

# one fit on the tasks of a job, whose number mpirun takes from Slurm: the host's to 1e-9, on two ranks
if [ -f "$(dirname "$wattle")/libwattle_mpi.so" ] && command -v mpirun >/dev/null; then
    fit="fit --model rfa-inf --target mean-power:2 --dim 3 --keys 4 --n 300 --lambda 1e-3 --seed 1"
    cat >fit.sh <<END
#!/bin/sh
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0
exec mpirun --bind-to none "$wattle" $fit --device mpi --verbose --json
END
    # shellcheck disable=SC2086 # words
    "$wattle" $fit --json >host.json
    sbatch --ntasks=2 --output="$folder/fit.json" --error="$folder/log/fit.log" fit.sh >out 2>err || die "$(cat out err)"
    until_true 'the end of the fit' queue_is_empty
    grep -q '2 ranks as 1 x 2' log/fit.log || die "not two ranks: $(cat log/fit.log)"
    for name in train_error loo_error m_sum_squares; do
        awk -v name="\"$name\":" '$1 == name { value[++count] = $2 + 0 }
            END { m = value[1] > 1 ? value[1] : 1; d = value[1] - value[2]
                  exit !(count == 2 && d <= 1e-9 * m && d >= -1e-9 * m) }' host.json fit.json ||
            die "$name differs: $(cat host.json fit.json)"
    done
fi

# what Slurm refuses is told in its words
code=0
"$wattle" sweep submit spec.ini --into refused --tasks 2 --partition none >out 2>err || code=$?
[ "$code" = 69 ] && grep -q 'nvalid partition' err || die "exit $code: $(cat err)"
echo 'slurm: fine'
