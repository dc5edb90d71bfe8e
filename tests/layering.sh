#!/bin/sh
# The rules of the house that a compiler does not check.
# usage: layering.sh SOURCE
set -eu
cd "$1"
foundations="base io linalg device"
wings="features layer network"
halls="lab report" # over all wings
rooms="task model learn theory" # of every wing
faults=0

complain() {
    printf '%s\n' "$1" >&2
    faults=1
}

# The folders that a file includes private headers from: "base", "features/model".
included() {
    sed -n 's|^ *# *include *"\([a-z]*\(/[a-z]*\)\{0,1\}\)/[^/]*".*|\1|p' "$1" | sort -u
}

# check FOLDER ALLOWED: the files of a folder include only from the folders allowed.
check() {
    for file in src/"$1"/*.[ch]; do
        [ -f "$file" ] || continue
        for seen in $(included "$file"); do
            case " $2 wattle " in
            *" $seen "*) ;;
            *) complain "$file includes \"$seen/...\", a room it may not know" ;;
            esac
        done
    done
}

# Data flows one way: a room includes only itself and rooms before it, a wing no other wing.
allowed=
for room in $foundations; do
    allowed="$allowed $room"
    check "$room" "$allowed"
done
over=$allowed
for wing in $wings; do
    within=$allowed
    for room in $rooms; do
        within="$within $wing/$room"
        check "$wing/$room" "$within"
    done
    over="$over $within"
done
for room in $halls; do
    over="$over $room"
    check "$room" "$over"
done
for path in $(find src -mindepth 1 -type d | sed 's|^src/||'); do
    known=" $foundations $wings $halls"
    for wing in $wings; do
        for room in $rooms; do
            known="$known $wing/$room"
        done
    done
    case "$known " in
    *" $path "*) ;;
    *) complain "src/$path is no room of the house; see docs/architecture.md" ;;
    esac
done
for file in $(find src -mindepth 2 -maxdepth 2 -name '*.[ch]'); do
    case " $wings " in
    *" $(basename "$(dirname "$file")") "*) complain "$file lies in a wing but in no room of it" ;;
    esac
done

# Public headers stand alone.
if grep -nE '^ *# *include *"' include/wattle/*.h | grep -v '"wattle/'; then
    complain "a public header includes a private one"
fi
# The command is a client of the library: public headers and its own.
for file in cli/*.[ch]; do
    for header in $(sed -n 's|^ *# *include *"\([^"]*\)".*|\1|p' "$file"); do
        case $header in
        wattle/*.h | commit.h) ;;
        */*) complain "$file includes \"$header\", a private header of the library" ;;
        *) [ -f "cli/$header" ] || complain "$file includes \"$header\", which is not the command's own" ;;
        esac
    done
done
# Enumerators of public types bear their type's name; those of wt_status stand in every line.
if awk '
    /^typedef enum [a-z0-9_]+ *[{]/ { type = $3; inside = 1 }
    inside {
        line = $0
        gsub("/[*][^*]*[*]/", "", line)
        if (comment && line !~ /[*][/]/) line = ""
        if (comment && sub(".*[*]/", "", line)) comment = 0
        if (sub("/[*].*", "", line)) comment = 1
        count = split(line, words, /[^A-Za-z0-9_]+/)
        for (i = 1; i <= count; i++)
            if (words[i] ~ /^WT_/ && type != "wt_status" && index(words[i], toupper(type) "_") != 1)
                print FILENAME ": " words[i] " of " type
        if (line ~ /[}]/) inside = 0
    }' include/wattle/*.h | grep .; then
    complain "an enumerator of a public type has another prefix than its type"
fi
# The walks of the page lead through files that are there.
for file in $(grep -oE '`(src|cli)/[a-z0-9_/]+\.[ch]`' docs/architecture.md | tr -d '`'); do
    [ -f "$file" ] || complain "docs/architecture.md walks through $file, which is not there"
done
# One loop spawns threads.
if grep -rnE '^ *# *pragma +omp|(pthread|thrd)_create *\(' src include | grep -v '^src/base/team.c:'; then
    complain "threads are started outside src/base/team.c"
fi
# The library never prints, exits, aborts or touches the environment; one file chooses kernels there.
if grep -rnE '(^|[^a-z_])(printf|puts|putchar|perror|exit|_exit|abort|assert|system) *\(|\<(stdout|stderr)\>' src; then
    complain "the library prints or exits"
fi
if grep -rnE '(^|[^a-z])((secure_)?getenv|setenv|unsetenv|putenv|clearenv) *\(' src | grep -v '^src/linalg/openblas.c:'; then
    complain "the environment is used outside src/linalg/openblas.c"
fi
# No file of ours has the number of a stream that the program had closed.
if grep -Pzo 'wt_descriptor_move\(\s*open\((*SKIP)(*F)|[^_a-z>.]f?open\([^\n]*' $(find src -name '*.c') | tr '\0' '\n' | grep .; then
    complain "a file is opened past wt_descriptor_move"
fi
# Words for people go through cli_print, which keeps control characters of others off the terminal.
string='"(?:[^"\\]|\\.)*'
if grep -Pzo "(?<![a-z_])v?printf\((?:[^;\"]|$string\")*$string%[-0-9.*]*s" cli/*.c | tr '\0' '\n' | grep .; then
    complain "text is printed past cli_print"
fi
# All memory goes through the account; base makes the account itself.
if grep -rnE '(^|[^a-z_])(malloc|calloc|realloc|aligned_alloc|strdup) *\(' src | grep -vE '^src/base/(memory|context).c:'; then
    complain "memory is allocated past the account (use wt_allocate)"
fi
[ "$faults" = 0 ] && echo "layering: fine"
exit "$faults"
