from engine.models.protocol import Message
from engine.models.turns import later_starts, without

TAIL = [
    Message(role, role[0] + str(n))
    for n, role in enumerate(["system", "user", "assistant", "user", "assistant", "user"])
]


def texts(messages):
    return [message.content for message in messages]


def test_a_cut_falls_before_a_users_message_or_the_last_one():
    assert later_starts(TAIL) == [1, 3, 5]
    assert later_starts(TAIL[:5]) == [1, 3, 4]
    assert later_starts(TAIL[:1]) == []
    assert later_starts([]) == []


def test_who_the_agent_is_stays():
    assert texts(without(TAIL, 3)) == ["s0", "u3", "a4", "u5"]
    assert texts(without(TAIL, 5)) == ["s0", "u5"]
