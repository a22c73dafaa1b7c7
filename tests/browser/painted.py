"""What axe cannot decide of a page's colours, decided by what is painted: the contrast of each text with its ground.

The page is taken twice, once without its letters; where the two pictures differ, there the letters are, and the second
shows what lies below them: gradients, drawings, pieces. For the moment, what scrolls is unrolled and what floats over
the page lies in it, so that nothing is covered. The bounds are those of WCAG 2.2, 1.4.3: 4.5, and 3 for large letters.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from PIL import Image
from playwright.sync_api import FloatRect, Page

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
Box = tuple[int, int, int, int]

ENOUGH: Final = 0.9
"""So much of a text has to have its contrast: a line that passes under a letter's edge does not make it unreadable."""
PAINTED: Final = 6
"""A letter changes a pixel by so much at least, of 255."""
FEW: Final = 4
"""Fewer pixels than that are no letter."""

UNROLL = """() => {
  for (const node of document.querySelectorAll("body *")) {
    if (!(node instanceof HTMLElement)) continue;
    const is = getComputedStyle(node);
    const scrolls = /auto|scroll/.test(is.overflowX + is.overflowY)
      && (node.scrollHeight > node.clientHeight + 1 || node.scrollWidth > node.clientWidth + 1);
    const floats = /fixed|sticky/.test(is.position);
    if (scrolls || floats) node.dataset.unrolled = [scrolls && "scrolls", floats && "floats"].filter(Boolean).join(" ");
  }
}"""

ROLL = """() => {
  for (const node of document.querySelectorAll("[data-unrolled]")) delete node.dataset.unrolled;
}"""

UNROLLED = """
  [data-unrolled~=scrolls] {
    overflow: visible !important; max-height: none !important; height: fit-content !important; }
  [data-unrolled~=floats] { position: static !important; }
  dialog[data-unrolled] { bottom: auto !important; min-width: min-content !important; max-width: none !important; }"""

BARE = """
  * { -webkit-text-fill-color: transparent !important; text-shadow: none !important; transition: none !important; }
  text, tspan { fill: transparent !important; }"""

STYLE = """(css) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}"""

UNSTYLE = """() => { document.adoptedStyleSheets = [...document.adoptedStyleSheets].slice(0, -1); }"""

SIZE = """() => {
  const { scrollWidth, scrollHeight, clientWidth } = document.documentElement;
  return [scrollWidth, scrollHeight, clientWidth, innerHeight, scrollX, scrollY];
}"""

SCROLL = """([left, top]) => {
  scrollTo({ left, top, behavior: "instant" });
  return [Math.round(scrollX), Math.round(scrollY)];
}"""

TEXTS = """(targets) => targets.map((target) => {
  const node = document.querySelector(target);
  if (!node) return null;
  const is = getComputedStyle(node, node.matches(":placeholder-shown") ? "::placeholder" : null);
  const drawn = node instanceof SVGElement;
  let clear = 1;
  for (let one = node; one; one = one.parentElement) clear *= Number(getComputedStyle(one).opacity);
  const written = [...node.childNodes].filter((one) => one.nodeType === Node.TEXT_NODE && one.data.trim());
  // What is written in a field is no child of it.
  const boxes = (node.matches("input, select, textarea") ? [node.getBoundingClientRect()] : written.flatMap((one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    return [...range.getClientRects()];
  })).map((box) => [box.left + scrollX, box.top + scrollY, box.right + scrollX, box.bottom + scrollY]);
  const scale = drawn && node.getScreenCTM ? Math.hypot(node.getScreenCTM().a, node.getScreenCTM().b) : 1;
  const rim = drawn && is.stroke !== "none" && parseFloat(is.strokeWidth) >= 1.5;
  return { boxes, colour: drawn ? is.fill : is.color, rim: rim ? is.stroke : null,
    clear: clear * (drawn ? Number(is.fillOpacity) : 1), size: parseFloat(is.fontSize) * scale,
    weight: Number(is.fontWeight) };
})"""


def faint(page: Page, targets: Sequence[str]) -> dict[str, float]:
    """Return the contrast of those texts, by the selectors of their elements, that have too little of it.

    What is not painted at all (it is empty, hidden, or of no size) has none to measure.
    """
    page.evaluate(UNROLL)
    with _styled(page, UNROLLED):
        texts = page.evaluate(TEXTS, list(targets))
        whole, bare = _pictures(page, texts)
    page.evaluate(ROLL)
    found = {}
    for target, text in zip(targets, texts, strict=True):
        ratio = None if text is None else _contrast(text, whole, bare)
        if ratio is not None and ratio < (3.0 if _is_large(text) else 4.5):
            found[target] = ratio
    return found


@contextmanager
def _styled(page: Page, css: str) -> Iterator[None]:
    page.evaluate(STYLE, css)
    yield
    page.evaluate(UNSTYLE)


def _pictures(page: Page, texts: Sequence[dict[str, Any] | None]) -> tuple[Pixels, Pixels]:
    """Return the page with its letters and without, where the texts stand; the rest is black.

    It is taken piece by piece, since in a taller window it would be laid out otherwise.
    """
    wide, high, across, down, left, top = page.evaluate(SIZE)
    whole, bare = (np.zeros((high, wide, 3), np.uint8) for _ in range(2))
    boxes = [box for text in texts if text for box in text["boxes"]]
    for y in range(0, high, down):
        for x in range(0, wide, across):
            if _clip(boxes, (x, y, x + across, y + down)) is None:
                continue
            column, row = page.evaluate(SCROLL, [x, y])
            clip = _clip(boxes, (column, row, min(column + across, wide), min(row + down, high)))
            if clip is None:
                continue
            _take(page, whole, clip, (column, row))
            with _styled(page, BARE):
                _take(page, bare, clip, (column, row))
    page.evaluate(SCROLL, [left, top])
    return whole, bare


def _clip(boxes: Sequence[Sequence[float]], within: Box) -> Box | None:
    """Return what of the page all the boxes fill that lie within a piece of it: left, top, right, bottom."""
    left, top, right, bottom = within
    seen = [one for one in boxes if one[0] < right and one[2] > left and one[1] < bottom and one[3] > top]
    if not seen:
        return None
    lefts, tops, rights, bottoms = zip(*seen, strict=True)
    return (
        max(left, int(min(lefts))),
        max(top, int(min(tops))),
        min(right, int(max(rights)) + 1),
        min(bottom, int(max(bottoms)) + 1),
    )


def _take(page: Page, picture: Pixels, clip: Box, scrolled: tuple[int, int]) -> None:
    left, top, right, bottom = clip
    at: FloatRect = {"x": left - scrolled[0], "y": top - scrolled[1], "width": right - left, "height": bottom - top}
    taken = Image.open(io.BytesIO(page.screenshot(caret="initial", clip=at))).convert("RGB")
    picture[top:bottom, left:right] = np.asarray(taken)


def _is_large(text: dict[str, Any]) -> bool:
    return bool(text["size"] >= 24 or (text["size"] >= 18.66 and text["weight"] >= 700))


def _contrast(text: dict[str, Any], whole: Pixels, bare: Pixels) -> float | None:
    """Return what nine tenths of a text's pixels have of contrast; None where nothing is painted."""
    high, wide = bare.shape[:2]
    red, green, blue, opaque = _colour(text["colour"])
    ink, grounds = np.array([red, green, blue]), []
    for left, top, right, bottom in text["boxes"]:
        rows = slice(max(0, int(top)), min(high, int(bottom) + 1))
        columns = slice(max(0, int(left)), min(wide, int(right) + 1))
        ground = bare[rows, columns].astype(np.float64)
        drawn = whole[rows, columns].astype(np.float64)
        letters = np.abs(drawn - ground).max(axis=-1, initial=0) > PAINTED
        # What became less like its colour belongs to another text, which lies over this one.
        letters &= np.abs(drawn - ink).sum(axis=-1) < np.abs(ground - ink).sum(axis=-1)
        grounds.append(ground[letters])
    ground = np.concatenate(grounds) if grounds else np.empty((0, 3))
    if len(ground) < FEW:
        return None
    clear = opaque * text["clear"]
    if text["rim"]:
        ground = np.broadcast_to(np.array(_colour(text["rim"])[:3]), ground.shape)
    letters = clear * ink + (1 - clear) * ground
    one, other = _luminance(letters), _luminance(ground)
    ratio = (np.maximum(one, other) + 0.05) / (np.minimum(one, other) + 0.05)
    return float(np.quantile(ratio, 1 - ENOUGH))


def _colour(css: str) -> tuple[float, float, float, float]:
    """Read a computed colour: ``rgb(…)`` or ``rgba(…)``; 0…255, and how opaque it is."""
    numbers = [float(one) for one in css[css.index("(") + 1 : -1].replace(",", " ").replace("/", " ").split()]
    red, green, blue, opaque = (*numbers, 1.0)[:4]
    return red, green, blue, opaque


def _luminance(colours: Floats) -> Floats:
    part = colours / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ np.array([0.2126, 0.7152, 0.0722]))
