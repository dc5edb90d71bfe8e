#!/bin/sh
# docs/api.md shows examples/start.c as it is and names every header; README.md shows examples/hello.c.
# usage: api.sh SOURCE
set -eu
cd "$1"
sed -n '/^```c$/,/^```$/p' docs/api.md | sed '1d;$d' | diff - examples/start.c
# its first line, how to compile it, is in the text there
{
    sed 1q examples/hello.c
    sed -n '/^```c$/,/^```$/p' README.md | sed '1d;$d'
} | diff - examples/hello.c
for header in include/wattle/*.h; do
    grep -q "\`wattle/$(basename "$header")\`" docs/api.md || {
        echo "docs/api.md leaves out $header" >&2
        exit 1
    }
done
for name in $(grep -o '`wattle/[a-z_]*\.h`' docs/api.md | tr -d '`' | sort -u); do
    [ -f "include/$name" ] || {
        echo "docs/api.md names $name, which is not there" >&2
        exit 1
    }
done
echo "api: fine"
