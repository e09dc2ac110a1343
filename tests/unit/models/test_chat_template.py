from __future__ import annotations

import pytest

from engine.errors import ModelError
from engine.models.chat_template import ChatTemplate, alternating
from engine.models.protocol import Message

SYSTEM, USER, REPLY = Message("system", "Be brief."), Message("user", "Hi"), Message("assistant", "Hello")
CHATML = (
    "{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}</>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
STRICT = (
    "{% for message in messages %}"
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('no') }}{% endif %}"
    "[{{ message['content'] }}]{% endfor %}"
)


def test_the_prompt_ends_where_the_reply_begins():
    rendered = ChatTemplate(CHATML, "", "").render([SYSTEM, USER])
    assert rendered == "<system>Be brief.</><user>Hi</><assistant>"


def test_the_special_texts_reach_the_template():
    template = ChatTemplate("{{ bos_token }}{{ messages[0].content | tojson }}{{ eos_token }}", "<s>", "</s>")
    assert template.render([Message("user", "<'é'>")]) == "<s>\"<'é'>\"</s>"


def test_a_strict_template_gets_system_text_in_the_first_user_message():
    assert ChatTemplate(STRICT, "", "").render([SYSTEM, USER, REPLY, USER]) == "[Be brief.\n\nHi][Hello][Hi]"
    assert alternating([USER, USER]) == [Message("user", "Hi\n\nHi")]


def test_a_template_that_refuses_everything_is_an_error():
    with pytest.raises(ModelError, match="never"):
        ChatTemplate("{{ raise_exception('never') }}", "", "").render([USER])


@pytest.mark.parametrize("source", ["{% for %}", "{{ 1 +", "{% unknown %}"])
def test_a_broken_template_is_an_error(source):
    with pytest.raises(ModelError, match="broken"):
        ChatTemplate(source, "", "")


@pytest.mark.parametrize(
    "source",
    [
        "{{ messages.__class__.__mro__ }}",
        "{{ raise_exception.__globals__['os'] }}",
        "{{ messages.append(1) }}",
        "{{ 1 / 0 }}",
        "{{ range(10 ** 9) | list }}",
        "{{ 'a' * messages[0].content }}",
    ],
)
def test_a_hostile_template_is_stopped(source):
    with pytest.raises(ModelError):
        ChatTemplate(source, "", "").render([USER])
