"""Failures as they are counted, and whom they concern."""

from engine.cluster.ledger import Ledger
from engine.journal.transcripts import Transcripts
from engine.keys import pack


def ledger(*keys: int) -> Ledger:
    found = Ledger(Transcripts.parse("all"), 1000)
    for key in keys:
        found.failure(key, "unparsed", "reply with one number", "asked again")
    return found


def test_failures_are_counted_and_recorded() -> None:
    book = ledger(pack(1, 3), pack(1, 3, 1))
    book.failure(pack(1, 4), "repaired", "", "taken")
    assert book.counts == {"unparsed": 2, "repaired": 1}
    assert len(book.take().failures) == 3


def test_the_affected_are_members_with_an_entry_in_the_round() -> None:
    book = ledger(pack(1, 3), pack(1, 3, 1), pack(1, 7, 4095), pack(2, 4), pack(1, 10))
    assert book.take_affected(1, range(2, 8)) == [1, 5]
    assert book.take_affected(1, range(2, 8)) == [], "they are told once"
    assert book.take_affected(1, range(8, 12)) == [2]
    assert book.take_affected(2, range(2, 8)) == [2]


def test_what_was_only_sent_again_affects_nobody() -> None:
    book = ledger()
    book.failure(pack(1, 4), "sent again", "2 times", "taken")
    assert book.counts == {"sent again": 1}
    assert book.take_affected(1, range(10)) == []


def test_without_failures_nobody_is() -> None:
    assert ledger().take_affected(1, range(1_000_000)) == []
