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
from playwright.sync_api import Page

Pixels = npt.NDArray[np.float64]

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
  [data-unrolled~=scrolls] { overflow: visible !important; max-height: none !important; height: fit-content !important; }
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
        whole = _picture(page)
        with _styled(page, BARE):
            bare = _picture(page)
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


def _picture(page: Page) -> Pixels:
    """Return the whole page, taken piece by piece: in a taller window it would be laid out otherwise."""
    wide, high, across, down, left, top = page.evaluate(SIZE)
    whole = np.zeros((high, wide, 3))
    for y in range(0, high, down):
        for x in range(0, wide, across):
            column, row = page.evaluate(SCROLL, [x, y])
            piece = np.asarray(Image.open(io.BytesIO(page.screenshot(caret="initial"))).convert("RGB"), np.float64)
            here = whole[row : row + piece.shape[0], column : column + piece.shape[1]]
            here[:] = piece[: here.shape[0], : here.shape[1]]
    page.evaluate(SCROLL, [left, top])
    return whole


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
        ground = bare[rows, columns]
        drawn = whole[rows, columns]
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


def _luminance(colours: Pixels) -> Pixels:
    part = colours / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ np.array([0.2126, 0.7152, 0.0722]))
