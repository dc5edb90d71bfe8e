#!/bin/sh
# Installs a build to an empty prefix and uses it as a stranger would.
# usage: install.sh SOURCE BUILD
set -eu
source=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

fail() {
    echo "install: $*" >&2
    exit 1
}

cmake --install "$build" --prefix "$prefix" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
libdir=$(dirname "$(find "$prefix" -name libwattle.so)")
export PKG_CONFIG_PATH="$libdir/pkgconfig"

for file in bin/wattle include/wattle/wattle.h share/man/man1/wattle.1 \
    share/man/man1/wattle-help.1 share/bash-completion/completions/wattle \
    share/zsh/site-functions/_wattle share/fish/vendor_completions.d/wattle.fish; do
    [ -s "$prefix/$file" ] || fail "$file is missing"
done
[ -s "$libdir/libwattle.a" ] || fail "libwattle.a is missing"

# shared, by pkg-config, with the line of README
cp "$source/examples/hello.c" "$work"
(cd "$work" && eval "$(grep '^cc hello.c ' "$source/README.md")" && ./hello >shared.out)
grep -q '^wattle [0-9.]* on [0-9]* threads: ' "$work/shared.out" || fail "hello printed: $(cat "$work/shared.out")"

# static, by pkg-config: the private lines must bring all that is needed
# shellcheck disable=SC2046
cc "$source/examples/hello.c" $(pkg-config --cflags wattle) "$libdir/libwattle.a" \
    $(pkg-config --static --libs wattle | sed 's/-lwattle//') -o "$work/static"
"$work/static" >"$work/static.out"
cmp -s "$work/shared.out" "$work/static.out" || fail "static and shared hello disagree"
# shellcheck disable=SC2046
cc "$source/examples/fit.c" $(pkg-config --cflags wattle) "$libdir/libwattle.a" \
    $(pkg-config --static --libs wattle | sed 's/-lwattle//') -o "$work/static-fit"
"$work/static-fit" >"$work/static-fit.out" || fail "the static fit example fails"
readelf -d "$work/static" | grep -q libwattle && fail "the static program loads libwattle.so"

# shared, by CMake
cmake -G Ninja -S "$source/examples" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 &&
    cmake --build "$work/cmake" >>"$work/log" 2>&1 || fail "find_package: $(tail -5 "$work/log")"
"$work/cmake/hello" >"$work/cmake.out"
cmp -s "$work/shared.out" "$work/cmake.out" || fail "the CMake-built hello disagrees"
"$work/cmake/start" "$work/layer.safetensors" | grep -q '^F(X) = ' && [ -s "$work/layer.safetensors" ] ||
    fail "the start example fails"
"$work/cmake/fit" >"$work/fit.out" || fail "the fit example fails"
cmp -s "$work/fit.out" "$work/static-fit.out" || fail "static and shared fit disagree"
grep -q '^lambda .*: leave-one-out error 0\.[0-9]*, test error 0\.' "$work/fit.out" || fail "fit printed: $(cat "$work/fit.out")"
"$work/cmake/threshold" >"$work/threshold.out" || fail "the threshold example fails"
[ "$(grep -c '^length [0-9]*: fitted m [0-9.]*, between ' "$work/threshold.out")" = 3 ] &&
    grep -q '^log: slope ' "$work/threshold.out" || fail "threshold printed: $(cat "$work/threshold.out")"
mkdir "$work/store"
"$work/cmake/results" "$work/store" >"$work/results.out" || fail "the results example fails"
[ "$(grep -c '^rfa n [0-9]*: test error 0\.[0-9]* (.*), 4 repetitions$' "$work/results.out")" = 3 ] &&
    grep -q '^claim 1\.1: ' "$work/results.out" && [ "$(wc -l <"$work/store/results.csv")" = 13 ] &&
    grep -q '<h1>' "$work/store/report.html" || fail "results printed: $(cat "$work/results.out")"

# OpenBLAS is opened at first use: linked, it would load before its kernels can be chosen.
for file in "$libdir/libwattle.so" "$prefix/bin/wattle" "$work/static"; do
    readelf -d "$file" | grep -iE 'NEEDED.*(blas|lapack|clp)' && fail "$file is linked with a BLAS"
done
version=$(pkg-config --modversion wattle)
[ "$("$prefix/bin/wattle" --version | sed -n '1s/^wattle \([^ ]*\) .*/\1/p')" = "$version" ] &&
    grep -q "^wattle $version " "$work/shared.out" || fail "the command, the library and wattle.pc differ in version"
readelf -d "$libdir/libwattle.so" | grep -q "SONAME.*\[libwattle\.so\.${version%%.*}\]" || fail "no SONAME of $version"

# What the headers declare is what the library exports.
printf '#include "wattle/wattle.h"\n' | cc -std=c17 -E -P -I"$prefix/include" -x c - | tr '\n' ' ' |
    sed 's/__attribute__ *((format([^)]*)))//g; s/__attribute__ *((visibility("default")))//g; s/[;{}]/\n/g' |
    sed -n '/^ *typedef/d; s/^[^(]*[ *]\(wt_[a-z0-9_]*\) *(.*/\1/p' | sort -u >"$work/declared"
nm -D --defined-only "$libdir/libwattle.so" | awk '{print $3}' | sort -u >"$work/exported"
diff "$work/declared" "$work/exported" >"$work/differ" ||
    fail "declared (<) and exported (>) functions differ: $(grep '^[<>]' "$work/differ")"
for header in "$prefix"/include/wattle/*.h; do
    name=wattle/$(basename "$header")
    [ "$name" = wattle/wattle.h ] || grep -q "\"$name\"" "$prefix/include/wattle/wattle.h" ||
        fail "wattle.h leaves out $name"
    printf '#include "%s"\n' "$header" |
        cc -std=c17 -Wall -Wextra -Wpedantic -Werror -I"$prefix/include" -x c -fsyntax-only - ||
        fail "$header does not stand alone"
done
printf '#include <wattle/wattle.h>\n' | clang++ -std=c++20 -Wall -Wextra -Werror -I"$prefix/include" -x c++ -fsyntax-only - ||
    fail "the headers are no C++"
echo "install: fine"
