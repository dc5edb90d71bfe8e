#!/bin/sh
# Measurements on a GPU where there is none end before they begin: one sentence, exit code 69, and no numbers.
# usage: scripts.sh SOURCE COMMAND    COMMAND finds the fake plugin
set -u
folder=$(mktemp -d /tmp/wattle-scripts-XXXXXX)
trap 'rm -rf "$folder"' EXIT
faults=0

# refuses SCRIPT WORDS..
refuses() {
    FAKE_DEVICE=driver sh "$@" >"$folder/out" 2>"$folder/err"
    code=$?
    if [ "$code" != 69 ] || [ -s "$folder/out" ] || [ "$(cat "$folder/err")" != "wattle: no GPU can be used: no driver" ]; then
        echo "$1 ends with $code and says:" >&2
        cat "$folder/out" "$folder/err" >&2
        faults=1
    fi
}

export WATTLE="$2" PYTHON=false
refuses "$1/bench/gpu/run"
refuses "$1/bench/gpu/recover"
refuses "$1/scripts/and-grid" "$folder/grid.db" 5 "$2"
refuses "$1/scripts/long-curves" "$folder/curves.db" 5 "$2"
refuses "$1/scripts/growth" "$folder/growth" 5 25 "$2"
exit "$faults"
