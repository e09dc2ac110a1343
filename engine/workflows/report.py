"""How parallel a workflow was: its critical path, and all of its work."""

from __future__ import annotations

from dataclasses import dataclass

from engine.workflows.wire import Record


@dataclass(frozen=True)
class Step:
    """A call on the critical path."""

    method: str
    """`Class.method`, with the number of the object in the order in which objects were distributed."""
    seconds: float


@dataclass(frozen=True)
class Report:
    """What the calls of a workflow took; printed, it is a short table."""

    calls: int
    """How many were carried out."""
    work_s: float
    """Seconds of all calls together, those included in which a call waited for a model."""
    cpu_s: float
    """CPU seconds of all workers."""
    critical_path_s: float
    """Seconds of the longest chain of calls that depended on each other: no number of workers is faster."""
    steps: tuple[Step, ...]
    """The calls of that chain."""

    @property
    def parallelism(self) -> float:
        """How many calls went on at a time, on average, if nothing else had been waited for."""
        return self.work_s / self.critical_path_s if self.critical_path_s else 1.0

    def __str__(self) -> str:
        head = (
            f"{self.calls:,} calls: {self.work_s:.2f} s of work, {self.cpu_s:.2f} s of CPU; critical path "
            f"{self.critical_path_s:.2f} s in {len(self.steps)} calls: {self.parallelism:.1f} at a time"
        )
        shown = [f"  {step.seconds:8.3f} s  {step.method}" for step in self.steps[:MAX_SHOWN]]
        more = len(self.steps) - MAX_SHOWN
        return "\n".join([head, *shown, *([f"  and {more} more"] if more > 0 else [])])


MAX_SHOWN = 20


def report_on(records: list[Record], classes: list[str], cpu_s: float) -> Report:
    """Follow the critical path back from the call at which it ends."""
    by_number = {record.number: record for record in records}
    last = max(records, key=lambda record: record.path_s, default=None)
    path: list[Record] = []
    at = last
    while at is not None:
        path.append(at)
        at = by_number.get(at.after)
    steps = tuple(
        Step(f"{classes[record.object]}.{record.method} of object {record.object}", record.seconds)
        for record in reversed(path)
    )
    work_s = sum(record.seconds for record in records)
    return Report(len(records), work_s, cpu_s, last.path_s if last else 0.0, steps)
