"""What the processes that a measurement starts cost, seen from outside, and who else is busy meanwhile."""

from __future__ import annotations

import os
import resource
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

import psutil

SAMPLE_S = 0.2
MB = 1e6


def load() -> str:
    """Say how busy the machine is: figures of a busy one are worse than its own."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


@dataclass
class Usage:
    """Wall and CPU seconds, and resident bytes at the moment when all processes together had most."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    others: float = 0.0
    """Cores that the rest of the machine kept busy meanwhile: sharing caches, they make every step dearer."""
    resident: dict[str, int] = field(default_factory=dict)
    """By role. Pages that processes share after a fork count for each of them."""

    @property
    def peak(self) -> int:
        """Resident bytes of all processes together."""
        return sum(self.resident.values())

    def crowd(self) -> str:
        """Say how much the figures have to be doubted."""
        return f"others kept {self.others:.1f} of {os.cpu_count()} cores busy"

    def memory(self) -> str:
        """Put the peak in words."""
        parts = ", ".join(f"{role} {size / MB:,.0f}" for role, size in self.resident.items())
        return f"{self.peak / MB:,.0f} MB resident ({parts})"


class Watch:
    """Watches all descendants of this process from `with` to its end, when they must have been waited for."""

    def __init__(self) -> None:
        self.usage = Usage()
        self._over = threading.Event()
        self._sampler = threading.Thread(target=self._sample)

    def __enter__(self) -> Self:
        self._wall, self._cpu, self._all = time.perf_counter(), _cpu_of_children(), _cpu_of_all()
        self._sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._sampler.join()
        usage = self.usage
        usage.wall_s = time.perf_counter() - self._wall
        usage.cpu_s = _cpu_of_children() - self._cpu
        usage.others = max(0.0, (_cpu_of_all() - self._all - usage.cpu_s) / usage.wall_s)

    def _sample(self) -> None:
        while not self._over.wait(SAMPLE_S):
            now: dict[str, int] = {}
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    role = _role(process)
                    now[role] = now.get(role, 0) + process.memory_info().rss
            if sum(now.values()) > self.usage.peak:
                self.usage.resident = now


def _role(process: psutil.Process) -> str:
    command = " ".join(process.cmdline())
    if "resource_tracker" in command:
        return "tracker"
    if "multiprocessing.spawn" in command:
        return "model"
    return "main" if process.ppid() == os.getpid() else "workers"


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _cpu_of_all() -> float:
    times = psutil.cpu_times()
    return times.user + times.nice + times.system + times.irq + times.softirq
