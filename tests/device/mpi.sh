#!/bin/sh
# The command on several processes of this machine: the host's numbers, the same bits again, one voice, and all ranks end.
# usage: mpi.sh WATTLE
set -u
wattle=$1
if [ ! -f "$(dirname "$wattle")/libwattle_mpi.so" ] || ! command -v mpirun >/dev/null; then
    echo "skipped: there is no OpenMPI with ScaLAPACK"
    exit 77
fi
folder=$(mktemp -d /tmp/wattle-mpi-XXXXXX)
trap 'rm -rf "$folder"' EXIT
faults=0
run="mpirun --allow-run-as-root --oversubscribe --bind-to none"
kernel="fit --model brfa-inf --target mean-power:2 --dim 3 --keys 4 --n 300 --test-n 20 --lambda loo"
features="curve --model rfa --target mean-power:2 --dim 3 --keys 4 --heads 90 --n 64,300 --reps 1 --test-n 20 --lambda 1e-3"

complain() {
    printf '%s\n' "$1" >&2
    faults=1
}

# same FILE FILE TOLERANCE: numbers of two JSON files, but for time, bytes and device.
same() {
    python3 - "$@" <<'PYTHON'
import json, sys

def walk(a, b, path):
    if path and path[-1] in ("seconds", "bytes", "device"):
        return
    if isinstance(a, dict):
        assert a.keys() == b.keys(), path
        for key in a:
            walk(a[key], b[key], path + [key])
    elif isinstance(a, list):
        assert len(a) == len(b), path
        for i, (x, y) in enumerate(zip(a, b)):
            walk(x, y, path + [i])
    elif isinstance(a, float):
        assert abs(a - b) <= float(sys.argv[3]) * max(1, abs(a)), (path, a, b)
    else:
        assert a == b, (path, a, b)

walk(*(json.load(open(name)) for name in sys.argv[1:3]), [])
PYTHON
}

# Sums are added in other orders: 1e-9 of what is printed, the condition number too.
for what in kernel features; do
    eval "words=\$$what"
    # shellcheck disable=SC2086 # words
    "$wattle" $words --json >"$folder/host" || complain "$words fails on the host"
    for ranks in 1 4; do
        # shellcheck disable=SC2086
        $run -n $ranks "$wattle" $words --device mpi --json >"$folder/$ranks" || complain "$words fails on $ranks ranks"
        same "$folder/host" "$folder/$ranks" 1e-9 || complain "$words: $ranks ranks differ from the host"
    done
done
# shellcheck disable=SC2086
$run -n 4 "$wattle" $features --device mpi --json >"$folder/again"
same "$folder/4" "$folder/again" 0 || complain "4 ranks differ from themselves"

# The same from Python, where what is drawn before the first call is drawn on all ranks.
cat >"$folder/fit.py" <<'PYTHON'
import json, sys
import wattle
wattle.settings.device = sys.argv[1]
data = wattle.draw("mean-power:2", n=200, dim=4, keys=3, seed=1)
model = wattle.fit(data, model="rfa-inf", penalty=1e-3)
json.dump({"errors": [model.train_error, model.loo_error],
           "predicted": model.predict(data.query, data.keys).ravel().tolist()}, open(sys.argv[2], "x"))
PYTHON
root=$(CDPATH='' cd "$(dirname "$0")/../.." && pwd)
python="env PYTHONPATH=$root/python WATTLE_LIBRARY=$(dirname "$wattle")/libwattle.so.1 /usr/bin/python3"
if $python -c 'import wattle' 2>"$folder/err"; then
    $python "$folder/fit.py" host "$folder/python-host" || complain "Python fails on the host"
    # shellcheck disable=SC2086
    $run -n 3 $python "$folder/fit.py" mpi "$folder/python-mpi" || complain "Python fails on 3 ranks"
    same "$folder/python-host" "$folder/python-mpi" 1e-9 || complain "Python on 3 ranks differs from the host"
else # no numpy, or a library for sanitizers
    echo "left out: Python, as it says $(tail -n 1 "$folder/err")"
fi

# refuse CODE SENTENCE WORDS...: two ranks end with the code, and one of them says the sentence, once.
refuse() {
    code=$1 sentence=$2
    shift 2
    $run -n 2 "$@" >"$folder/out" 2>&1
    ended=$?
    [ "$ended" = "$code" ] || complain "$*: exit code $ended, not $code"
    said=$(grep -c '^wattle:' "$folder/out")
    [ "$said" = 1 ] || complain "$*: $said sentences"
    grep -q "^wattle: .*$sentence" "$folder/out" || complain "$* does not say '$sentence': $(cat "$folder/out")"
}
refuse 64 "unknown option --dimm" "$wattle" fit --dimm 3 --device mpi
refuse 69 "mpi has no engine for norm balls" "$wattle" fit --target mean-power:2 --n 60 --ball 1,2 --device mpi
refuse 70 "memory budget of 3.0 MiB" "$wattle" fit --model rfa-inf --target mean-power:2 --n 900 --mem 3M --device mpi
refuse 64 "rank 2 on .*: the words of the command differ" "$wattle" fit --n 60 --device mpi : -n 1 "$wattle" fit --n 61 --device mpi
cp "$wattle" "$folder/wattle" && printf 'other' >>"$folder/wattle"
cp "$(dirname "$wattle")/libwattle_mpi.so" "$folder"
refuse 64 "rank 2 on .*: another program" "$wattle" fit --n 60 --device mpi : -n 1 "$folder/wattle" fit --n 60 --device mpi
blas=/usr/lib/x86_64-linux-gnu/blas
if [ -f "$blas/libblas.so.3" ]; then # the reference one, where it is beside OpenBLAS
    refuse 69 "ScaLAPACK's BLAS is $blas/libblas.so.3 and not the OpenBLAS" env LD_LIBRARY_PATH="$blas" "$wattle" fit --n 60 --target mean-power:2 --device mpi
fi

# rank_of RANK PARENT: the process of a rank, once it is there.
rank_of() {
    while kill -0 "$2" 2>/dev/null; do
        for process in $(pgrep -P "$2"); do
            if tr '\0' '\n' <"/proc/$process/environ" 2>/dev/null | grep -qx "OMPI_COMM_WORLD_RANK=$1" &&
                grep -q libwattle_mpi "/proc/$process/maps" 2>/dev/null; then
                echo "$process"
                return
            fi
        done
        sleep 0.1
    done
}

# A rank that dies takes all along, and nothing is written.
$run -n 2 "$wattle" fit --model rfa-inf --target mean-power:2 --n 6000 --dim 8 --keys 16 --device mpi \
    -o "$folder/model.safetensors" >"$folder/out" 2>&1 &
launcher=$!
killed=$(rank_of 1 $launcher)
[ -n "$killed" ] && kill -9 "$killed"
wait $launcher
ended=$?
[ "$ended" = 137 ] || complain "a killed rank: exit code $ended, not 137"
[ ! -e "$folder/model.safetensors" ] || complain "a killed rank: a model was written"
[ "$faults" = 0 ] && echo "mpi: fine"
exit "$faults"
