#!/bin/sh
# Configuring the plugin: OFF asks for nothing, a compiler that cannot be used is no obstacle to AUTO and one to ON.
# usage: configure.sh SOURCE
set -eu
folder=$(mktemp -d /tmp/wattle-configure-XXXXXX)
trap 'rm -rf "$folder"' EXIT
unset CUDACXX
mkdir "$folder/bin" "$folder/source"
printf '#!/bin/sh\nexit 1\n' >"$folder/bin/nvcc"
chmod +x "$folder/bin/nvcc"
cat >"$folder/source/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(plugin C)
include(GNUInstallDirs)
add_subdirectory($1/cuda plugin)
END
faults=0

# configures CHOICE CODE WORDS
configures() {
    code=0
    rm -rf "$folder/build"
    PATH=$folder/bin:$PATH cmake -S "$folder/source" -B "$folder/build" -DWATTLE_CUDA="$1" >"$folder/said" 2>&1 || code=1
    if [ "$code" != "$2" ] || ! tr -s ' \n' '  ' <"$folder/said" | grep -q "$3"; then
        echo "-DWATTLE_CUDA=$1 ends with $code and not with $2 and '$3':" >&2
        cat "$folder/said" >&2
        faults=1
    fi
}

configures OFF 0 "Configuring done"
configures AUTO 0 "libwattle_cuda.so is not built: $folder/bin/nvcc does not work"
configures ON 1 "CUDA"
configures yes 1 "WATTLE_CUDA must be AUTO, ON or OFF, not yes"
exit "$faults"
