# Shared by ./quickstart and ./check (POSIX sh, sourced from the repository's root): packages, steps.
# shellcheck shell=sh

name=$(basename "$0")
logs=build/log
mkdir -p "$logs"

say() {
    printf '%s: %s\n' "$name" "$*"
}

# die CODE SENTENCE
die() {
    code=$1
    shift
    printf '%s: %s\n' "$name" "$*" >&2
    exit "$code"
}

# Packages of the given uses ("build test") that are not installed, on one line.
missing_packages() {
    for use in "$@"; do
        sed -n "s/^$use //p" scripts/packages
    done | while read -r package; do
        state=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) || state=
        [ "$state" = "install ok installed" ] || printf '%s ' "$package"
    done
}

# Installs what is missing; without anything missing it needs neither root nor the network.
install_packages() {
    command -v dpkg-query >/dev/null 2>&1 ||
        die 69 "this script knows Debian's packages only; install what scripts/packages lists and use cmake --preset release"
    missing=$(missing_packages "$@")
    [ -z "$missing" ] && return 0
    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif command -v sudo >/dev/null 2>&1; then
        as_root=sudo
    else
        die 69 "these packages are missing and installing them needs root or sudo: $missing"
    fi
    say "installing $missing"
    # shellcheck disable=SC2086 # one word a package
    {
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q &&
            $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
    } >"$logs/packages.log" 2>&1 ||
        die 69 "apt-get could not install $missing; it says why in $logs/packages.log"
}

# build PRESET [CMAKE OPTIONS]: configures and builds; false when it failed, log in $logs.
build() {
    preset=$1
    shift
    say "building $preset"
    cmake --preset "$preset" "$@" >"$logs/build-$preset.log" 2>&1 &&
        cmake --build --preset "$preset" >>"$logs/build-$preset.log" 2>&1
}
