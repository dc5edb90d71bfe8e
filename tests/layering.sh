#!/bin/sh
# The rules of the house that a compiler does not check.
# usage: layering.sh SOURCE
set -eu
cd "$1"
rooms="base io linalg task model learn theory lab report"
faults=0

complain() {
    printf '%s\n' "$1" >&2
    faults=1
}

# A room includes only itself and rooms before it.
allowed=
for room in $rooms; do
    allowed="$allowed $room"
    [ -d "src/$room" ] || continue
    for file in src/"$room"/*.[ch]; do
        [ -f "$file" ] || continue
        for seen in $(sed -n 's|^ *# *include *"\([a-z]*\)/.*|\1|p' "$file" | sort -u); do
            case " $allowed wattle " in
            *" $seen "*) ;;
            *) complain "$file includes \"$seen/...\", a room after its own" ;;
            esac
        done
    done
done
for path in src/*/; do
    room=$(basename "$path")
    case " $rooms " in
    *" $room "*) ;;
    *) complain "src/$room is no room of the house; see docs/architecture.md" ;;
    esac
done

# Public headers stand alone.
if grep -nE '^ *# *include *"' include/wattle/*.h | grep -v '"wattle/'; then
    complain "a public header includes a private one"
fi
# One loop spawns threads.
if grep -rnE '^ *# *pragma +omp|omp_[a-z_]+ *\(' src cli include | grep -v '^src/base/parallel.c:'; then
    complain "OpenMP is used outside src/base/parallel.c"
fi
# The library never prints, exits, aborts or touches the environment; one file chooses kernels there.
if grep -rnE '(^|[^a-z_])(printf|puts|putchar|perror|exit|_exit|abort|assert|system) *\(|\<(stdout|stderr)\>' src; then
    complain "the library prints or exits"
fi
if grep -rnE '(^|[^a-z])((secure_)?getenv|setenv|unsetenv|putenv|clearenv) *\(' src | grep -v '^src/linalg/openblas.c:'; then
    complain "the environment is used outside src/linalg/openblas.c"
fi
# No file of ours has the number of a stream that the program had closed.
if grep -Pzo 'wt_descriptor_move\(\s*open\((*SKIP)(*F)|[^_a-z>.]f?open\([^\n]*' src/*/*.c | tr '\0' '\n' | grep .; then
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
