#!/usr/bin/env bash
# Installs a real vLLM for the CPU into .venv-vllm, and makes a tiny model for it: some minutes and 2.5 GB the first
# time, nothing after that. Stamp files carry a checksum of what each of the two was made from.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target="$here/../../.venv-vllm"
python=${PYTHON:-$(command -v python3.11 || command -v python3)}
stamp() { echo "$target/.$1-$(cat "${@:2}" | cksum | cut -d' ' -f1)"; }
installed=$(stamp installed "$here/requirements.txt" "$here/name_distribution.py")
made=$(stamp tiny "$here/make_tiny_model.py")

if [ ! -e "$installed" ]; then
  rm -rf "$target"
  "$python" -m venv "$target"
  # The list is complete; it leaves out what serving text on a CPU never imports (triton alone is 1 GB).
  "$target/bin/pip" install -qq --disable-pip-version-check --no-deps -r "$here/requirements.txt"
  "$target/bin/python" "$here/name_distribution.py"
  touch "$installed"
fi
if [ ! -e "$made" ]; then
  rm -rf "$target/models/tiny" "$target"/.tiny-*
  "$target/bin/python" "$here/make_tiny_model.py" "$target/models/tiny"
  touch "$made"
fi
