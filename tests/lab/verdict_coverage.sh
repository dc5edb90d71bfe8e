#!/bin/sh
# scripts/verdict-coverage on one set: the same table again and with two threads, another by another
# seed, and rows that add up; what is no part is refused.
# usage: verdict_coverage.sh SOURCE PROGRAM
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export PROGRAM="$2"
simulate() { sh "$1/scripts/verdict-coverage" --part critical --sets 1 --seed "$2" --threads "$3"; }
simulate "$1" 1 1 >"$folder/first"
simulate "$1" 1 2 >"$folder/again"
simulate "$1" 2 1 >"$folder/other"
cmp "$folder/first" "$folder/again"
if cmp -s "$folder/first" "$folder/other"; then
    echo "verdict-coverage: another seed changes nothing" >&2
    exit 1
fi
# columns from the right: a law or a design may hold a comma
awk -F, 'NR > 1 && ($(NF - 6) + $(NF - 5) + $(NF - 4) != 1 || $(NF - 7) != 1) { print; faults++ }
         END { exit NR < 100 || faults > 0 }' "$folder/first" || {
    echo "verdict-coverage: coverage and misses do not add up" >&2
    exit 1
}
status=0
sh "$1/scripts/verdict-coverage" --part nothing >"$folder/none" 2>&1 || status=$?
[ $status = 64 ]
