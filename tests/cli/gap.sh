#!/bin/sh
# scripts/gap on cells of a moment: runs, resumes to the same words, and its fit is right.
# usage: gap.sh SOURCE COMMAND
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export GAP_SET='--set reps=2 --set steps=3 --set validate=3 --set test-samples=50 --set settle=0 --set gap-starts=1'
sh "$1/scripts/gap" "$folder/gap.db" "$2" >"$folder/first"
sh "$1/scripts/gap" "$folder/gap.db" "$2" >"$folder/second"
cmp "$folder/first" "$folder/second"
grep -c '^ *[0-9]* *[0-9]*  -*[0-9.]* (' "$folder/first" | grep -qx 17 || {
    echo "gap: not 8, 4 and 5 sizes" >&2
    exit 1
}
# a = sum f y / sum f^2 over the eight mean gaps of the first kind, to the digits that are shown
awk '/^ *[0-9]+ +[0-9]+  / { f = sqrt(log($1) / $2); fy += f * $3; ff += f * f }
     /^a sqrt\(log/ { shown = $6; exit }
     END { off = fy / ff - shown; exit !(off < 2e-3 && off > -2e-3) }' "$folder/first" || {
    echo "gap: the fit is not that of the gaps" >&2
    cat "$folder/first" >&2
    exit 1
}
# heads of another setting in the same store are not averaged with these
if GAP_SET="$GAP_SET --set steps=4" sh "$1/scripts/gap" "$folder/gap.db" "$2" >/dev/null 2>"$folder/third"; then
    echo "gap: mixes settings" >&2
    exit 1
fi
grep -q 'several settings' "$folder/third"
