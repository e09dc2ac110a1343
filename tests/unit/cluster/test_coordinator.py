"""The course of a run, decided on without sockets or processes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.agents.scheduler import NOBODY
from engine.cluster.casualties import MAX_FRUITLESS, MAX_RESTARTS
from engine.cluster.control import Event, Finished, Notice, RoundReport
from engine.cluster.coordinator import Coordinator
from engine.cluster.endpoints import Endpoints
from engine.cluster.run_files import RunFiles
from engine.cluster.setup import Setup
from engine.cluster.wire import (
    AskAgain,
    Begin,
    Failed,
    Progress,
    Ready,
    ShareDone,
    StandStill,
    Told,
    ToWorker,
    Trouble,
    Work,
    Written,
)
from engine.errors import ExitCode
from engine.journal.batch import JournalBatch
from engine.keys import pack
from engine.preset.write import to_toml
from tests.fakes.journal import reply
from tests.fakes.turns import Clock
from tests.unit.cluster.conftest import Presets


class Desk:
    """A coordinator, and what it does to its surroundings."""

    def __init__(self, setup: Setup) -> None:
        self.orders: list[tuple[int, ToWorker]] = []
        self.events: list[Event] = []
        self.restarts: list[str] = []
        self.guilty = NOBODY
        self.ended = False
        self.clock = Clock()
        self.files = RunFiles(setup, lambda: 1e9)
        self.core = Coordinator(setup, self.files, self, clock=self.clock, now=lambda: 1e9)

    def order(self, worker: int, message: ToWorker) -> None:
        self.orders.append((worker, message))

    def emit(self, event: Event) -> None:
        self.events.append(event)

    def restart_service(self, process: str) -> None:
        self.restarts.append(process)

    def restart_workers(self) -> None:
        self.restarts.append("workers")

    def was_running(self, worker: int) -> int:
        return self.guilty

    def allow(self, service: str, message: Any) -> None:
        """No test here has a budget."""

    def end(self) -> None:
        self.ended = True

    # what the tests do

    def all_ready(self) -> None:
        """Let all processes come up."""
        for process in ("worker-0", "worker-1", "model-default"):
            self.core.receive(process, Ready(1))

    def taken(self, kind: type[Any]) -> list[tuple[int, Any]]:
        """Take the orders of a kind out of the tray."""
        found = [order for order in self.orders if isinstance(order[1], kind)]
        self.orders = [order for order in self.orders if order not in found]
        return found

    def done(self, worker: int, round_: int, values: list[float | None], **counts: Any) -> None:
        """Let a worker's share of group 0 end a round."""
        packed = msgspec.Raw(msgspec.msgpack.encode(values))
        answered = sum(value is not None for value in values)
        self.core.receive(f"worker-{worker}", ShareDone(0, round_, packed, answered, 0, 0, {}, **counts))

    @property
    def last_word(self) -> Finished:
        assert self.core.last_word is not None
        assert self.ended
        return self.core.last_word

    @property
    def reports(self) -> list[RoundReport]:
        return [event for event in self.events if isinstance(event, RoundReport)]

    @property
    def notices(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Notice)]


Desks = Callable[..., Desk]


@pytest.fixture
def desks(presets: Presets, tmp_path: Path) -> Iterator[Desks]:
    """Make coordinators of four agents on two workers."""
    made: list[Desk] = []

    def build(**options: Any) -> Desk:
        preset = presets(4, 2, **options)
        (tmp_path / "preset.toml").write_text(to_toml(preset))
        made.append(Desk(Setup(preset, tmp_path, Endpoints.in_folder("nowhere"), tmp_path)))
        return made[-1]

    yield build
    for desk in made:
        desk.files.close("done")


def test_a_run_begins_when_all_processes_are_up(desks: Desks) -> None:
    desk = desks()
    for process in ("worker-1", "model-default"):
        desk.core.receive(process, Ready(1))
    assert desk.core.snapshot().state == "starting"
    assert desk.core.snapshot().round == 0
    assert desk.orders == []
    assert not desk.core.are_all_up
    desk.core.receive("worker-0", Ready(1))
    assert desk.core.are_all_up
    assert desk.core.snapshot().state == "running"
    begins = desk.taken(Begin)
    assert [(worker, begin.group, begin.round) for worker, begin in begins] == [(0, 0, 1), (1, 0, 1)]


def test_rounds_follow_each_other_to_the_end(desks: Desks) -> None:
    desk = desks(rounds=2)
    desk.all_ready()
    desk.taken(Begin)
    desk.done(1, 1, [3, None])
    assert desk.orders == []
    desk.done(0, 1, [1, 2])
    assert [begin.round for _, begin in desk.taken(Begin)] == [2, 2]
    assert (desk.reports[0].round, desk.reports[0].n_answered) == (1, 3)
    assert desk.reports[0].outcome.stats["sum"] == 6
    assert not desk.core.is_over
    desk.done(0, 2, [1, 2])
    desk.done(1, 2, [3, 4])
    assert desk.last_word == Finished("done", ExitCode.DONE)
    assert [report.round for report in desk.reports] == [1, 2]


def test_the_last_snapshot_shows_everybody_done(desks: Desks) -> None:
    desk = desks(rounds=1)
    desk.all_ready()
    desk.core.receive("worker-0", Progress(Work(n_done=2)))
    desk.core.receive("worker-1", Progress(Work(n_done=1)))
    assert (desk.core.snapshot().round, desk.core.snapshot().n_done) == (1, 3)
    desk.core.receive("worker-1", Progress(Work(n_done=2)))
    desk.done(0, 1, [1, 2])
    desk.done(1, 1, [3, 4])
    last = desk.core.snapshot()
    assert (last.state, last.round, last.n_done) == ("done", 1, 4)


def test_turns_that_are_rebuilt_are_no_basis_for_the_time_left(desks: Desks) -> None:
    desk = desks(rounds=3)
    desk.all_ready()
    desk.core.lost("worker-1", "was killed by SIGKILL")
    for worker in ("worker-0", "worker-1"):
        desk.core.receive(worker, Ready(2))
        desk.core.receive(worker, Progress(Work(n_done=1)))
    desk.core.snapshot()
    desk.clock.now += 1
    desk.core.receive("worker-0", Progress(Work(n_done=2)))
    assert desk.core.snapshot().rate == 0
    desk.core.rows("worker-1", JournalBatch(replies=[reply(1, 3, value=1.0)]))
    desk.core.settle()
    desk.core.receive("worker-1", Progress(Work(n_done=2)))
    desk.clock.now += 1
    assert desk.core.snapshot().rate == 1


def test_what_a_round_rests_on_is_written_before_the_next_one_begins(desks: Desks) -> None:
    desk = desks(rounds=2)
    desk.all_ready()
    desk.orders.clear()
    desk.core.rows("worker-0", JournalBatch(replies=[reply(1, 0, value=1.0), reply(1, 1, value=1.0)]))
    assert desk.files.writer.replies == 0
    desk.done(0, 1, [1, 1])
    desk.done(1, 1, [1, 1])
    assert desk.files.writer.replies == 2
    kinds = [type(order) for _, order in desk.orders]
    assert kinds.index(Written) < kinds.index(Begin)


def test_written_rows_are_told_to_the_worker_that_sent_them(desks: Desks) -> None:
    desk = desks()
    desk.all_ready()
    desk.orders.clear()
    for worker, agents in ((1, (2, 3)), (0, (0,)), (1, (1,))):
        rows = [reply(1, agent, value=1.0) for agent in agents]
        desk.core.rows(f"worker-{worker}", JournalBatch(replies=rows))
    assert desk.orders == []
    desk.core.settle()
    assert sorted((worker, written.rows) for worker, written in desk.taken(Written)) == [(0, 1), (1, 3)]
    desk.core.settle()
    assert desk.orders == []


# failures


def test_too_many_failed_agents_fail_the_run(desks: Desks) -> None:
    desk = desks(engine={"failure_budget": 0.5})
    desk.all_ready()
    desk.core.receive("worker-0", Progress(Work(failures={"exception": 2, "unparsed": 99})))
    assert not desk.core.is_over
    desk.core.receive("worker-1", Progress(Work(failures={"deadline": 1})))
    assert desk.last_word.state == "failed"
    assert desk.last_word.what == "3 of 4 agents have failed"
    assert "engine.failure_budget = 0.5 allows 2" in desk.last_word.hint


@pytest.mark.parametrize(
    ("budget", "allowed"), [(0.0, 0), (1e-9, 1), (0.25, 1), (0.5, 2), (0.99, 3), (1.0, 4)]
)
def test_a_budget_above_zero_allows_one_failure_at_least(desks: Desks, budget: float, allowed: int) -> None:
    desk = desks(engine={"failure_budget": budget})
    desk.all_ready()
    desk.core.receive("worker-0", Progress(Work(failures={"exception": allowed})))
    assert not desk.core.is_over
    desk.core.receive("worker-0", Progress(Work(failures={"exception": allowed + 1})))
    assert desk.core.is_over


def test_what_a_model_tells_while_it_is_made_ready_is_passed_on(desks: Desks) -> None:
    desk = desks()
    desk.core.receive("model-default", Told("server 0 is starting: loading weights"))
    assert desk.notices == ["model-default: server 0 is starting: loading weights"]


def test_a_process_that_cannot_go_on_fails_the_run_in_its_own_words(desks: Desks) -> None:
    desk = desks()
    desk.core.receive("model-default", Failed(Trouble("no such file", "model.path", "name another")))
    assert desk.last_word == Finished("failed", 1, "no such file", "model.path", "name another")


def test_an_unexpected_error_shows_its_traceback(desks: Desks) -> None:
    desk = desks()
    desk.core.receive("worker-1", Failed(Trouble("KeyError: 3", traceback="Traceback ...")))
    assert desk.notices == ["Traceback ..."]
    assert desk.last_word.where == "worker-1"


def test_the_first_last_word_stays(desks: Desks) -> None:
    desk = desks()
    desk.all_ready()
    desk.core.stop("enough")
    assert (desk.last_word.state, desk.last_word.exit_code) == ("interrupted", 130)
    desk.core.receive("worker-0", Failed(Trouble("and then this")))
    desk.core.lost("worker-1", "was killed by SIGKILL")
    desk.core.stop("more than enough")
    assert desk.last_word.what == "enough"
    assert desk.restarts == []


# lost processes


def test_a_lost_worker_has_all_workers_rebuilt(desks: Desks) -> None:
    desk = desks(rounds=3)
    desk.all_ready()
    desk.done(0, 1, [1, 2])
    desk.done(1, 1, [3, 4])
    desk.orders.clear()
    desk.core.lost("worker-1", "was killed by SIGKILL")
    assert desk.restarts == ["workers"]
    assert "worker-1 was killed by SIGKILL" in desk.notices[0]
    for worker in ("worker-0", "worker-1"):
        assert desk.orders == []
        desk.core.receive(worker, Ready(2))
    assert [begin.round for _, begin in desk.taken(Begin)] == [1, 1], "from the first round on"
    assert desk.core.snapshot().state == "rebuilding"
    desk.done(0, 1, [1, 2])
    desk.done(1, 1, [3, 4])
    assert desk.core.snapshot().state == "running"
    assert [report.round for report in desk.reports] == [1], "a round is told once"


def test_an_agent_that_brings_workers_down_is_isolated(desks: Desks) -> None:
    desk = desks()
    desk.all_ready()
    desk.guilty = pack(1, 3)
    for n in range(MAX_RESTARTS):
        assert not any("isolated" in notice for notice in desk.notices), n
        desk.core.lost("worker-1", "was killed by SIGSEGV")
        for worker in ("worker-0", "worker-1"):
            desk.core.receive(worker, Ready(2))
    assert any("agent 3 is isolated" in notice for notice in desk.notices)
    assert not desk.core.is_over
    desk.files.writer.commit()
    assert desk.files.writer._db.execute("SELECT key, kind FROM failures").fetchall() == [
        (pack(1, 3), "isolated")
    ]


def test_workers_that_die_between_agents_are_given_up(desks: Desks) -> None:
    desk = desks()
    desk.all_ready()
    for _ in range(MAX_FRUITLESS):
        desk.core.lost("worker-0", "was killed by SIGKILL")
        assert not desk.core.is_over
    desk.core.lost("worker-0", "was killed by SIGKILL")
    assert desk.last_word.what == "worker-0 was killed by SIGKILL"
    assert desk.last_word.where == "worker-0"


def test_a_lost_service_is_replaced_and_asked_again(desks: Desks) -> None:
    desk = desks()
    desk.all_ready()
    desk.orders.clear()
    for n in range(1, MAX_RESTARTS + 1):
        desk.core.lost("model-default", "ended with exit code 1")
        assert desk.restarts == ["model-default"] * n
        desk.core.receive("model-default", Ready(2))
        assert [worker for worker, _ in desk.taken(AskAgain)] == [0, 1]
    desk.core.lost("model-default", "ended with exit code 1")
    assert desk.last_word.what == "model-default ended with exit code 1"
    assert desk.last_word.where == "model-default"


# agents that wait for each other


def still(desk: Desk, seconds: float, **work: Any) -> list[tuple[int, Any]]:
    """Let time pass while the workers report the same; return who was told of a standstill."""
    for _ in range(int(seconds)):
        desk.core.receive("worker-0", Progress(Work(**work)))
        desk.clock.now += 1
        desk.core.look_for_standstill()
    return desk.taken(StandStill)


def test_a_standstill_is_told_to_all_workers_after_the_deadline(desks: Desks) -> None:
    desk = desks(engine={"deadline_s": 10.0})
    desk.all_ready()
    assert still(desk, 10) == []
    assert [worker for worker, _ in still(desk, 2)] == [0, 1]
    assert still(desk, 9) == [], "and again only after another deadline"
    assert len(still(desk, 3)) == 2


def test_waiting_for_the_model_is_no_standstill(desks: Desks) -> None:
    desk = desks(engine={"deadline_s": 10.0})
    desk.all_ready()
    assert still(desk, 100, n_open=1) == []
    assert len(still(desk, 12)) == 2


@pytest.mark.parametrize("moves", ["turns", "replies"])
def test_whatever_moves_puts_a_standstill_off(desks: Desks, moves: str) -> None:
    desk = desks(engine={"deadline_s": 10.0})
    desk.all_ready()
    for n in range(1, 6):
        if moves == "turns":
            assert still(desk, 8, n_done=n) == []
        else:
            desk.core.rows("worker-0", JournalBatch(replies=[reply(1, 0, call=n, value=1.0)]))
            desk.core.settle()
            desk.orders.clear()
            assert still(desk, 8) == []


def test_there_is_no_standstill_before_the_start(desks: Desks) -> None:
    desk = desks(engine={"deadline_s": 10.0})
    assert still(desk, 100) == []
    desk.all_ready()
    assert still(desk, 5) == []
