#!/bin/sh
# Exported layers in PyTorch: load_state_dict takes them, and outputs agree. Skipped (77) where there is no
# python3-torch.
# usage: torch.sh TESTS WATTLE
set -eu
tests=$1
wattle=$2
folder=$(mktemp -d /tmp/wattle-torch-XXXXXX)
trap 'rm -rf "$folder"' EXIT
/usr/bin/python3 -c 'import torch, numpy' 2>/dev/null || {
    echo 'torch: skipped, python3-torch is not installed'
    exit 77
}
cd "$folder"
for bias in '' --bias; do
    # a head of any rank fits a checkpoint of one head, which is read as three of a third of the width
    "$wattle" teacher --quiet --heads 1 --dim 12 $bias --seed 4 -o one.safetensors
    "$wattle" export --quiet one.safetensors -o one-torch.safetensors
    "$wattle" export --quiet one-torch.safetensors --heads 3 -o model.safetensors
    "$wattle" draw --quiet --layer model.safetensors --tokens gaussian --length 7 --n 20 -o data.npz
    /usr/bin/python3 "$tests/cli/torch_layer.py" model.safetensors data.npz
done
