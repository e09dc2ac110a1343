"""Agents of one group on some workers, whose mail the test carries."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec

from engine.agents.agent import Agent
from engine.agents.mail import Mail
from engine.agents.post import AskFailed, Post
from engine.agents.scheduler import Activation, Scheduler
from engine.journal.recorder import Recorder
from engine.journal.transcripts import Transcripts
from engine.keys import pack
from tests.fakes.turns import Clock, Endings


class Office:
    """The agents and the mail of one worker."""

    def __init__(self, town: Town, worker: int) -> None:
        self.scheduler = Scheduler(clock=Clock(), deadline_s=10, wake=lambda: None)
        self.record = Recorder(Transcripts.parse("all"), 1000)
        self.mail = Mail(
            self.scheduler,
            self.record,
            worker=worker,
            worker_of=town.worker_of,
            resident=town.resident,
            **town.limits,
        )


class Town:
    """`n` agents over the workers, all in group 0 unless `groups` says where the others begin."""

    def __init__(
        self, agent_type: type[Agent], n: int, workers: int, *, coupled: bool = False, **limits: int
    ) -> None:
        self.n = n
        self.n_workers = workers
        self.limits = {"most": 1_000_000} | limits
        self.stopped: set[int] = set()
        self.acted: set[int] = set()
        self.endings = Endings()
        self.offices = [Office(self, worker) for worker in range(workers)]
        self.scenario = SimpleNamespace(coupled=coupled, n_agents=n)
        self.members = range(n)
        self.agents = [agent_type(i) for i in range(n)]
        self.round = 1
        for agent in self.agents:
            agent.world = SimpleNamespace(  # type: ignore[assignment]
                mail=self.office(agent.id).mail,
                group=0,
                members=self.members,
                community=None,
                scenario=self.scenario,
                round=self.round,
            )

    def worker_of(self, agent_id: int) -> int:
        return agent_id * self.n_workers // self.n

    def office(self, agent_id: int) -> Office:
        return self.offices[self.worker_of(agent_id)]

    def resident(self, agent_id: int, round_: int) -> Agent | None:
        if agent_id in self.stopped:
            raise AskFailed(f"agent {agent_id} has stopped")
        acting = agent_id not in self.acted or agent_id in self.office(agent_id).scheduler.active
        return None if acting or round_ != self.round else self.agents[agent_id]

    def act(self, agent_id: int) -> None:
        """Begin the step of an agent."""
        agent, office = self.agents[agent_id], self.office(agent_id)
        agent.world.round = self.round
        town = self

        class Owner(Endings):
            """Says that the agent is free once its step is over, as a worker does."""

            def returned(self, activation: Activation, value: Any) -> None:
                town.endings.returned(activation, value)
                office.mail.questions.idle(activation.agent.id)

            def raised(self, activation: Activation, error: BaseException) -> None:
                town.endings.raised(activation, error)
                office.mail.questions.idle(activation.agent.id)

        owner = Owner()
        self.sent = owner.sent
        self.acted.add(agent_id)
        office.scheduler.begin(Activation(agent, agent.step(None), pack(self.round, agent_id), owner))

    def carry(self) -> None:
        """Move mail over the wire and run what is ready, until all is quiet."""
        busy = True
        while busy:
            busy = False
            for office in self.offices:
                while office.scheduler.has_ready:
                    busy = True
                    office.scheduler.run_ready()
                for there, post in office.mail.outgoing.posts():
                    busy = True
                    packed = msgspec.msgpack.encode(post)
                    self.offices[there].mail.take(msgspec.msgpack.decode(packed, type=Post))

    def play(self, *agent_ids: int) -> None:
        """Let agents act, all of them if none is named, in this order."""
        for agent_id in agent_ids or range(self.n):
            self.act(agent_id)
            self.carry()

    def inbox(self, agent_id: int) -> list[tuple[int, Any]]:
        """Empty the inbox of an agent for the next round."""
        return self.office(agent_id).mail.inbox(self.agents[agent_id], self.round + 1)
