#!/bin/sh
# The Python package as strangers install it: by `cmake --install` into an empty prefix, and by pip, offline,
# into a virtual environment. Each finds its own library, and fits.
# usage: python.sh SOURCE BUILD PYTHON
set -eu
source=$1
build=$2
python=$3
unset PYTHONPATH WATTLE_LIBRARY
export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "python: $*" >&2
    exit 1
}

cat >use.py <<'TEXT'
import sys
import wattle as wt

model = wt.fit(target="mean-power:2", n=50, dim=4, keys=4, heads=10)
with open("/proc/self/maps") as maps:
    library = {line.split()[-1] for line in maps if "libwattle" in line}
print(wt.__version__, model.train_error, *library)
sys.exit(not all(path.startswith(sys.argv[1]) for path in [wt.__file__, *library]))
TEXT

cmake --install "$build" --prefix "$work/prefix" >log 2>&1 || fail "$(cat log)"
PYTHONPATH=$(dirname "$(find "$work/prefix" -path '*/dist-packages/wattle')") "$python" use.py "$work/prefix" >cmake.out 2>log ||
    fail "an installed package: $(cat cmake.out log)"
[ -z "$(find "$work/prefix" -name '__pycache__' -o -name '*.pyc')" ] || fail "bytecode is installed"

# pip leaves its work in the folder of the sources: a copy of them
mkdir tree
cp -r "$source/python" tree/
"$python" -m venv --system-site-packages venv >log 2>&1 || fail "$(cat log)"
export WATTLE_LIBRARY="$build/libwattle.so.1"
venv/bin/pip install --no-build-isolation --no-index ./tree/python >log 2>&1 || fail "pip: $(tail -5 log)"
unset WATTLE_LIBRARY
venv/bin/python use.py "$work/venv" >pip.out 2>log || fail "a package by pip: $(cat pip.out log)"
[ "$(cut -d ' ' -f 1,2 cmake.out)" = "$(cut -d ' ' -f 1,2 pip.out)" ] || fail "$(cat cmake.out pip.out) differ"
venv/bin/pip uninstall -y wattle >log 2>&1 || fail "$(cat log)"
echo "python: fine"
