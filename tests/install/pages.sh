#!/bin/sh
# The man pages are without fault and the completions load, in the shells that are here.
# usage: pages.sh BUILD
set -eu
pages=$1/generated

mandoc -T lint -W warning "$pages"/man/*.1
bash -c 'set -eu; source "$1"; complete -p wattle' bash "$pages/completions/wattle" >/dev/null

# what bash offers for the last of the words
offers() {
    wanted=$1
    shift
    offered=$(bash -c '
        source "$1"
        shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _wattle
        echo "${COMPREPLY[*]}"' bash "$pages/completions/wattle" "$@")
    [ "$offered" = "$wanted" ] || {
        echo "bash offers '$offered' for $*, not '$wanted'" >&2
        exit 1
    }
}
wattle=$1/wattle
offers "man markdown" "$wattle" help --format m
offers help "$wattle" hel
offers "run retry" "$wattle" sweep r
cd "$pages"
offers man "$wattle" sweep run ma
offers man "$wattle" fit --output = ma
if command -v zsh >/dev/null; then
    zsh -n "$pages/completions/_wattle"
    zsh -fc 'autoload -U compinit; compinit -D; source $1; [[ $_comps[wattle] == _wattle ]]' zsh \
        "$pages/completions/_wattle"
fi
if command -v fish >/dev/null; then
    fish -n "$pages/completions/wattle.fish"
    PATH=$1:$PATH HOME=/nonexistent fish --no-config -c 'source $argv[1]; complete -C "wattle hel"' \
        "$pages/completions/wattle.fish" | grep -q '^help'
fi
echo "pages: fine"
