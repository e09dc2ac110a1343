"""The environments that live on one worker, and the way to those of other workers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from engine.agents.credits import CREDIT, Credits
from engine.agents.divergence import Beyond
from engine.agents.mail import Mail
from engine.agents.post import Call, Post, Returned, Sender
from engine.agents.scheduler import Activation, Scheduler
from engine.environments.addresses import WORLD, Addresses
from engine.environments.calls import CallFailed, EnvironmentCall
from engine.environments.history import read
from engine.environments.methods import Method, methods_of
from engine.environments.resident import LISTENER, Resident
from engine.keys import CALL_BITS, MAX_AGENTS

if TYPE_CHECKING:
    from engine.agents.record import Record
    from engine.environments.environment import Environment
    from engine.environments.listeners import Listener
    from engine.journal.history import History

AGGREGATE = ""
"""Stands for a method where a nested environment tells its parent what it has aggregated."""

_encode = msgspec.json.Encoder().encode


class Host:
    """Calls are carried out in order of arrival, those of agents on this worker at once."""

    def __init__(
        self,
        scheduler: Scheduler,
        mail: Mail,
        record: Record,
        *,
        worker: int,
        addresses: Addresses,
        make: Callable[[int], Environment],
        beyond: Beyond,
    ) -> None:
        """`make(number)` returns an environment that has entered the run."""
        self.history: History | None = None
        """What environments were called, as far as the run already has been."""
        self._scheduler = scheduler
        self._mail = mail
        self._record = record
        self._worker = worker
        self._addresses = addresses
        self._worker_of = cache(addresses.worker_of)
        self._make = make
        self._beyond = beyond
        self._residents: dict[int, Resident] = {}
        self._sent: defaultdict[int, dict[int, int]] = defaultdict(dict)
        """Messages told to agents and environments on other workers in this round, by group."""
        self._open: dict[int, EnvironmentCall] = {}
        self._credits: Credits[Call] = Credits(CREDIT)

    def caller_at_once(self, number: int) -> Activation | None:
        """Return the turn that calls an environment, if the call needs no turn of the scheduler."""
        scheduler = self._scheduler
        return scheduler.running if self._worker_of(number) == self._worker and not scheduler.ends else None

    def call(self, call: EnvironmentCall) -> Any:
        """Carry out a call, or take the result that it had. Raises CallFailed."""
        self._scheduler.mark[0] = call.key
        resident = self._residents.get(call.number) or self._at(call.number)
        value, error = resident.result(call.key, call.caller, call.method, call.arguments, call.sent)
        if error is not None:
            raise CallFailed(error)
        return value

    def begin(self, call: EnvironmentCall) -> None:
        """Carry out a call from the scheduler's loop, or send it to where the environment lives."""
        there = self._worker_of(call.number)
        if there != self._worker:
            self._open[call.key] = call
            sent = Call(call.key, call.number, call.method.name, _encode(call.sent))
            if self._credits.take(call.number, sent):
                self._mail.outgoing.to(there).calls.append(sent)
            return
        try:
            self._scheduler.later(call, self.call(call))
        except CallFailed as error:
            self._scheduler.later(call, None, error)

    def take(self, post: Post) -> None:
        """Carry out the calls of another worker and send the results back; take results."""
        if post.calls:
            returned = self._mail.outgoing.to(post.origin).returned
            for call in post.calls:
                returned.append(self._carry_out(call))
        for result in post.returned:
            self._returned(result)

    def _carry_out(self, call: Call) -> Returned:
        """Return what comes of a call of another worker."""
        number, key, arguments = call.environment, call.key, call.arguments
        resident = self._residents.get(number) or self._at(number)
        method = resident.methods[call.method]
        agent = key >> CALL_BITS & (MAX_AGENTS - 1)
        value, error = resident.result(key, agent, method, method.decode(arguments), msgspec.Raw(arguments))
        return Returned(key, _encode(value), error)

    def _returned(self, result: Returned) -> None:
        """Hand the result of a call to who waits for it, and send the next one."""
        call = self._open.pop(result.key)
        following = self._credits.give_back(call.number)
        if following is not None:
            self._mail.outgoing.to(self._worker_of(call.number)).calls.append(following)
        if result.error is not None:
            self._scheduler.fail(call, CallFailed(result.error))
        else:
            self._scheduler.complete(call, call.method.returned(result.value))

    def put(self, number: int, method: Method, args: tuple[Any, ...]) -> None:
        """Send a call that is carried out at the round's end. Raises like Method.arguments."""
        activation = self._scheduler.running
        assert activation is not None, "environments are called from agents only"
        world = activation.agent.world
        sender = Sender(activation.agent.id, world.round, world.group, activation.owner.sent)
        self._mail.send(number, _packed(method, args), sender)

    def put_to_parent(self, child: Environment, name: str, args: tuple[Any, ...]) -> None:
        """Send a buffered call to the environment that another one is nested in. Raises ValueError."""
        parent = type(child).parent
        method = methods_of(self._addresses.kinds[parent]).get(name) if parent else None
        if method is None or not method.is_buffered:
            raise ValueError(f"{child.name} has no parent with a @buffered method {name!r}")
        self._send_to_parent(child, child.round, _packed(method, method.bind(args, {})))

    def tell(self, environment: Environment, agent: int, message: Any) -> None:
        """Send a message of an environment. Raises ValueError for an agent that is not its member."""
        if agent not in environment.members and agent not in environment.newcomers:
            raise ValueError(f"agent {agent} is not a member of {environment.name}")
        self._mail.send(agent, msgspec.msgpack.encode(message), self._sender(environment, environment.round))

    def listener_failed(self, environment: Environment, listener: Listener, error: Exception) -> None:
        """Note that a listener raised; who called knows nothing of it."""
        detail = f"listener of {environment.name}.{listener.event}: {type(error).__name__}: {error}"
        self._at(environment.number).failed(LISTENER, detail)

    def settle(self, group: int) -> tuple[dict[str, Any], dict[int, int]]:
        """End a round in the environments of a group, or of the world.

        Returns what they report, and how many messages they have told on other workers. Raises SimtuiError.
        """
        residents = {name: self._at(n) for name, n in self._addresses.settled_with(group).items()}
        reports = {name: self._end_round(resident) for name, resident in residents.items()}
        sent = self._sent.pop(group, {})  # what the next round begins with is not of this one
        for resident in residents.values():
            self._open_round(resident)
        return {name: report for name, report in reports.items() if report}, sent

    def _end_round(self, resident: Resident) -> dict[str, Any]:
        environment = resident.environment
        round_, children = environment.round, {}
        for caller, message in self._mail.letters(environment.number, round_):
            name, encoded = msgspec.msgpack.decode(message)
            if name == AGGREGATE:
                children[self._addresses.about(caller).group] = msgspec.json.decode(encoded)
            else:
                resident.apply(caller, name, encoded)
        report, aggregate = resident.end_round(children)
        if aggregate is not None:
            packed = msgspec.msgpack.encode((AGGREGATE, _encode(aggregate)))
            self._send_to_parent(environment, round_, packed)
        return report

    def _send_to_parent(self, child: Environment, round_: int, packed: bytes) -> None:
        number = self._addresses.of(WORLD)[type(child).parent]
        self._mail.send(number, packed, self._sender(child, round_))

    def _sender(self, environment: Environment, round_: int) -> Sender:
        group = environment.group
        return Sender(environment.number, round_, group, self._sent[group])

    def _at(self, number: int) -> Resident:
        resident = self._residents.get(number)
        if resident is None:
            resident = Resident(self._make(number), self._scheduler, self._record, self._beyond)
            self._residents[number] = resident
            self._open_round(resident)
        return resident

    def _open_round(self, resident: Resident) -> None:
        environment = resident.environment
        number, round_ = environment.number, environment.round
        rows = self.history.environment_calls(number, round_) if self.history is not None else []
        resident.open_round([entry for row in rows for entry in read(row)])


def _packed(method: Method, args: tuple[Any, ...]) -> bytes:
    """Return a buffered call as it is told."""
    _, sent = method.arguments(args)
    return msgspec.msgpack.encode((method.name, _encode(sent)))
