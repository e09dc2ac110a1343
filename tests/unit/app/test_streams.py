import io
import os
import subprocess
import sys

import pytest

from app import streams


def test_a_stream_whose_reader_is_gone_goes_silent() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", buffering=1) as stream:
        lasting = streams.Lasting(stream)
        assert lasting.write("nobody hears this\n") == 18
        lasting.write("nor this\n")
        lasting.flush()
        assert not lasting.isatty()


@pytest.mark.parametrize(("encoding", "blocks"), [("utf-8", True), ("cp437", False), ("ascii", False)])
def test_blocks_are_drawn_where_the_encoding_has_them(encoding: str, blocks: bool) -> None:
    assert streams.can_draw_blocks(io.TextIOWrapper(io.BytesIO(), encoding)) is blocks


def test_closed_descriptors_are_opened_and_odd_characters_can_be_written() -> None:
    code = (
        "import os, sys; from app import streams; streams.secure();"
        "fd = os.open('/dev/null', os.O_RDONLY); print('lost'); assert fd > 2, fd;"
        "print('\\ud800 \\u2588', file=sys.stderr)"
    )
    done = subprocess.run(
        ["/bin/sh", "-c", '"$0" -c "$1" <&- >&-', sys.executable, code],
        env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": os.getcwd()},
        stderr=subprocess.PIPE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"\\ud800 \\u2588\n")


@pytest.mark.parametrize("arguments", [["presets"], ["schema"], ["runs"], ["runs", "--json"], ["--help"]])
def test_a_file_that_takes_no_more_is_an_error_and_no_defect(arguments: list[str]) -> None:
    command = [sys.executable, "-c", "from app.main import main; main()", *arguments]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, done.stderr) == (
            1,
            "error: the output cannot be written: No space left on device\n",
        )
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, text=True, check=False)
        assert done.returncode == 0
        assert done.stdout


def test_a_full_log_does_not_keep_a_run_from_its_end() -> None:
    with open("/dev/full", "w", buffering=1) as full:
        lasting = streams.Lasting(full)
        assert lasting.write("lost\n") == 5
        lasting.flush()
