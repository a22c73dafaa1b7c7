"""Scores of the counter as lines of a table."""

from __future__ import annotations

from typing import Any

from companion.lab.rows import Row, row


def scores_row(what: str, found: dict[str, Any]) -> Row:
    """Return scores that say their ``shakes``, ``igloos`` and ``aim`` as one line of a table."""
    note = f"{found['shakes']} simulated shakes of {found['igloos']} igloos"
    return row(what, in_words(found), aim=found.get("aim", ""), note=note)


def in_words(scores: dict[str, Any]) -> str:
    """Return scores as a line for people."""
    within = scores.get("interval", {})

    def part(name: str, times: float, unit: str, digits: int) -> str:
        said = f"{times * scores[name]:.{digits}f}"
        if name in within:
            low, high = within[name]
            said += f" ({times * low:.{digits}f} to {times * high:.{digits}f})"
        return said + unit

    words = [
        f"{part('exact', 100, ' %', 0)} exact",
        f"{part('within_one', 100, ' %', 0)} within one",
        f"mean error {part('mae', 1, '', 2)}",
    ]
    if "nll" in scores:
        words += [f"NLL {scores['nll']:.2f}", f"ECE {100 * scores['ece']:.1f} %"]
    return ", ".join(words)
