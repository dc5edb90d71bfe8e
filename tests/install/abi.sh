#!/bin/sh
# scripts/abi lets a library grow, and refuses what would break programs.
# usage: abi.sh SOURCE
set -eu
abi=$1/scripts/abi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/include/wattle"
header=$work/include/wattle/base.h
cat >"$header" <<'END'
#include <stddef.h>
typedef struct wt_thing wt_thing;
typedef enum wt_kind { WT_KIND_A, WT_KIND_B } wt_kind;
typedef struct wt_pair {
    double a, b;
} wt_pair;
typedef struct wt_options {
    size_t size;
    int first, second;
} wt_options;
/* The library makes it; it may grow at its end. */
typedef struct wt_note {
    int line;
} wt_note;
int wt_open(const wt_options *options, wt_kind kind, wt_thing **out);
const wt_note *wt_note_at(int index);
int wt_measure(const wt_thing *thing, wt_pair *out);
END
cp "$header" "$work/header"
cat >"$work/source.c" <<'END'
#include "wattle/base.h"
struct wt_thing { int inside; };
int wt_open(const wt_options *options, wt_kind kind, wt_thing **out) { static wt_thing one; *out = &one; return options->first + (int)kind; }
const wt_note *wt_note_at(int index) { static wt_note note; note.line = index; return &note; }
int wt_measure(const wt_thing *thing, wt_pair *out) { out->a = thing->inside; return 0; }
END
cp "$work/source.c" "$work/source"

# try EXPECTED WHAT [SED COMMAND...]: compares a library changed so, in headers and source.
try() {
    expected=$1 what=$2
    shift 2
    cp "$work/header" "$header"
    cp "$work/source" "$work/source.c"
    for change in "$@"; do
        sed -i "$change" "$header" "$work/source.c"
    done
    cc -g -fPIC -shared -Wl,-soname,libx.so.1 -I"$work/include" "$work/source.c" -o "$work/libx.so"
    [ "$expected" = reference ] && return
    found=fine
    "$abi" compare "$work/libx.so" "$work/include" "$work/reference.gz" >"$work/log" 2>&1 || found=broken
    [ "$found" = "$expected" ] || {
        cat "$work/log" >&2
        echo "abi: $what is $found, not $expected" >&2
        exit 1
    }
}

try reference "the library itself"
"$abi" compare "$work/libx.so" "$work/include" "$work/reference.gz" 2>"$work/log" && exit 1
grep -q "there is no .*reference.gz" "$work/log"
"$abi" write "$work/libx.so" "$work/include" "$work/reference.gz" >/dev/null

try fine "nothing"
try fine "a function more" '$a int wt_more(void);' 's/^struct.*/& int wt_more(void) { return 1; }/'
try fine "an enumerator more" 's/WT_KIND_B }/WT_KIND_B, WT_KIND_C }/'
try fine "a member at the end of options" 's/int first, second;/& double third;/'
try fine "a member at the end of what the library makes" 's/int line;/& int column;/'
try fine "a member of an opaque struct" 's/{ int inside; }/{ double before; int inside; }/'
try broken "a member at the end of a plain struct" 's/double a, b;/double a, b, c;/'
try broken "a member in the middle of options" 's/int first, second;/int first; double third; int second;/'
try broken "another type of a member" 's/int first, second;/int first; float second;/'
try broken "enumerators in another order" 's/WT_KIND_A, WT_KIND_B/WT_KIND_B, WT_KIND_A/'
try broken "an argument more" 's/wt_measure(const wt_thing \*thing,/& int deep,/'
try broken "a function less" '/wt_measure/d'
PATH=/nonexistent /bin/sh "$abi" 2>"$work/log" && exit 1
grep -q "abigail-tools" "$work/log"
echo "abi: fine"
