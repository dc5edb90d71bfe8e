#!/bin/sh
# `wattle sweep submit` without a Slurm: tasks as processes of this machine, and what sbatch would be told by
# commands that only write down how they were called.
# usage: submit.sh WATTLE
set -eu
wattle=$1
folder=$(mktemp -d /tmp/wattle-submit-XXXXXX)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/here" "$folder/bin"
cd "$folder/here"
into="runs/a folder's \"name\" \$HOME"

die() {
    printf 'submit: %s\n' "$*" >&2
    exit 1
}

# says CODE WORDS COMMAND...: the command ends with the code and one sentence that has the words.
says() {
    wanted=$1
    words=$2
    shift 2
    code=0
    "$@" >out 2>err || code=$?
    [ "$code" = "$wanted" ] && grep -qF -- "$words" err || die "exit $code, not $wanted with '$words': $* said $(cat out err)"
}

# number KEY: of the JSON in `out`.
number() {
    sed -n "s/^ *\"$1\": \([0-9.]*\),*$/\1/p" out
}

# has KEY NUMBER
has() {
    [ "$(number "$1")" = "$2" ] || die "$1 is not $2: $(cat out)"
}

# Every column that does not depend on the clock or the machine.
table() {
    "$wattle" sweep export --quiet "$1" --csv |
        awk -F, 'NR == 1 { while ($++last != "wall_seconds"); } { NF = last - 1; print }'
}

cat >spec.ini <<'END'
[sweep]
experiment = curve
model = rfa,brfa
target = mean-power:2,corr-power:3
dim = 8
keys = 6
heads = 60
n = 32:128:x2
reps = 4
test-n = 400
seed = 9
END
"$wattle" sweep run --quiet spec.ini --store whole.db >/dev/null
table whole.db >whole.csv

# a dry run shows commands and scripts and makes nothing
"$wattle" sweep submit spec.ini --into "$into" --tasks 3 --launcher local --dry-run >out
grep -q 'sweep run sweep.ini --groups' out || die "the dry run shows no script: $(cat out)"
[ ! -e "$into" ] || die "the dry run made a folder"

# tasks of this machine give what one process gives
"$wattle" sweep submit spec.ini --into "$into" --tasks 3 --launcher local --json >out 2>err || die "$(cat out err)"
has done 48
has missing 0
has complete 3
table "$into/results.db" | cmp - whole.csv
[ -s "$into/report.html" ] || die "there is no page"
[ "$(awk '{ print $1 }' "$into/deal-1.txt" | sort -u | wc -l)" = 3 ] || die "not three tasks have groups"

# again there is nothing to do; a wider sweep adds its cells alone
"$wattle" sweep submit spec.ini --into "$into" --tasks 3 --launcher local --json >out
has to_do 0
"$wattle" sweep submit spec.ini --into "$into" --tasks 3 --launcher local --set reps=5 --json >out 2>err || die "$(cat out err)"
has done 60
has tasks 5 # the two groups that are new, on a task each
sed 's/^reps = 4/reps = 5/' spec.ini >wider.ini
"$wattle" sweep run --quiet wider.ini --store wider.db >/dev/null
table wider.db >wider.csv
table "$into/results.db" | cmp - wider.csv

# a store that is lost, or was begun and no more, is made up for
rm -rf lost && "$wattle" sweep submit spec.ini --into lost --tasks 3 --launcher local >/dev/null 2>err
rm lost/results.db lost/parts/000001.db
: >lost/parts/000002.db
code=0
"$wattle" sweep status lost --json >out 2>err || code=$?
[ "$code" = 1 ] || die "missing cells are no failure"
has complete 1
has incomplete 2
"$wattle" sweep submit spec.ini --into lost --tasks 2 --launcher local --json >out 2>err || die "$(cat out err)"
has missing 0
table lost/results.db | cmp - whole.csv

# one that is damaged in the midst is left out, and the others are merged
cp -r lost broken && rm broken/results.db
size=$(wc -c <broken/parts/000003.db)
dd if=/dev/urandom of=broken/parts/000003.db bs=1024 seek=4 count=$((size / 1024 - 5)) conv=notrunc 2>/dev/null
code=0
"$wattle" sweep merge broken --json >out 2>err || code=$?
[ "$code" = 0 ] && grep -q 'parts/000003.db is left out' err || die "exit $code: $(cat out err)"
added=$(number added)
[ "$added" -gt 0 ] && [ "$added" -lt 48 ] || die "not the other stores are merged: $(cat out)"
"$wattle" sweep submit spec.ini --into broken --tasks 2 --launcher local --json >out 2>err || die "$(cat out err)"
has missing 0
[ "$(number resubmitted)" -ge 1 ] || die "no task is told to have been taken over: $(cat out)"
table broken/results.db | cmp - whole.csv

# a task that runs out of time goes on from what it has; on a quick machine it takes more cells to run out
reps=12
while :; do
    cat >long.ini <<END
[sweep]
experiment = train
task = and:3
length = 30
m = 100
steps = 60
to-end = yes
reps = $reps
seed = 1
END
    rm -rf long long.db
    "$wattle" sweep run --quiet long.ini --store long.db >/dev/null
    "$wattle" sweep submit long.ini --into long --tasks 1 --launcher local --time 2 --json >out 2>err || die "$(cat out err)"
    has missing 0
    ! grep -q 'running again does the rest' long/logs/000001.log || break
    [ "$reps" -lt 10000 ] || die "it was not stopped: $(cat long/logs/000001.log)"
    reps=$((2 * reps))
done
table long.db >long.csv
table long/results.db | cmp - long.csv

# Ctrl-C: all is kept, the exit code is that of what goes on. A shell ignores SIGINT for what runs beside it.
sed 's/^reps = .*/reps = 4000/' long.ini >endless.ini
"$wattle" sweep submit endless.ini --into endless --tasks 2 --launcher local >out 2>err &
process=$!
until [ -s endless/parts/000001.db ] && [ "$("$wattle" sweep status endless/parts/000001.db --json 2>/dev/null | sed -n 's/.*"done": \([0-9]*\).*/\1/p')" ]; do
    kill -0 "$process" 2>/dev/null || die "it ended by itself: $(cat out err)"
    sleep 0.05
done
says 73 'one writer at a time' "$wattle" sweep submit endless.ini --into endless --tasks 2 --launcher local
kill -TERM "$process"
code=0
wait "$process" || code=$?
[ "$code" = 75 ] || die "exit $code after SIGTERM: $(cat out err)"

# ---- what Slurm is told ---------------------------------------------------------------------

# Commands that write down their words, one a line.
cat >"$folder/bin/sbatch" <<'END'
#!/bin/sh
for word; do printf '%s\n' "$word"; done >>"$CALLS"
echo ---- >>"$CALLS"
case " $* " in *" --partition=none "*)
    echo 'sbatch: error: Batch job submission failed: Invalid partition name specified' >&2
    exit 1
esac
last=$(cat "$CALLS.last" 2>/dev/null || echo 100)
echo $((last + 1)) | tee "$CALLS.last"
END
printf '#!/bin/sh\necho "MaxArraySize            = 4"\n' >"$folder/bin/scontrol"
printf '#!/bin/sh\ncat "$CALLS.queue" 2>/dev/null || true\n' >"$folder/bin/squeue"
printf '#!/bin/sh\necho "Slurm accounting storage is disabled" >&2\nexit 1\n' >"$folder/bin/sacct"
chmod +x "$folder"/bin/*
export CALLS="$folder/calls"
usual=$PATH

says 69 'is not installed: jobs are submitted where Slurm is' env PATH=/nowhere "$wattle" sweep submit spec.ini --into none --tasks 2 --sbatch=--nice
[ ! -e none ] || die "a folder was made where there is no Slurm"
PATH="$folder/bin:$usual"
says 69 'Invalid partition name' "$wattle" sweep submit spec.ini --into refused --tasks 2 --partition none
says 64 'ends within quotes' "$wattle" sweep submit spec.ini --into none --tasks 2 --sbatch "--comment='a"
says 64 "there is no device 'gpu'" "$wattle" sweep submit spec.ini --into none --tasks 2 --device gpu
says 64 'needs --into FOLDER and --tasks N' "$wattle" sweep submit spec.ini --tasks 2
says 65 'is a directory' "$wattle" sweep status "$folder/bin"

# arrays of at most three, as indexes are below 4; words as they were given
rm -f "$CALLS"
"$wattle" sweep submit spec.ini --into "$into 2" --tasks 8 --throttle 2 --time 2:00:00 --cpus 2 --mem 1G --gpus 1 \
    --partition 'p q' --sbatch "--comment='two words' --nice" --json >out 2>err || die "$(cat out err)"
has tasks 8
for word in '--array=1-3%2' '--array=1-2%2' '--time=2:00:00' '--cpus-per-task=2' '--mem=1048576K' '--gres=gpu:1' \
    '--partition=p q' '--comment=two words' '--nice' '--signal=B:USR1@120' '--requeue' '--open-mode=append' \
    "--chdir=$folder/here/$into 2" "$folder/here/$into 2/task.sh" '--dependency=afterany:101' \
    '--dependency=afterany:101:102:103'; do
    grep -qxF -- "$word" "$CALLS" || die "sbatch was not told '$word': $(cat "$CALLS")"
done
[ "$(grep -c '^----$' "$CALLS")" = 4 ] || die "not three arrays and a merge: $(cat "$CALLS")"
grep -q -- '--workers 2 --mem [0-9]* --device cuda' "$into 2/task.sh" || die "$(cat "$into 2/task.sh")"

# what is in the hands of tasks is not submitted again; what ended is
printf '101 1 RUNNING\n101 2 PENDING\n101 3 PENDING\n104 N/A PENDING\n' >"$CALLS.queue"
"$wattle" sweep status "$into 2" --json >out 2>err || die "$(cat out err)"
has active 3
has RUNNING 1
has incomplete 5
"$wattle" sweep submit spec.ini --into "$into 2" --tasks 100 --json >out 2>err || die "$(cat out err)"
has under_way 18
has to_do 30
has tasks 5
grep -qxF -- '--dependency=afterany:105:106:104' "$CALLS" || die "the merge does not wait for the last: $(cat "$CALLS")"
says 73 'tasks of another sweep are under way' "$wattle" sweep submit wider.ini --into "$into 2" --tasks 2

# where Slurm does not answer, the stores tell, and nothing is submitted twice
printf '#!/bin/sh\necho "slurm_load_jobs error: Unable to contact slurm controller" >&2\nexit 1\n' >"$folder/bin/squeue"
says 1 'the stores alone' "$wattle" sweep status "$into 2"
says 69 'Unable to contact' "$wattle" sweep submit spec.ini --into "$into 2" --tasks 2
echo 'submit: fine'
