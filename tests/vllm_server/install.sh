#!/usr/bin/env bash
# Installs a real vLLM for the CPU into .venv-vllm, with a tiny model beside it. Some minutes and 2.5 GB the
# first time, nothing after that: everything the result depends on is in the name of a stamp file.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target="$here/../../.venv-vllm"
python=${PYTHON:-$(command -v python3.11 || command -v python3)}
stamp="$target/.ready-$(cat "$here"/* 2>/dev/null | cksum | cut -d' ' -f1)"
[ -e "$stamp" ] && exit 0

rm -rf "$target"
"$python" -m venv "$target"
# The list is complete, and leaves out what serving text on a CPU never imports (triton alone is 1 GB).
"$target/bin/pip" install -qq --disable-pip-version-check --no-deps -r "$here/requirements.txt"
"$target/bin/python" "$here/name_distribution.py"
"$target/bin/python" "$here/make_tiny_model.py" "$target/models/tiny"
touch "$stamp"
