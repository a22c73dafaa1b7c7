"""The printable sheets: what is drawn is found."""

from __future__ import annotations

import re

import cv2
import numpy as np
import pytest

from companion.ports import BadDataError
from vision.board.markers import find_markers, find_table
from vision.board.print_kit import MODULE_MM, PAPERS, QUIET_MM, RULER_MM, SIDE_MM, Page, pages, to_pdf


def drawn(page: Page, dots_per_mm: float = 4) -> np.ndarray:
    """Draw the boxes and strokes of a page as pixels."""
    image = np.full((round(page.height * dots_per_mm), round(page.width * dots_per_mm)), 255, np.uint8)
    for box in page.boxes:
        x0, y0 = round(box.x * dots_per_mm), round(box.y * dots_per_mm)
        x1, y1 = round((box.x + box.width) * dots_per_mm), round((box.y + box.height) * dots_per_mm)
        image[y0:y1, x0:x1] = round(255 * box.grey)
    for stroke in page.strokes:
        ends = [
            (round(x * dots_per_mm), round(y * dots_per_mm))
            for x, y in ((stroke.x0, stroke.y0), (stroke.x1, stroke.y1))
        ]
        cv2.line(image, *ends, round(255 * stroke.grey), 1)
    return image


@pytest.mark.parametrize("paper", sorted(PAPERS))
def test_the_sheet_shows_the_four_markers_in_their_places(paper: str) -> None:
    image = drawn(pages(paper)[0])
    found = find_markers(image)
    assert found.missing == ()
    for quad in found.corners.values():
        sides = np.linalg.norm(np.roll(quad, -1, axis=0) - quad, axis=1) / 4
        assert sides == pytest.approx([SIDE_MM] * 4, abs=0.2)
    assert find_table(cv2.cvtColor(image, cv2.COLOR_GRAY2BGR)).image is not None


@pytest.mark.parametrize("paper", sorted(PAPERS))
def test_nothing_is_cut_off_and_the_white_rim_is_free(paper: str) -> None:
    for page in pages(paper):
        margin = 8.0
        for box in page.boxes:
            assert box.x >= margin
            assert box.y >= margin
            assert box.x + box.width <= page.width - margin
            assert box.y + box.height <= page.height - margin
        for stroke in page.strokes:
            assert margin <= min(stroke.x0, stroke.x1)
            assert max(stroke.x0, stroke.x1) <= page.width - margin
            assert max(stroke.y0, stroke.y1) <= page.height - margin
        for words in page.words:
            assert margin <= words.y <= page.height - margin
    page = pages(paper)[0]
    squares = [box for box in page.boxes if box.width == SIDE_MM and box.grey == 0]
    assert len(squares) == 4
    assert QUIET_MM >= MODULE_MM
    for square in squares:
        low, high = np.array([square.x, square.y]) - QUIET_MM, np.array([square.x, square.y]) + SIDE_MM + QUIET_MM
        for words in page.words:
            assert not (low[0] < words.x < high[0] and low[1] < words.y < high[1] + 1)
        for stroke in page.strokes:
            middle = np.array([stroke.x0 + stroke.x1, stroke.y0 + stroke.y1]) / 2
            assert not ((middle > low + 0.01) & (middle < high - 0.01)).all()


def test_the_placing_sheet_shows_no_marker() -> None:
    # It may lie on the table beside the real ones.
    assert find_markers(drawn(pages()[1])).corners == {}


def test_the_ruler_is_as_long_as_it_says() -> None:
    page = pages()[0]
    ticks = sorted(s.x0 for s in page.strokes if s.x0 == s.x1 and s.y0 > 200)
    assert len(ticks) == RULER_MM + 1
    assert ticks[-1] - ticks[0] == pytest.approx(RULER_MM)
    numbers = [w.text for w in page.words if w.text.isdigit() and w.y > 200]
    assert numbers[-1] == str(RULER_MM)


def test_the_pdf() -> None:
    for paper, (width, height) in PAPERS.items():
        data = to_pdf(pages(paper))
        assert data.startswith(b"%PDF-")
        boxes = re.findall(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", data)
        assert len(boxes) == len(pages(paper))
        assert [float(v) * 25.4 / 72 for v in boxes[0]] == pytest.approx([width, height], abs=0.01)
        assert data == to_pdf(pages(paper))


def test_both_languages_are_on_it() -> None:
    text = "\n".join(words.text for page in pages() for words in page.words)
    for word in ("Print at 100 %", "Imprimer à 100 %", "far left", "au fond à gauche"):
        assert word in text


def test_another_paper_is_refused() -> None:
    with pytest.raises(BadDataError):
        pages("a5")
