// What lies in an owner's box of Iglu Iglu.

import { h } from "../../dom.js";
import { wholeField } from "../../boxes.js";
import { t } from "../../words.js";

/** The face of a tile, as people say it. */
const face = (name) => ({
  bear: t("bear"), pack: t("pack"), drift: t("drift"), thaw: t("thaw"), harpoon: t("harpoon"), animals: t("animal movement"),
}[name] ?? name
  .replace(/^fish (\d)$/, (_, n) => t("fish %(n)s", { n }))
  .replace(/^endurance (\d)$/, (_, n) => t("endurance %(n)s", { n })));

export default {
  fields: (form) => [
    h("p", { class: "quiet" }, t("Count the %(n)s floe tiles by their faces; the player aids picture every tile.", { n: form.total })),
    h("div", { class: "counts-of-box" }, form.faces.map((name) => wholeField(name, face(name), form.data.tiles[name] ?? 0))),
  ],
  read: (data) => ({ tiles: Object.fromEntries([...data].map(([name, value]) => [name, Number(value)]).filter(([, value]) => value !== 0)) }),
};
