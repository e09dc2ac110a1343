"""The core of a worker: carries out calls of its objects in order, as soon as their values are there."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from inspect import iscoroutine
from typing import Any

from engine.errors import WorkerLost
from engine.workflows.failures import Failure
from engine.workflows.methods import Method, method_of
from engine.workflows.values import decode, decode_result, encode
from engine.workflows.wire import MAIN, Call, Forward, Lost, Order, Record, Release, Settle, Settled, Value

SLICE_S = 0.005
"""How long calls are carried out before what they gave is sent on."""


class Slot:
    """A value that may be yet to come, and who waits for it."""

    __slots__ = ("forward", "is_released", "value", "waiting", "worker")

    def __init__(self, worker: int) -> None:
        self.worker = worker
        self.value: Value | None = None
        self.waiting: list[Job] = []
        self.forward: list[int] = []
        self.is_released = False


class Section:
    """Calls of one object that may overlap: one ordinary call, or concurrent ones that follow each other."""

    __slots__ = ("is_concurrent", "is_open", "last", "left", "members", "path_s")

    def __init__(self, is_concurrent: bool) -> None:
        self.is_concurrent = is_concurrent
        self.is_open = False
        self.left = 0
        self.members: list[Job] = []
        """Those that wait for its turn."""
        self.path_s = 0.0
        self.last = -1


class Resident:
    """An object that lives here, and its calls in order."""

    __slots__ = ("last", "path_s", "sections", "target")

    def __init__(self, target: Any) -> None:
        self.target = target
        self.sections: deque[Section] = deque()
        self.last = -1
        self.path_s = 0.0


class Job:
    """A call on its way to being carried out."""

    __slots__ = ("after", "call", "method", "missing", "path_s", "resident", "section", "slots")

    def __init__(self, call: Call, resident: Resident, method: Method) -> None:
        self.call = call
        self.resident = resident
        self.method = method
        self.missing = 1
        """Values that it waits for, and one for its turn."""
        self.slots: list[Slot] = []
        self.section: Section
        self.path_s = 0.0
        self.after = -1


@dataclass(frozen=True)
class Crew:
    """What a worker inherits by the fork."""

    number: int
    objects: dict[int, Any]
    kinds: list[type]
    """Classes of all objects that were distributed up to then, by their number."""
    lost: dict[int, str]
    """How others have ended."""


class Worker:
    """Takes orders and sends news; has no sockets. `later` calls a function soon, on the loop."""

    def __init__(
        self,
        crew: Crew,
        send: Callable[[int, Value | Settled], None],
        later: Callable[[Callable[[], None]], object],
    ) -> None:
        self._number = crew.number
        self._residents = {key: Resident(target) for key, target in crew.objects.items()}
        self._kinds = crew.kinds
        self._lost = dict(crew.lost)
        self._send = send
        self._later = later
        self._slots: dict[int, Slot] = {}
        self._ready: deque[Job] = deque()
        self._is_due = False
        self._unfinished = 0
        self._questions: list[Settle] = []
        self._records: list[Record] = []
        self._failure: Failure | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._handlers: dict[type, Callable[[Any], None]] = {
            Call: self._take,
            Forward: self._forward,
            Release: self._release,
            Value: self._arrive,
            Lost: self._lose,
            Settle: self._settle,
        }

    def handle(self, order: Order) -> None:
        """Take an order."""
        self._handlers[type(order)](order)

    def _take(self, call: Call) -> None:
        resident = self._residents[call.object]
        job = Job(call, resident, method_of(type(resident.target), call.method))
        self._unfinished += 1
        self._slots[call.number] = Slot(self._number)
        for source in call.sources:
            slot = self._slot(source.call, source.worker)
            job.slots.append(slot)
            if slot.value is None:
                slot.waiting.append(job)
                job.missing += 1
        self._queue(job)

    def _slot(self, call: int, worker: int) -> Slot:
        slot = self._slots.get(call)
        if slot is None:
            slot = self._slots[call] = Slot(worker)
            if worker in self._lost:
                self._fill(call, slot, self._loss(call, worker))
        return slot

    def _queue(self, job: Job) -> None:
        sections = job.resident.sections
        together = job.method.is_concurrent
        if not sections or not (together and sections[-1].is_concurrent):
            sections.append(Section(together))
        job.section = sections[-1]
        job.section.left += 1
        if job.section is sections[0]:
            job.section.is_open = True
        if job.section.is_open:
            self._less(job)
        else:
            job.section.members.append(job)

    def _less(self, job: Job) -> None:
        """One thing less to wait for."""
        job.missing -= 1
        if not job.missing:
            self._ready.append(job)
            self._wake()

    def _wake(self) -> None:
        if not self._is_due:
            self._is_due = True
            self._later(self._run)

    def _run(self) -> None:
        self._is_due = False
        until = time.perf_counter() + SLICE_S
        while self._ready:
            self._start(self._ready.popleft())
            if time.perf_counter() > until:
                self._wake()
                return

    def _start(self, job: Job) -> None:
        self._find_path(job)
        failed = next((s.value.failure for s in job.slots if s.value and s.value.failure), None)
        if failed:
            self._finish(job, b"", failed, 0.0)
            return
        began = time.perf_counter()
        try:
            outcome = self._invoke(job)
            if iscoroutine(outcome):
                task = asyncio.get_running_loop().create_task(self._await(job, outcome, began))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                return
            data = encode(outcome, job.method)
        except BaseException as error:
            self._fail(job, error, began)
        else:
            self._finish(job, data, None, time.perf_counter() - began)

    def _find_path(self, job: Job) -> None:
        """Find what the call waited for longest: a value, or the object's calls before it."""
        job.path_s, job.after = job.resident.path_s, job.resident.last
        for source, slot in zip(job.call.sources, job.slots, strict=True):
            if slot.value and slot.value.path_s > job.path_s:
                job.path_s, job.after = slot.value.path_s, source.call

    def _invoke(self, job: Job) -> Any:
        call, method = job.call, job.method
        values = {
            source.call: decode_result(slot.value.data, self._method(source.kind, source.method))
            for source, slot in zip(call.sources, job.slots, strict=True)
            if slot.value
        }
        member = getattr(job.resident.target, call.method)
        if method.is_attribute:
            return member
        args = [decode(data, method, method.parameter(at), values) for at, data in enumerate(call.args)]
        return member(*args, **{key: decode(data, method, key, values) for key, data in call.kwargs.items()})

    def _method(self, kind: int, name: str) -> Method | None:
        return method_of(self._kinds[kind], name) if kind < len(self._kinds) else None

    async def _await(self, job: Job, outcome: Coroutine[Any, Any, Any], began: float) -> None:
        try:
            data = encode(await outcome, job.method)
        except BaseException as error:
            self._fail(job, error, began)
        else:
            self._finish(job, data, None, time.perf_counter() - began)

    def _fail(self, job: Job, error: BaseException, began: float) -> None:
        failure = Failure.of(error, job.call.number, job.method.label)
        self._failure = self._failure or failure
        self._finish(job, b"", failure, time.perf_counter() - began)

    def _finish(self, job: Job, data: bytes, failure: Failure | None, seconds: float) -> None:
        call = job.call
        path_s = job.path_s + seconds
        self._records.append(Record(call.number, call.object, call.method, seconds, path_s, job.after))
        self._fill(call.number, self._slots[call.number], Value(call.number, data, failure, path_s))
        self._close_section(job, path_s)
        self._unfinished -= 1
        if not self._unfinished:
            self._answer()

    def _close_section(self, job: Job, path_s: float) -> None:
        section, resident = job.section, job.resident
        section.left -= 1
        if path_s >= section.path_s:
            section.path_s, section.last = path_s, job.call.number
        if section.left:
            return
        resident.sections.popleft()
        resident.path_s, resident.last = section.path_s, section.last
        if resident.sections:
            following = resident.sections[0]
            following.is_open = True
            for waiting in following.members:
                self._less(waiting)
            following.members.clear()

    def _fill(self, call: int, slot: Slot, value: Value) -> None:
        slot.value = value
        for job in slot.waiting:
            self._less(job)
        for to in slot.forward:
            self._send(to, value)
        slot.waiting, slot.forward = [], []
        if slot.is_released:
            del self._slots[call]

    def _forward(self, order: Forward) -> None:
        slot = self._slots[order.call]
        if slot.value:
            self._send(order.to, slot.value)
        else:
            slot.forward.append(order.to)

    def _release(self, order: Release) -> None:
        for call in order.calls:
            slot = self._slots.get(call)
            if slot is not None and slot.value is None:
                slot.is_released = True
            elif slot is not None:
                del self._slots[call]

    def _arrive(self, value: Value) -> None:
        slot = self._slots.get(value.call)
        if slot is None:
            slot = self._slots[value.call] = Slot(MAIN)
        if slot.value is None:  # else its worker was given up for lost meanwhile
            self._fill(value.call, slot, value)

    def _lose(self, order: Lost) -> None:
        self._lost[order.worker] = order.how
        for call, slot in list(self._slots.items()):
            if slot.value is None and slot.worker == order.worker:
                self._fill(call, slot, self._loss(call, order.worker))

    def _loss(self, call: int, worker: int) -> Value:
        return Value(call, b"", loss(call, self._lost[worker]), 0.0)

    def _settle(self, question: Settle) -> None:
        self._questions.append(question)
        if not self._unfinished:
            self._answer()

    def _answer(self) -> None:
        for question in self._questions:
            records = self._records if question.with_records else []
            settled = Settled(
                self._number, question.question, self._failure, time.process_time(), list(records)
            )
            self._send(MAIN, settled)
        self._questions.clear()


def loss(call: int, how: str) -> Failure:
    """Say that a value will never come since its worker has ended."""
    return Failure(call, "a workflow", WorkerLost.__module__, WorkerLost.__qualname__, how, how)
