"""One line that says where a run stands."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from app import figures
from app.sanitise import clean
from app.usage import cost
from engine.cluster.budget import NO_FAILURES
from engine.cluster.control import Snapshot

WRITING = "writing"
"""The state in which a model writes personas."""
BAR_WIDTH = 16
BAR_FROM_WIDTH = 100
GAP = 2
OVER = ("done", "failed", "interrupted", "budget")
"""States after which nothing is to come."""


def standing(snapshot: Snapshot) -> str:
    """Return what comes first: the state where it is not plain running, and the round."""
    if snapshot.state == WRITING:
        return "writing personas"
    if not snapshot.round:
        return f"{clean(snapshot.state, 20)} {figures.duration(snapshot.elapsed_s)}"
    head = f"round {snapshot.round:,}/{snapshot.rounds:,}"
    return head if snapshot.state == "running" else f"{clean(snapshot.state, 20)}, {head}"


def details(snapshot: Snapshot, *, brief: bool = False) -> list[str]:
    """Return the parts that follow, the most wanted first: a narrow terminal leaves the last ones out."""
    if not snapshot.round and snapshot.state != WRITING:
        return [figures.plural(snapshot.n_agents, "agent")]
    parts = [f"{snapshot.n_done:,}/{snapshot.n_agents:,}", *failed(snapshot)]
    if snapshot.state not in OVER:
        parts += [remaining(snapshot, brief=brief), figures.rate(snapshot.rate)]
    parts += repaired(snapshot)
    if spent := cost(snapshot.usage):
        parts.append(spent)
    if snapshot.token_rate:
        parts.append(f"{figures.number(round(snapshot.token_rate, 1))} tokens/s")
    return parts if snapshot.state in OVER else [*parts, f"{snapshot.in_flight:,} in flight"]


def failed(snapshot: Snapshot) -> list[str]:
    """Return how many replies and agents have failed, if any have."""
    n_failed = sum(n for kind, n in snapshot.failures.items() if kind not in NO_FAILURES)
    whole = sum(used.calls for used in snapshot.usage)
    share = f" ({figures.percent(n_failed, whole)})" if whole else ""
    return [f"{n_failed:,} failed{share}"] if n_failed else []


def repaired(snapshot: Snapshot) -> list[str]:
    """Return how many replies were repaired, if any were."""
    n_repaired = snapshot.failures.get("repaired", 0)
    return [f"{n_repaired:,} repaired"] if n_repaired else []


def remaining(snapshot: Snapshot, *, brief: bool = False) -> str:
    """Return the time that the run still takes and, unless in brief, what that estimate rests on."""
    if snapshot.eta_s is None:
        return "time left --"
    basis = f" ({clean(snapshot.eta_basis, 60)})" if snapshot.eta_basis and not brief else ""
    return f"{figures.duration(snapshot.eta_s)} left{basis}"


def live_line(snapshot: Snapshot, width: int) -> RenderableType:
    """Return the line that a terminal shows and overwrites; with room for it, a bar."""
    head = standing(snapshot)
    line = Table.grid(padding=(0, GAP))
    line.add_column(width=len(head))
    cells: list[RenderableType] = [Text(head, "bold")]
    left = width - len(head) - GAP
    if width >= BAR_FROM_WIDTH:
        line.add_column(width=BAR_WIDTH)
        cells.append(ProgressBar(max(1, snapshot.n_agents), snapshot.n_done, BAR_WIDTH))
        left -= BAR_WIDTH + GAP
    line.add_column()
    cells.append(Text(_fitting(snapshot, left), no_wrap=True, overflow="ellipsis"))
    line.add_row(*cells)
    return line


def _fitting(snapshot: Snapshot, width: int) -> str:
    """Return what fits: everything, or as many whole parts in brief as there is room for."""
    gap = " " * GAP
    if cell_len(shown := gap.join(details(snapshot))) <= width:
        return shown
    shown, *parts = details(snapshot, brief=True)
    for part in parts:
        if cell_len(longer := f"{shown}{gap}{part}") > width:
            break
        shown = longer
    return shown


def plain_line(snapshot: Snapshot) -> str:
    """Return the line that goes to a log."""
    return f"{standing(snapshot)}: {', '.join(details(snapshot))}"
