"""A workflow's session: distributes objects, sends calls, fetches values, and ends what it has started."""

from __future__ import annotations

import atexit
import sys
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, Self, TypeVar, cast

import msgspec

from engine.errors import UsageError, WorkerLost
from engine.workflows.handle import Handle
from engine.workflows.here import Here
from engine.workflows.methods import Method
from engine.workflows.pending import Pending, plain
from engine.workflows.processes import Processes
from engine.workflows.report import Report, report_on
from engine.workflows.values import PENDING, encode, encode_parts, refuse
from engine.workflows.wire import MAIN, Call, Forward, Lost, Order, Release, Settle, Settled, Source, Value
from engine.workflows.worker import loss

T = TypeVar("T")
_RELEASE_BATCH = 256


class Workflow:
    """Places objects in worker processes while it is entered: `with Workflow(): ...`.

    `workers`: None gives each object a process of its own; a number spreads objects over so many; 0 carries
    out each call at once in this process, to compare with. Workers are forked at the first call; objects that
    are distributed after that come into new ones. Leaving waits for all calls, and raises what one raised
    whose value nobody has used; leaving by an exception or Ctrl-C ends all workers at once.
    """

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 0:
            raise UsageError(f"a workflow cannot have {workers} workers", hint="None: one for each object.")
        self._workers = workers
        self._here = Here() if workers == 0 else None
        self._processes: Processes | None = None
        self._objects: list[Any] = []
        self._places: list[int] = []
        self._kinds: dict[type, int] = {}
        self._calls = 0
        self._values: dict[int, Value] = {}
        self._raised: set[int] = set()
        """Calls that failed, and whose exception was raised here."""
        self._saw_a_loss = False
        self._released: dict[int, list[int]] = {}
        self._settled: dict[int, Settled] = {}
        self._question = 0
        self._is_closed = False
        self._parts: list[Pending] = []
        self._encoder = msgspec.msgpack.Encoder(enc_hook=self._refer)
        self._token: Token[Workflow | None] | None = None

    def distribute(self, target: T) -> T:
        """Return a handle of an object that will live in a worker; the one here stays as it is."""
        self._check_open()
        if isinstance(target, Handle | Pending | type):
            raise UsageError(f"{target!r} cannot be distributed", hint="Give an object of your own class.")
        if self._here:
            return cast(T, self._here.handle(target))
        self._objects.append(target)
        self._kinds.setdefault(type(target), len(self._kinds))
        return cast(T, Handle(self, len(self._objects) - 1, target))

    def call(self, number: int, method: Method, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Pending:
        """Send a call of an object. Raises Unsendable for arguments that cannot travel."""
        self._check_open()
        if number >= len(self._places):
            self._start()
        worker = self._places[number]
        self._parts = []
        packed = [self._pack(value, method, method.parameter(at)) for at, value in enumerate(args)]
        named = {key: self._pack(value, method, key) for key, value in kwargs.items()} if kwargs else {}
        parts = list({part._source.call: part for part in self._parts}.values())
        for part in parts:
            self._forward(part, worker)
        sources = [part._source for part in parts]
        self._calls += 1
        self._send(worker, Call(self._calls, number, method.name, packed, named, sources))
        kind = self._kinds[type(self._objects[number])]
        return Pending(self, Source(self._calls, worker, kind, method.name), method)

    def fetch_one(self, pending: Pending) -> Any:
        """Wait for a value."""
        self.request(pending)
        while not self.is_here(pending):
            self._receive(None)
        value = self._values.pop(pending._source.call, None)
        failure = value.failure if value else loss(pending._source.call, self._lost[pending._source.worker])
        if failure:
            self._raised.add(failure.call)
            self._saw_a_loss |= failure.kind == WorkerLost.__qualname__
            self._values[pending._source.call] = Value(pending._source.call, b"", failure, 0.0)
            raise failure.exception()
        return pending._method.decoder().decode(cast(Value, value).data)

    def request(self, pending: Pending) -> None:
        """Have a value sent here."""
        if not self._is_closed:
            self._forward(pending, MAIN)

    def is_here(self, pending: Pending) -> bool:
        """Return whether a value has come, or will never come."""
        self._check_open(pending)
        if pending._source.call not in self._values:
            self._receive(0.0)
        return pending._source.call in self._values or pending._source.worker in self._lost

    def release(self, pending: Pending) -> None:
        """Let workers forget a value that nobody refers to here."""
        if self._is_closed or self._processes is None:
            return
        source = pending._source
        self._values.pop(source.call, None)
        for worker in {source.worker, *pending._sent} - {MAIN}:
            released = self._released.setdefault(worker, [])
            released.append(source.call)
            if len(released) >= _RELEASE_BATCH:
                self._send(worker)

    def report(self) -> Report:
        """Wait for all calls, and say how parallel they were. Calls of lost workers are missing in it."""
        if self._here:
            raise UsageError("a workflow in this process has no report", hint="Give it workers.")
        settled = self._settle(with_records=True)
        records = [record for each in settled for record in each.records]
        names = [type(target).__name__ for target in self._objects]
        return report_on(records, names, sum(each.cpu_s for each in settled))

    def close(self) -> None:
        """Wait for all calls and end all workers. Raises what a call raised whose value nobody has used."""
        if self._is_closed:
            return
        try:
            failures = [each.failure for each in self._settle(with_records=False) if each.failure]
        finally:
            self.stop()
        unseen = [failure for failure in failures if failure.call not in self._raised]
        if unseen:
            raise min(unseen, key=lambda failure: failure.call).exception()
        if self._lost and not self._saw_a_loss:
            raise WorkerLost(next(iter(self._lost.values())), where="a workflow")

    def stop(self) -> None:
        """End all workers at once."""
        self._is_closed = True
        if self._processes:
            self._processes.end()
        if self._here:
            self._here.close()

    def __enter__(self) -> Self:
        self._token = _current.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._token:
            _current.reset(self._token)
        if kind is None:
            self.close()
        else:
            self.stop()

    @property
    def _lost(self) -> dict[int, str]:
        return self._processes.lost if self._processes else {}

    def _check_open(self, pending: Pending | None = None) -> None:
        if self._is_closed:
            what = "no call can be made" if pending is None else f"{pending._method.label} has no value"
            raise UsageError(f"{what}: the workflow is over", hint="Use values inside of the `with`.")

    def _start(self) -> None:
        """Fork workers for all objects that have none."""
        self._processes = self._processes or Processes()
        new = range(len(self._places), len(self._objects))
        n_groups = len(new) if self._workers is None else min(self._workers, len(new))
        groups = [{key: self._objects[key] for key in new[at::n_groups]} for at in range(n_groups)]
        first = self._processes.start(groups, list(self._kinds))
        self._places += [first + at % n_groups for at in range(len(new))]

    def _pack(self, value: Any, method: Method, parameter: str) -> bytes:
        before = len(self._parts)
        data = encode_parts(value, method, parameter, self._encoder)
        if len(self._parts) == before:
            return encode(value, method, parameter)
        return data

    def _refer(self, value: Any) -> Any:
        """Put a reference in the place of a pending result."""
        if not isinstance(value, Pending):
            return refuse(value)
        if value._workflow is not self:
            raise TypeError("it belongs to another workflow; take its .value()")
        self._parts.append(value)
        return msgspec.msgpack.Ext(PENDING, value._source.call.to_bytes(8, "little"))

    def _forward(self, part: Pending, to: int) -> None:
        source = part._source
        if to not in (source.worker, *part._sent):
            part._sent.add(to)
            self._send(source.worker, Forward(source.call, to))

    def _send(self, worker: int, *orders: Order) -> None:
        assert self._processes
        released = self._released.pop(worker, None)
        self._processes.send(worker, [*orders, Release(released)] if released else list(orders))

    def _receive(self, timeout_s: float | None) -> None:
        if not self._processes:
            return
        news, ended = self._processes.receive(timeout_s)
        for each in news:
            if isinstance(each, Value):
                self._values[each.call] = each
            elif each.question == self._question:
                self._settled[each.worker] = each
        for number in ended:
            for other in self._processes.living:
                self._send(other, Lost(number, self._lost[number]))

    def _settle(self, with_records: bool) -> list[Settled]:
        """Wait until all calls are carried out, or their workers lost."""
        self._check_open()
        if not self._processes:
            return []
        self._question += 1
        self._settled = {}
        for worker in self._processes.living:
            self._send(worker, Settle(self._question, with_records))
        while any(worker not in self._settled for worker in self._processes.living):
            self._receive(None)
        return list(self._settled.values())


_current: ContextVar[Workflow | None] = ContextVar("workflow", default=None)


def distribute(target: T) -> T:
    """Return a handle of an object in a worker of the workflow that is entered.

    Without one, a workflow with a process for each object is begun, which ends with the program.
    """
    workflow = _current.get()
    if workflow is None or workflow._is_closed:
        workflow = Workflow()
        _current.set(workflow)
        atexit.register(_end_with_the_program, workflow)
    return workflow.distribute(target)


def _end_with_the_program(workflow: Workflow) -> None:
    if hasattr(sys, "last_value"):  # an exception or Ctrl-C has ended the program
        workflow.stop()
    else:
        workflow.close()


def fetch(value: Any) -> Any:
    """Return a list, tuple or dict with the values of the pending results in it, all asked for at once."""
    _request_all(value)
    return _fetched(value)


def _request_all(value: Any) -> None:
    if isinstance(value, Pending):
        value._workflow.request(value)
    elif isinstance(value, list | tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            _request_all(part)


def _fetched(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _fetched(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_fetched, value)) if type(value) in (list, tuple) else value
    return plain(value)
