#!/bin/sh
# The man pages are without fault and the completions load, in the shells that are here.
# usage: pages.sh BUILD
set -eu
pages=$1/generated

mandoc -T lint -W warning "$pages"/man/*.1
bash -c 'set -eu; source "$1"; complete -p wattle' bash "$pages/completions/wattle" >/dev/null

# what bash offers after `wattle help --format m`
offered=$(bash -c '
    source "$1"
    COMP_WORDS=(wattle help --format m) COMP_CWORD=3
    _wattle
    echo "${COMPREPLY[*]}"' bash "$pages/completions/wattle")
[ "$offered" = "man markdown" ] || {
    echo "bash offers '$offered' for --format m" >&2
    exit 1
}
# and after `wattle h`
offered=$(bash -c 'source "$1"; COMP_WORDS=(wattle hel) COMP_CWORD=1; _wattle; echo "${COMPREPLY[*]}"' \
    bash "$pages/completions/wattle")
[ "$offered" = help ] || {
    echo "bash offers '$offered' for hel" >&2
    exit 1
}
if command -v zsh >/dev/null; then
    zsh -n "$pages/completions/_wattle"
    zsh -fc 'autoload -U compinit; compinit -D; source $1; [[ $_comps[wattle] == _wattle ]]' zsh \
        "$pages/completions/_wattle"
fi
if command -v fish >/dev/null; then
    fish -n "$pages/completions/wattle.fish"
    HOME=/nonexistent fish --no-config -c 'source $argv[1]; complete -C "wattle hel"' \
        "$pages/completions/wattle.fish" | grep -q '^help'
fi
echo "pages: fine"
