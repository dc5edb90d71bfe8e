#!/bin/sh
# What scripts/deb and scripts/deb-check refuse, each with one sentence. scripts/deb-check tries what they make.
# usage: deb.sh SOURCE
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GIT_CEILING_DIRECTORIES="$work" GIT_CONFIG_GLOBAL=/dev/null
mkdir -p "$work/tree/scripts" "$work/bin"
cp "$1"/scripts/deb "$1"/scripts/deb-check "$1"/scripts/setup.sh "$1"/scripts/packages "$work/tree/scripts/"
echo /build/ >"$work/tree/.gitignore"
cd "$work/tree"

# refuses CODE SENTENCE COMMAND...
refuses() {
    expected=$1 sentence=$2
    shift 2
    code=0
    "$@" >"$work/out" 2>"$work/said" || code=$?
    [ "$code" = "$expected" ] && [ "$(wc -l <"$work/said")" = 1 ] && grep -q "$sentence" "$work/said" && return
    echo "deb: '$*' ends with $code, not $expected: $(cat "$work/said")" >&2
    exit 1
}

refuses 64 '^usage: scripts/deb ' scripts/deb one two
refuses 64 '^usage: scripts/deb ' scripts/deb --help
refuses 64 '^usage: scripts/deb-check' scripts/deb-check DIR
refuses 66 'take a clone' scripts/deb
git init -q
refuses 66 'take a clone' scripts/deb
git add .
git -c user.name=a -c user.email=a@b.example commit -q -m first
echo "# changed" >>scripts/packages
refuses 65 'commit or stash' scripts/deb
git checkout -q scripts/packages
touch new
refuses 65 'commit or stash' scripts/deb
rm new

# A machine without the packages, for a user who cannot install any; then without git.
for tool in sh env sed basename dirname mkdir realpath git; do
    ln -s "$(command -v "$tool")" "$work/bin/"
done
printf '#!/bin/sh\nexit 1\n' >"$work/bin/dpkg-query"
printf '#!/bin/sh\necho 1000\n' >"$work/bin/id"
chmod +x "$work/bin/dpkg-query" "$work/bin/id"
refuses 69 'packages are missing and installing them needs root or sudo: .*debhelper' env PATH="$work/bin" scripts/deb
refuses 69 'by root only' env PATH="$work/bin" scripts/deb-check
rm "$work/bin/git"
refuses 66 'there is no git' env PATH="$work/bin" scripts/deb
echo "deb: fine"
