// What leaves the house, only when somebody carries it out: a link for BG Stats, the scores as files.

import { h } from "./dom.js";
import { icon } from "./art.js";
import { openDialog } from "./dialogs.js";
import { ask, showRefusal } from "./net.js";
import { isHost } from "./store.js";
import { t } from "./words.js";

/** Open the window for sharing the game that is over. */
export async function shareWindow() {
  try {
    const { url } = await ask("/api/share/bgstats");
    openDialog(t("Share this game"),
      h("p", null, t("Nothing is sent by the companion. Scan the code with the phone that has BG Stats, or open the link there.")),
      h("img", { class: "code", src: `/api/share/bgstats.svg?${Date.now()}`, alt: t("Code that opens this game in BG Stats") }),
      h("div", { class: "row" },
        h("a", { class: "main", href: url, rel: "noreferrer" }, icon("check"), t("Open in BG Stats")),
        h("a", { class: "second", href: "/api/share/scores.csv", download: "scores.csv" }, t("All scores (CSV)")),
        isHost() && h("a", { class: "second", href: "/api/share/nights.json", download: "nights.json" }, t("Everything (JSON)"))));
  } catch (refused) {
    showRefusal(refused.error);
  }
}
