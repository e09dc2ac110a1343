import numpy as np

from engine.population.streams import ranks_within, shuffled, stream, uniform


def test_each_purpose_has_its_own_numbers() -> None:
    purposes = [
        stream(1, "a"),
        stream(2, "a"),
        stream(1, "b"),
        stream(1, "a", "b"),
        stream(1, "ab"),
        stream(1, "a", 1),
    ]
    assert len(set(purposes)) == len(purposes)
    assert abs(np.corrcoef(*(uniform(seed, np.arange(10_000)) for seed in purposes[:2]))[0, 1]) < 0.05


def test_more_people_change_nothing_for_those_before() -> None:
    assert (uniform(7, np.arange(100)) == uniform(7, np.arange(1000))[:100]).all()


def test_shuffling_is_a_permutation_by_seed() -> None:
    assert sorted(shuffled(50, 1)) == list(range(50))
    assert list(shuffled(50, 1)) != list(shuffled(50, 2))


def test_ranks_count_every_member_of_a_group_once() -> None:
    groups = np.array([2, 0, 2, 2, 0, 3])
    ranks, sizes = ranks_within(groups, 1)
    assert sizes.tolist() == [2, 0, 3, 1]
    assert [sorted(ranks[groups == g].tolist()) for g in range(4)] == [[0, 1], [], [0, 1, 2], [0]]
