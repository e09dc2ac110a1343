"""Entry point of the coordinator process: fork the workers first, open everything else after."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import sys
import time
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import zmq
from platformdirs import user_cache_path

from engine.cluster import running_marks
from engine.cluster.children import Children, LogQueue, serve
from engine.cluster.collector import spare_the_living
from engine.cluster.control import Finished
from engine.cluster.coordinator_node import HEARING_S, CoordinatorNode
from engine.cluster.endpoints import Endpoints
from engine.cluster.link import Context
from engine.cluster.memory import check_memory
from engine.cluster.run_files import RunFiles, RunLog
from engine.cluster.service_node import ServiceNode
from engine.cluster.setup import Setup
from engine.cluster.worker_node import WorkerNode
from engine.errors import ExitCode, SimtuiError
from engine.journal.ancestry import shared_with
from engine.journal.run_directory import RunDirectory
from engine.preset.load import from_toml
from engine.preset.schema import Preset
from engine.scenarios import trusted


def main(arguments: list[str]) -> int:
    """Run `start|resume RUN_DIRECTORY SOCKET_FOLDER LIFELINE` or `replay ... OF`; return the exit code.

    `--trust=FILE`, at the end, is code to be executed: a scenario's file in the run directory.
    """
    _trust([Path(one.removeprefix(trusted.OPTION)) for one in arguments if one.startswith(trusted.OPTION)])
    arguments = [one for one in arguments if not one.startswith(trusted.OPTION)]
    verb, directory, sockets, lifeline, *replay_of = arguments
    run = RunDirectory(Path(directory))
    setup = Setup(
        _preset(run.preset),
        run.path,
        Endpoints.in_folder(sockets),
        user_cache_path("simtui"),
        resumed=verb != "start",
        replay_of=Path(replay_of[0]) if replay_of else None,
    )
    source = RunDirectory(setup.replay_of or run.path)
    if shared := [(_preset(part.preset), part.last) for part in shared_with(source)]:
        *earlier, (before, last) = shared
        setup = replace(setup, before=before, branched_at=last, earlier=tuple(earlier))
    return coordinate(setup, int(lifeline))


def _trust(files: list[Path]) -> None:
    """Execute files, and have the processes that are spawned find them by the names of their modules."""
    for file in files:
        trusted.load(file)
        if str(file.parent) not in sys.path:
            sys.path.append(str(file.parent))


def _preset(path: Path) -> Preset:
    return from_toml(path.read_bytes(), str(path))


def coordinate(setup: Setup, lifeline: int) -> int:
    """See one run through in this process and its children."""
    queue: LogQueue = multiprocessing.get_context("spawn").Queue()
    inline = setup.preset.engine.start == "inline"
    if inline:
        setup = replace(setup, endpoints=replace(setup.endpoints, base="inproc://"))
    children = Children(setup, queue)
    with ExitStack() as at_the_end:
        at_the_end.callback(setup.endpoints.remove)
        at_the_end.callback(children.kill)
        try:
            check_memory(setup.preset)
            _ = setup.people, setup.memories  # built before the workers are forked, so that they share it
            running_marks.make(setup.endpoints.folder, setup.placement.n_workers)
            if not inline:
                children.start()
            spare_the_living()
            at_the_end.callback(RunLog(RunDirectory(setup.directory).log, queue).close)
            files = RunFiles(setup, time.time)
        except SimtuiError as error:
            return _refuse(error, setup)
        context: Context = zmq.Context()
        at_the_end.callback(context.destroy, linger=0)
        return asyncio.run(_run(setup, files, children, context, lifeline)).exit_code


def _refuse(error: SimtuiError, setup: Setup) -> int:
    """Tell the first client that asks why there will be no run."""
    context: Context = zmq.Context()
    control = context.socket(zmq.ROUTER)
    control.bind(setup.endpoints.control)
    last_word = Finished("failed", error.exit_code, error.what, error.where, error.hint)
    if control.poll(int(HEARING_S * 1000)):
        client, _ = control.recv_multipart()
        control.send_multipart([client, msgspec.msgpack.encode(last_word)])
    control.close(linger=1000)
    context.term()
    return last_word.exit_code


async def _run(
    setup: Setup, files: RunFiles, children: Children, context: Context, lifeline: int
) -> Finished:
    coordinator = CoordinatorNode(setup, files, children, context)
    if children.all:
        return await coordinator.run(lifeline)
    others = asyncio.gather(*_inline(setup, context))
    last_word = await coordinator.run(lifeline)
    await others
    return last_word


def _inline(setup: Setup, context: Context) -> Iterator[Coroutine[Any, Any, None]]:
    """Yield what would be the other processes of the run."""
    workers: list[WorkerNode] = []

    def make(index: int, context: Context) -> WorkerNode:
        workers.append(WorkerNode(setup, index, context))
        return workers[-1]

    for index in range(setup.placement.n_workers):
        yield serve(partial(make, index), setup.worker_name(index), setup, context)
    for name in [] if setup.replay_of else setup.models:
        yield serve(partial(ServiceNode, setup, name), f"model-{name}", setup, context)
    _interrupt_stuck(workers, setup.preset.engine.deadline_s)


def _interrupt_stuck(workers: list[WorkerNode], deadline_s: float) -> None:
    def look(_signal: int, _frame: object) -> None:
        for node in workers:
            node.worker.scheduler.interrupt_if_stuck()

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, deadline_s / 2, deadline_s / 2)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except SimtuiError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(ExitCode.FAILED)
