"""A `vllm serve` that starts at once, and fails in ways of its own; written to a folder as bin/vllm.

It has a child, as vLLM has an engine, and notes the numbers of both in the file that PIDS names.
"""

from __future__ import annotations

import sys
from pathlib import Path

SCRIPT = """\
#!{python}
import json, os, subprocess, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

mode = os.environ.get("FAKE", "")
print("fake vllm", *sys.argv[1:], "key" if os.environ.get("VLLM_API_KEY") else "no key", flush=True)
if mode == "crash":
    print("(EngineCore) \\x1b[31mValueError: the model's weights are made of cheese\\x1b[0m", file=sys.stderr)
    sys.exit(3)
engine = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(os.environ["PIDS"], "a") as pids:
    print(os.getpid(), engine.pid, file=pids, flush=True)
if mode == "stuck":
    time.sleep(600)
port = int(sys.argv[sys.argv.index("--port") + 1])
name = sys.argv[sys.argv.index("--served-model-name") + 1]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def send(self, status, found):
        body = json.dumps(found).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send(200, {{"data": [{{"id": name, "owned_by": "vllm", "max_model_len": 4096}}]}})

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Authorization"] != "Bearer " + os.environ["VLLM_API_KEY"]:
            self.send(401, {{"error": "Unauthorized"}})
            return
        said = {{"message": {{"content": str(os.getpid())}}, "finish_reason": "stop"}}
        self.send(200, {{"model": name, "choices": [said]}})

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


def install(folder: Path) -> Path:
    """Make an environment that has this vLLM; return its folder."""
    program = folder / "bin" / "vllm"
    program.parent.mkdir(parents=True)
    program.write_text(SCRIPT.format(python=sys.executable))
    program.chmod(0o755)
    return folder
