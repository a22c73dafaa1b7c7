"""The printable sheets: four markers, a check ruler, where each marker goes, stickers for igloos; English and French.

A sheet is data first (:func:`pages`: rectangles, lines and texts in millimetres) and a PDF second (:func:`to_pdf`),
so that a test can draw the same data as pixels and find the markers in them. Millimetres count from the top left.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Final

import cv2
import numpy as np

from companion.ports import BadDataError
from vision.board.markers import IDS, MODULES

PAPERS: Final = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
MODULE_MM: Final = 8.0
SIDE_MM: Final = MODULES * MODULE_MM
"""The black square's side: 48 mm, some 60 pixels where a camera of 1280 pixels sees a metre of table."""
QUIET_MM: Final = MODULE_MM
RULER_MM: Final = 150
STICKER_MODULE_MM: Final = 3.5
STICKER_OF: Final = {10 + number: number for number in range(2, 14)}
"""The id of the marker on the sticker for an igloo of Igloo Pop -> the igloo's number."""
_LABEL_MM: Final = 11.0
_GAP_MM: Final = 6.0
_TOP_MM: Final = 34.0

_PLACES: Final = (
    ("far left", "au fond à gauche"),
    ("far right", "au fond à droite"),
    ("near right", "devant à droite"),
    ("near left", "devant à gauche"),
)
_ENGLISH: Final = (
    "Print at 100 % (not “fit to page”). The ruler must measure 150 mm.",
    "Cut along the grey lines. The white rim belongs to the marker: leave it on.",
    "Lay the four markers flat beside the corners of the board, within a place or so of",
    "them; no need to measure, and they may lie askew. Seen by the camera, 0 lies at the",
    "far left, and 1, 2, 3 follow clockwise.",
    "Nothing may cover them, no lamp may be mirrored in them. Do not laminate.",
)
_FRENCH: Final = (
    "Imprimer à 100 % (sans « ajuster à la page »). La règle doit mesurer 150 mm.",
    "Découper le long des lignes grises. Le bord blanc fait partie du repère : le laisser.",
    "Poser les quatre repères à plat près des coins du plateau, à une case près environ ;",
    "inutile de mesurer, et ils peuvent être de travers. Vus par la caméra, le 0 est au",
    "fond à gauche, puis 1, 2 et 3 dans le sens des aiguilles d’une montre.",
    "Rien ne doit les couvrir, aucune lampe s’y refléter. Ne pas plastifier.",
)
_STICKERS: Final = (
    "Cut along the grey lines and stick each under the igloo with as many beads.",
    "A photo of the upturned igloos then says which is which.",
    "Découper le long des lignes grises et coller chacune sous l’igloo qui a autant de billes.",
    "Une photo des igloos retournés dit alors lequel est lequel.",
)


@dataclass(frozen=True, slots=True)
class FilledRectangle:
    """A filled rectangle; ``grey`` 0 is black, 1 white."""

    x: float
    y: float
    width: float
    height: float
    grey: float = 0.0


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line of ``width`` millimetres."""

    x0: float
    y0: float
    x1: float
    y1: float
    width: float = 0.2
    grey: float = 0.0


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text; ``y`` is its baseline, ``size`` in points, ``align`` is ``left`` or ``middle``."""

    x: float
    y: float
    text: str
    size: float = 10.0
    bold: bool = False
    align: str = "left"


@dataclass(frozen=True, slots=True)
class Page:
    """One sheet of ``width`` × ``height`` millimetres; drawn in the order boxes, strokes, words."""

    width: float
    height: float
    boxes: tuple[FilledRectangle, ...]
    strokes: tuple[Stroke, ...]
    words: tuple[TextLine, ...]


@dataclass(slots=True)
class _Drawing:
    boxes: list[FilledRectangle] = field(default_factory=list)
    strokes: list[Stroke] = field(default_factory=list)
    words: list[TextLine] = field(default_factory=list)

    def page(self, size: tuple[float, float]) -> Page:
        return Page(*size, tuple(self.boxes), tuple(self.strokes), tuple(self.words))


def pages(paper: str = "a4") -> tuple[Page, ...]:
    """Return the sheets of the kit as drawing data: the markers with the ruler, where they go, and stickers for igloos.

    :raises BadDataError: the paper is none of :data:`PAPERS`.
    """
    if paper not in PAPERS:
        raise BadDataError(f"The paper is one of {', '.join(PAPERS)}.")
    return _marker_page(PAPERS[paper]), _placing_page(PAPERS[paper]), _sticker_page(PAPERS[paper])


def marker_boxes(number: int, x: float, y: float, module: float = MODULE_MM) -> list[FilledRectangle]:
    """Return the black square of marker ``number`` with its white modules; (x, y) is its outer corner."""
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    bits = cv2.aruco.generateImageMarker(dictionary, number, MODULES)
    boxes = [FilledRectangle(x, y, MODULES * module, MODULES * module)]
    for row in range(MODULES):
        columns = np.flatnonzero(bits[row] > 127)
        # Neighbours in one box: seams between boxes show on some printers.
        for run in np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1):
            if len(run):
                left, width = x + int(run[0]) * module, len(run) * module
                boxes.append(FilledRectangle(left, y + row * module, width, module, 1.0))
    return boxes


def _marker_page(size: tuple[float, float]) -> Page:
    drawing = _Drawing()
    middle = size[0] / 2
    drawing.words += [
        TextLine(middle, 16, "Markers for the board · Repères pour le plateau", 16, bold=True, align="middle"),
        TextLine(middle, 23, _ENGLISH[0], 10, align="middle"),
        TextLine(middle, 28, _FRENCH[0], 10, align="middle"),
    ]
    card = SIDE_MM + 2 * QUIET_MM
    left = middle - card - _GAP_MM / 2
    columns, rows = (0, 1, 1, 0), (0, 0, 1, 1)
    for number in IDS:
        x = left + columns[number] * (card + _GAP_MM)
        y = _TOP_MM + rows[number] * (card + _LABEL_MM + _GAP_MM)
        _card(drawing, number, x, y)
    _ruler(drawing, middle - RULER_MM / 2, _TOP_MM + 2 * (card + _LABEL_MM + _GAP_MM) + 8)
    return drawing.page(size)


def _card(drawing: _Drawing, number: int, x: float, y: float) -> None:
    card = SIDE_MM + 2 * QUIET_MM
    x1, y1 = x + card, y + card + _LABEL_MM
    drawing.strokes += [
        Stroke(*ends, 0.15, 0.6) for ends in ((x, y, x1, y), (x1, y, x1, y1), (x1, y1, x, y1), (x, y1, x, y))
    ]
    drawing.boxes += marker_boxes(number, x + QUIET_MM, y + QUIET_MM)
    english, french = _PLACES[number]
    drawing.words += [
        TextLine(x + QUIET_MM, y1 - 3.2, str(number), 20, bold=True),
        TextLine(x + QUIET_MM + 8, y1 - 7, english, 10),
        TextLine(x + QUIET_MM + 8, y1 - 2.8, french, 10),
    ]


def _sticker_page(size: tuple[float, float]) -> Page:
    drawing = _Drawing()
    middle = size[0] / 2
    title = "Stickers for the igloos · Étiquettes pour les igloos"
    drawing.words += [TextLine(middle, 16, title, 15, bold=True, align="middle")]
    drawing.words += [TextLine(middle, 23 + 5 * i, line, 10, align="middle") for i, line in enumerate(_STICKERS)]
    side, rim = MODULES * STICKER_MODULE_MM, STICKER_MODULE_MM
    wide, high = side + 2 * rim, side + 2 * rim + 9
    for index, (marker, number) in enumerate(STICKER_OF.items()):
        row, column = divmod(index, 4)
        x, y = middle + (column - 2) * (wide + 8) + 4, 48 + row * (high + 8)
        drawing.boxes += marker_boxes(marker, x + rim, y + rim, STICKER_MODULE_MM)
        drawing.words.append(TextLine(x + wide / 2, y + high - 3, str(number), 22, bold=True, align="middle"))
        if number in {6, 9}:
            drawing.strokes.append(Stroke(x + wide / 2 - 4, y + high - 1.2, x + wide / 2 + 4, y + high - 1.2, 0.8))
        for ends in (
            (x, y, x + wide, y),
            (x, y + high, x + wide, y + high),
            (x, y, x, y + high),
            (x + wide, y, x + wide, y + high),
        ):
            drawing.strokes.append(Stroke(*ends, 0.15, 0.6))
    return drawing.page(size)


def _ruler(drawing: _Drawing, x: float, y: float) -> None:
    drawing.strokes.append(Stroke(x, y, x + RULER_MM, y, 0.2))
    for mm in range(RULER_MM + 1):
        length = 8.0 if mm % 10 == 0 else 5.5 if mm % 5 == 0 else 3.5
        drawing.strokes.append(Stroke(x + mm, y, x + mm, y + length, 0.15))
        if mm % 10 == 0:
            drawing.words.append(TextLine(x + mm, y + 12, str(mm), 8, align="middle"))
    drawing.words.append(TextLine(x + RULER_MM + 4, y + 12, "mm", 8))


def _placing_page(size: tuple[float, float]) -> Page:
    drawing = _Drawing()
    middle = size[0] / 2
    title = "Where the markers go · Où placer les repères"
    drawing.words.append(TextLine(middle, 16, title, 16, bold=True, align="middle"))
    board = (middle - 38, 46.0, 76.0, 60.0)
    drawing.boxes.append(FilledRectangle(*board, 0.88))
    for step in range(9):
        across, down = board[0] + step * board[2] / 8, board[1] + step * board[3] / 8
        drawing.strokes.append(Stroke(across, board[1], across, board[1] + board[3], 0.15, 0.5))
        drawing.strokes.append(Stroke(board[0], down, board[0] + board[2], down, 0.15, 0.5))
    reach = 12.0
    corners = (
        (board[0] - reach - 5, board[1] - 3),
        (board[0] + board[2] + 5, board[1] - 5),
        (board[0] + board[2] + 6, board[1] + board[3] - reach + 4),
        (board[0] - reach - 6, board[1] + board[3] - reach + 5),
    )
    for number, (x, y) in enumerate(corners):
        # Plain squares: this sheet may lie on the table too, and must not show a second marker 2.
        drawing.boxes.append(FilledRectangle(x, y, reach, reach, 0.75))
        drawing.words.append(TextLine(x + reach / 2, y + reach / 2 + 2, str(number), 16, bold=True, align="middle"))
        english, french = _PLACES[number]
        outward = x - 22 if number in {0, 3} else x + reach + 22
        drawing.words += [
            TextLine(outward, y + 4, f"{number} · {english}", 9, bold=True, align="middle"),
            TextLine(outward, y + 8.5, french, 9, align="middle"),
        ]
    drawing.words += [
        TextLine(middle, 36, "far side · au fond", 9, align="middle"),
        TextLine(
            middle, board[1] + board[3] + 12, "near side, the camera’s foot · devant, côté caméra", 9, align="middle"
        ),
    ]
    top = board[1] + board[3] + 30
    for start, lines in ((top, _ENGLISH), (top + 44, _FRENCH)):
        drawing.words += [TextLine(middle - 70, start + 5.5 * row, line, 10.5) for row, line in enumerate(lines)]
    return drawing.page(size)


def to_pdf(sheets: tuple[Page, ...]) -> bytes:
    """Return the sheets as a PDF, the same bytes for the same sheets."""
    from reportlab.lib.units import mm  # noqa: PLC0415 - reportlab is slow to import, and only this needs it
    from reportlab.pdfgen.canvas import Canvas  # noqa: PLC0415

    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=1)
    canvas.setTitle("Tabletop Companion: markers · repères")
    for page in sheets:
        canvas.setPageSize((page.width * mm, page.height * mm))
        for box in page.boxes:
            canvas.setFillGray(box.grey)
            top = page.height - box.y - box.height
            canvas.rect(box.x * mm, top * mm, box.width * mm, box.height * mm, stroke=0, fill=1)
        for stroke in page.strokes:
            canvas.setStrokeGray(stroke.grey)
            canvas.setLineWidth(stroke.width * mm)
            ends = (stroke.x0, page.height - stroke.y0, stroke.x1, page.height - stroke.y1)
            canvas.line(*(value * mm for value in ends))
        canvas.setFillGray(0)
        for words in page.words:
            canvas.setFont("Helvetica-Bold" if words.bold else "Helvetica", words.size)
            draw = canvas.drawCentredString if words.align == "middle" else canvas.drawString
            draw(words.x * mm, (page.height - words.y) * mm, words.text)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()
