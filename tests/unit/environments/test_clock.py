"""Clock and agenda: what time it is, and who is due next."""

from random import Random

import msgspec
import pytest

from engine.environments.agenda import Agenda, only
from engine.environments.clock import Clock


def test_rounds_go_around_the_clock() -> None:
    clock = Clock(start="22:30", minutes_per_round=45)
    assert [clock.hour(round_) for round_ in range(1, 5)] == [22, 23, 0, 0]
    assert clock.says(1) == "day 1, 22:30"
    assert clock.says(4) == "day 2, 00:45"


@pytest.mark.parametrize("start", ["24:00", "8:00", "08:60", "noon"])
def test_no_other_times_are_times(start: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"start": start}, Clock)


def test_the_agenda_is_in_a_total_order_whatever_order_it_was_filled_in() -> None:
    entries = [(time, agent) for time in (3.0, 1.5, 7.25) for agent in range(4)] * 2
    seen = set()
    for seed in range(5):
        Random(seed).shuffle(entries)
        agenda = Agenda()
        for time, agent in entries:
            agenda.put(time, agent)
        seen.add(tuple((agenda.take_next(), agenda.now) for _ in range(4)))
    everyone = (0, 1, 2, 3)
    assert seen == {((everyone, 1.5), (everyone, 3.0), (everyone, 7.25), ((), 7.25))}


def test_time_goes_to_the_next_event_and_never_back() -> None:
    agenda = Agenda()
    agenda.put(1000, 5)
    assert agenda.take_next() == (5,)
    agenda.put(1000, 6)
    assert (agenda.take_next(), agenda.now, len(agenda)) == ((6,), 1000, 0)
    for time in (999.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="cannot be due"):
            agenda.put(time, 1)


def test_only_those_who_are_due_act() -> None:
    assert only([11, 3, 12], range(10, 14)).tolist() == [False, True, True, False]
    assert not only([], range(4)).any()
