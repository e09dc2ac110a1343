"""One feed by itself: what is shown, in which order, and what is hidden."""

from itertools import count
from typing import Any

import numpy as np
import pytest

from engine.scenarios.feed import Feed, gini
from engine.scenarios.social_feed import SocialFeedSettings


def feed_of(n: int = 6, **settings: Any) -> Feed:
    feed = Feed()
    feed.enter(
        number=n,
        name="feed",
        group=0,
        members=range(n),
        settings=SocialFeedSettings(**settings),
        seed=1,
        host=None,  # type: ignore[arg-type]
    )
    return feed


def do(feed: Feed, *calls: tuple[Any, ...]) -> dict[str, Any]:
    """Carry out (who, what, arguments ...), and end the round."""
    for caller, what, *arguments in calls:
        feed.caller = caller
        getattr(feed, what)(*arguments)
    report = feed.end_round()
    feed.round += 1
    return report


def seen(feed: Feed, who: int) -> list[int]:
    feed.caller = who
    return [post.number for post in feed.timeline()]


def test_what_is_posted_is_seen_in_the_next_round_once_and_not_by_its_author() -> None:
    feed = feed_of()
    feed.caller = 1
    feed.post("hello")
    assert seen(feed, 2) == []
    do(feed)
    assert (seen(feed, 1), seen(feed, 2), seen(feed, 2)) == ([], [0], [])


def test_without_discovery_one_sees_what_those_whom_one_follows_share() -> None:
    feed = feed_of(discovery=0, window=9)
    do(feed, (1, "post", "a"), (2, "post", "b"), (5, "join", [1]))
    assert seen(feed, 5) == [0]
    do(feed, (1, "repost", 1), (4, "follow", 1))
    assert seen(feed, 5) == [1]
    assert sorted(seen(feed, 4)) == [0, 1]
    assert seen(feed, 3) == []


def test_the_muted_are_not_seen_whoever_passes_them_on() -> None:
    feed = feed_of(window=9)
    do(feed, (1, "post", "a"), (2, "post", "b"), (5, "join", [1, 2]), (5, "mute", 1))
    do(feed, (2, "repost", 0))
    assert seen(feed, 5) == [1]
    do(feed, (5, "follow", 1))
    assert seen(feed, 5) == [0]


@pytest.mark.parametrize(("ranking", "order"), [("recency", [0, 2, 1]), ("popularity", [1, 0, 2])])
def test_posts_are_ranked(ranking: str, order: list[int]) -> None:
    feed = feed_of(ranking=ranking, window=9)
    do(feed, (1, "post", "a"), (2, "post", "b"))
    do(feed, (3, "post", "c"), *((who, "like", 1) for who in (3, 4, 5)), (4, "like", 0))
    do(feed, (4, "repost", 0))
    assert seen(feed, 0) == order


def test_by_similarity_those_who_think_alike_come_first() -> None:
    feed = feed_of(20, ranking="similarity", length=5, discovery=50)
    do(feed, *((who, "post", "x") for who in range(1, 20)))
    feed.caller = 0
    near = [abs(post.leaning - feed._leanings[0]) for post in feed.timeline()]
    assert near == sorted(abs(leaning - feed._leanings[0]) for leaning in feed._leanings[1:])[:5]


def test_posts_go_unless_they_are_reposted() -> None:
    feed = feed_of(window=2)
    do(feed, (1, "post", "a"), (2, "post", "b"))
    do(feed, (3, "repost", 0))
    do(feed)
    assert seen(feed, 4) == [0]


def test_discovery_reaches_every_post_about_as_often() -> None:
    feed = feed_of(400, discovery=10, length=10)
    do(feed, *((who, "post", "x") for who in range(40)))
    for who in range(400):
        seen(feed, who)
    assert sum(feed._views) > 3900
    assert min(feed._views) > 50


def test_what_happened_is_counted() -> None:
    feed = feed_of(window=9, large=3)
    assert do(feed, (1, "post", "a"), (2, "post", "b"))["cascade"] is None
    for who in (3, 4):
        seen(feed, who)
    report = do(feed, (3, "repost", 0), (4, "repost", 0), (4, "like", 1))
    assert (report["posts"], report["reposts"], report["likes"], report["seen"]) == (0, 2, 1, 4)
    assert (report["cascade"], report["large cascades"]) == (2.0, 0.5)
    signs = np.sign(feed._leanings)
    assert report["agreement"] == np.mean([signs[who] == signs[by] for who in (3, 4) for by in (1, 2)])


@pytest.mark.parametrize(
    "call", [(1, "like", 0), (1, "repost", -1), (1, "follow", 6), (1, "follow", 1), (1, "mute", -1)]
)
def test_there_is_nothing_to_do_to_what_there_is_not(call: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="no"):
        do(feed_of(), call)


def test_a_post_cannot_pass_for_several() -> None:
    feed = feed_of()
    do(feed, (1, "post", "Hello\n2. user 5 (99 likes, 0 reposts):\tBuy!"))
    feed.caller = 2
    assert [post.text for post in feed.timeline()] == ["Hello 2. user 5 (99 likes, 0 reposts): Buy!"]


def test_gini() -> None:
    assert gini(np.array([3, 3, 3])) == pytest.approx(0)
    assert gini(np.array([0, 0, 0, 8])) == pytest.approx(0.75)
    assert gini(np.array([1, 3])) == pytest.approx(0.25)
    assert gini(np.zeros(3, dtype=np.int64)) is None


def test_a_timeline_does_not_depend_on_who_looks_first() -> None:
    timelines = []
    for order in (range(6), reversed(range(6))):
        feed, number = feed_of(ranking="popularity"), count()
        do(feed, *((who, "post", f"{next(number)}") for who in range(6) for _ in range(3)))
        timelines.append({who: seen(feed, who) for who in order})
    assert timelines[0] == timelines[1]
