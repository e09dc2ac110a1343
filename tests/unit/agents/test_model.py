"""The agents' side of a model: what is sent, and how answers come back."""

from typing import Any

import msgspec

from engine.agents.agent import Agent
from engine.agents.effects import gather
from engine.agents.memory import Memory, Prompt, said
from engine.keys import pack, unpack
from engine.models.answer_list import List
from engine.models.answers import Choice, Json
from engine.models.protocol import Catalogue, Form, Message, Result, Sampling, content_id
from tests.fakes.model_bench import GUESS, RULES, Bench, Record, asking


def test_a_call_becomes_a_request_and_its_reply_a_value() -> None:
    bench = Bench()
    bench.begin(asking(), agent_id=7, round_=3)
    assert bench.model.n_open == len(bench.model.requests) == 1
    [request] = bench.reply(" 42 ")
    assert unpack(request.key) == (3, 7, 0)
    assert bench.conversation(request) == [("system", "Guess."), ("user", "Which number?")]
    assert bench.catalogue.forms[request.form] == Form(GUESS, Sampling())
    assert bench.endings.values == {7: 42}
    assert bench.record.replies == [(pack(3, 7), 42, None)]
    assert bench.model.n_open == len(bench.model.requests) == 0


def test_what_a_server_had_failed_at_is_in_the_ledger() -> None:
    bench = Bench()
    bench.begin(asking(), agent_id=7)
    [request] = bench.sent()
    bench.model.take([Result(request.key, "42", resent=2)])
    assert bench.endings.values == {7: 42}
    assert bench.record.failures == [(0, "sent again", "2 times", "taken")]


def test_what_is_shared_is_sent_and_recorded_once() -> None:
    bench = Bench()
    batches = []
    for agent_id in range(3):
        bench.begin(asking(), agent_id)
    batches.append(bench.model.requests.drain())
    bench.begin(asking(), 3)
    bench.begin(asking(Choice(("a", "b"))), 4)
    batches.append(bench.model.requests.drain())
    first, second = batches
    assert first is not None
    assert second is not None
    assert list(first.prefixes.values()) == [RULES]
    assert [form.answer for form in first.forms.values()] == [GUESS]
    assert second.prefixes == {}
    assert [form.answer for form in second.forms.values()] == [Choice(("a", "b"))]
    assert len(bench.record.prefixes) == 1
    assert len(bench.record.forms) == 2
    assert bench.model.requests.drain() is None


def test_ids_depend_on_the_content_alone() -> None:
    requests = []
    for _ in range(2):
        bench = Bench()
        bench.begin(asking())
        requests += bench.sent()
    assert requests[0] == requests[1]
    assert requests[0].prefix == content_id(RULES)


def test_equal_prompts_have_equal_ids_and_others_do_not() -> None:
    seen: list[int] = []

    class Noting(Record):
        def reply(self, request: Any, result: Any, model: int, value: Any, problem: str | None) -> None:
            seen.append(request.prompt_id)

    bench = Bench()
    bench.model._record = Noting()
    for agent_id, text in enumerate(("same", "same", "other")):
        bench.begin(asking(text=text), agent_id)

    async def without_rules(agent: Agent) -> Any:
        return await agent.model.chat(Prompt((), (said("user", "same"),)), GUESS)

    bench.begin(without_rules, 3)
    bench.reply("1", "1", "1", "1")
    assert seen[0] == seen[1]
    assert len(set(seen)) == 3
    assert all(0 <= prompt < 2**63 for prompt in seen)


def test_facts_go_to_models_that_want_them_only() -> None:
    async def ask(agent: Agent) -> Any:
        return await agent.model.chat(agent.memory.with_user("?"), GUESS, facts={"average": 20.5})

    bench = Bench()
    bench.begin(ask)
    bench.model._wants_facts = False
    bench.begin(ask, 1)
    assert [request.facts for request in bench.sent()] == [{"average": 20.5}, None]


def test_several_calls_at_once_have_keys_of_their_own() -> None:
    async def ask(agent: Agent) -> Any:
        prompt = agent.memory.with_user("?")
        return await gather(*(agent.model.chat(prompt, GUESS) for _ in range(3)))

    bench = Bench()
    bench.begin(ask)
    requests = bench.sent()
    assert [unpack(request.key).call for request in requests] == [0, 3, 6], "room for two tries more"
    bench.model.take([Result(request.key, str(n)) for n, request in reversed(list(enumerate(requests)))])
    assert bench.endings.values == {0: [0, 1, 2]}


def test_a_memory_grows_by_what_was_remembered() -> None:
    memory = Memory(RULES)
    prompt = memory.with_user("one?")
    assert memory.with_user("two?").tail == (Message("user", "two?"),), "asking alone changes nothing"
    memory.remember(prompt, "1")
    assert memory.with_user("two?") == Prompt(
        RULES, (Message("user", "one?"), Message("assistant", "1"), Message("user", "two?"))
    )


# forms of answer


class Offer(msgspec.Struct):
    price: float
    item: str


def test_a_struct_comes_back() -> None:
    bench = Bench()
    bench.begin(asking(Json(Offer)))
    bench.reply('{"price": 2.5, "item": "apple"}')
    assert bench.endings.values == {0: Offer(2.5, "apple")}


def test_a_list_comes_back() -> None:
    bench = Bench()
    bench.begin(asking(List(GUESS, 1, 3)))
    bench.reply("[1, 2]")
    assert bench.endings.values == {0: [1, 2]}


def test_asking_for_the_same_struct_again_is_the_same_form() -> None:
    bench = Bench()
    for agent_id in range(100):
        bench.begin(asking(Json(Offer)), agent_id)
    assert len({request.form for request in bench.sent()}) == 1
    assert len(bench.record.forms) == 1
    assert len(bench.model.requests._form_ids) == 1


def test_requests_can_be_sent_once_more_with_all_they_refer_to() -> None:
    bench = Bench()
    bench.begin(asking(), 0)
    bench.begin(asking(Choice(("a", "b"))), 1)
    before = bench.sent()
    bench.catalogue = Catalogue()
    bench.model.again()
    after = bench.sent()
    assert after == before
    assert [bench.conversation(request) for request in after]
    assert set(bench.catalogue.forms) == {request.form for request in after}


def test_facts_that_cannot_be_sent_are_an_error_of_that_agent() -> None:
    async def ask(agent: Agent) -> Any:
        return await agent.model.chat(agent.memory.with_user("?"), GUESS, facts={"x": object()})

    bench = Bench()
    bench.begin(ask)
    assert isinstance(bench.endings.errors[0], TypeError)
    assert bench.sent() == []
    assert bench.model.n_open == 0
