#!/bin/sh
# run.sh TARGET CORPUS SECONDS: fuzzes a target from its seeds. What is found along the way is kept
# beside the target, so that the next run goes on from there; a failing input is left there too.
#
# No single allocation may pass 64 MB: an input has at most 64 KB, so that more would have been taken
# from a size the file declares.
set -eu
target=$1 corpus=$2 seconds=$3
found=$target.found
mkdir -p "$found"
exec "$target" -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=1024 \
    -malloc_limit_mb=64 -artifact_prefix="$target.failed-" -print_final_stats=1 -verbosity=0 \
    "$found" "$corpus"
