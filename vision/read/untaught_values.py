"""Values of a kind that a layout has and nobody taught: a token may show one wherever it shows a taught one.

The network and the second reader know the taught values alone, so neither can tell these from the others. Where the
digits or prints of a kind are read, they do; where not, what is known is how many of its tokens were seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from vision.board.labels import Content
    from vision.board.layout import Layout

Things = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class UntaughtValues:
    """Of taught things with a value, the ``others`` of their kind that nobody taught.

    ``shares`` has, by thing, how likely a token that looks like it is of each of the others, as far as nothing but what
    was taught tells; ``most`` of how many of each thing there may be in a place.
    """

    others: Mapping[int, tuple[int, ...]]
    shares: Mapping[int, float]
    most: tuple[int, ...]

    @classmethod
    def of(cls, layout: Layout, taught: Iterable[Mapping[int, Content]], told: Container[int] = ()) -> UntaughtValues:
        """Return those of a table that was taught the contents of so many photos.

        Of n tokens of a kind with k values a next one is of a value that was not among them 1 : n + k (Laplace 1814);
        one that lies where it lay is no other token. Of kinds (positions in ``layout.valued``) whose values are
        ``told``, taught or not, a token is what it looks like.
        """
        tokens = {(place, thing) for contents in taught for place, c in contents.items() for thing, _ in c.things}
        others, shares = {}, {}
        for number, kind in enumerate(layout.valued):
            own = [thing for _, thing in tokens if thing in kind]
            lacking = tuple(thing for thing in kind if thing not in own)
            for thing in set(own) if lacking else ():
                others[thing], shares[thing] = lacking, 0.0 if number in told else 1 / (len(own) + len(kind))
        return cls(others, shares, tuple(layout.most))

    def instead(self, things: Things) -> dict[Things, float]:
        """Return what may lie there instead of taught ``things``, one of them being of a value never taught."""
        found: dict[Things, float] = {}
        for thing, _ in things:
            for other in self.others.get(thing, ()):
                many = dict(things)
                many[thing] -= 1
                many[other] = many.get(other, 0) + 1
                if many[other] <= self.most[other]:
                    found[tuple(sorted((t, n) for t, n in many.items() if n))] = self.shares[thing]
        return found

    def shared(self, factor: Mapping[Things, float]) -> dict[Things, float]:
        """Return a factor of a kind of which nothing but what was taught is known, values never taught counted in."""
        out = dict(factor)
        for things, p in factor.items():
            instead = self.instead(things)
            whole = max(1.0, sum(instead.values()))
            for other, share in instead.items():
                out[other] = out.get(other, 0.0) + share * p / whole
                out[things] -= share * p / whole
        return out


NONE_UNTAUGHT: Final = UntaughtValues({}, {}, ())
"""Those of a table that was taught all values."""
