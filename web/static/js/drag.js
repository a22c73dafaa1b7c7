// A piece is moved as on the table: pressed, carried, let go of where it shall stand. Two taps do the same.

import { h } from "./dom.js";

/** A finger that moves less than so many pixels taps. */
const FAR = 10;
let held = null;

function ghost(event) {
  held.ghost ??= document.body.appendChild(h("div", { class: "dragged", "aria-hidden": "true" }));
  held.ghost.style.transform = `translate(${event.clientX}px, ${event.clientY}px)`;
}

function letGo() {
  held?.ghost?.remove();
  held = null;
}

/** The click that ends the way of a piece is none. */
function swallowClick() {
  const swallow = (event) => { event.stopPropagation(); event.preventDefault(); };
  document.addEventListener("click", swallow, { capture: true, once: true });
  setTimeout(() => document.removeEventListener("click", swallow, { capture: true }), 50);
}

/**
 * Hear how pieces are carried. `kinds` has, for what each selector finds, `lift(data)`, which says whether that piece may be,
 * and `drop(data)` with the `data-…` of where it was let go of, null beside all that is tapped.
 */
export function followDragging(kinds) {
  document.addEventListener("pointerdown", (event) => {
    letGo();
    if (!event.isPrimary || event.button !== 0) return;
    for (const [selector, kind] of Object.entries(kinds)) {
      const from = event.target.closest?.(selector);
      if (from) held = { ...kind, id: event.pointerId, data: from.dataset, x: event.clientX, y: event.clientY, lifted: false };
    }
  });
  document.addEventListener("pointermove", (event) => {
    if (!held || event.pointerId !== held.id) return;
    if (!held.lifted && Math.hypot(event.clientX - held.x, event.clientY - held.y) < FAR) return;
    if (!held.lifted && !held.lift(held.data)) return letGo();
    held.lifted = true;
    ghost(event);
  });
  // A finger that carries a piece does not scroll the page; touch-action knows no parts of a drawing.
  document.getElementById("stage").addEventListener("touchmove", (event) => { if (held) event.preventDefault(); }, { passive: false });
  document.addEventListener("pointerup", (event) => {
    const { lifted, drop } = held ?? {};
    letGo();
    if (!lifted) return;
    swallowClick();
    drop(document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-do]")?.dataset ?? null);
  });
  document.addEventListener("pointercancel", () => {
    const { lifted, drop } = held ?? {};
    letGo();
    if (lifted) drop(null);
  });
}
