"""The coordinator's register of newcomers: who gets which id, and whose wish cannot be met."""

from __future__ import annotations

from collections.abc import Iterable

from engine.agents.births import Birth, Changes, Wish


class Register:
    """One group's. Ids are given in the order of parents, and of what each has asked for."""

    def __init__(self, places: range) -> None:
        self._places = places
        self._n_born = 0
        self._names: set[str] = set()
        self._retired: set[int] = set()

    def change(self, round_: int, wishes: Iterable[Wish], retiring: Iterable[tuple[int, int]]) -> Changes:
        """Settle what was asked for, with effect from a round on."""
        born, refused = [], []
        for wish in sorted(wishes, key=lambda wish: wish.parent):
            if self._n_born == len(self._places):
                refused.append((wish.parent, f"all {len(self._places)} places of the group are taken"))
            elif wish.name in self._names:
                refused.append((wish.parent, f"another newcomer is named {wish.name!r}"))
            else:
                birth = Birth(self._places[self._n_born], round_, wish)
                self._n_born += 1
                self._names.add(birth.name)
                born.append(birth)
        left = {who: by for who, by in sorted(retiring, reverse=True) if who not in self._retired}
        self._retired.update(left)
        return Changes(tuple(born), tuple(sorted(left.items())), tuple(refused))
