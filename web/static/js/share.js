// What leaves the house, only when somebody carries it out: a link for BG Stats, the scores as files.

import { h, s, style } from "./dom.js";
import { icon } from "./art.js";
import { closeDialog, openDialog } from "./dialogs.js";
import { pieceAt, playerName } from "./art.js";
import { ask, fetched } from "./net.js";
import { isHost, match } from "./store.js";
import { chart, hasHistory } from "./story.js";
import { date, said, t } from "./words.js";

const WIDE = 1080;
const ROW = 96;
/** A picture that leaves the page takes its colours with it: paper and ink, as the page has them by day. */
const STYLE = `text { fill: #10263a; font: 600 44px Georgia, "DejaVu Serif", serif } .quiet { fill: #45596b; font-size: 30px }
  .disc { stroke: #10263a; stroke-width: 1.5 } .shape { fill: #fff } :is(.yellow, .green) .shape { fill: #1a1a1a } .shape .digit { fill: #fff; font: 700 14px sans-serif }
  .piece { stroke: #1a1a1a; stroke-width: 1.6 } .piece text { stroke: none; font: 700 14px sans-serif; fill: #fff } .piece:is(.yellow, .green) text { fill: #1a1a1a }
  .piece.red { fill: #c9303a } .piece.blue { fill: #2464c4 } .piece.yellow { fill: #e8b31d } .piece.green { fill: #3a9d52 }
  .red .disc, .p1 .disc { fill: #c9303a } .yellow .disc { fill: #e8b31d } .green .disc { fill: #3a9d52 } .blue .disc, .p2 .disc { fill: #2464c4 }
  .violet .disc, .p3 .disc { fill: #7c47b3 } .black .disc, .p4 .disc { fill: #23262d } .grid { stroke: #b9cad5 } .chart text { font: 13px sans-serif }
  .line path { fill: none; stroke-linejoin: round } .rim { stroke: #fffdf8; stroke-width: 6 } .ink { stroke-width: 3 } .line.red .ink, .line.p1 .ink { stroke: #c9303a }
  .line.yellow .ink { stroke: #e8b31d } .line.green .ink { stroke: #3a9d52 } .line.blue .ink, .line.p2 .ink { stroke: #2464c4; stroke-dasharray: 8 6 }
  .line.violet .ink, .line.p3 .ink { stroke: #7c47b3 } .line.black .ink, .line.p4 .ink { stroke: #23262d; stroke-dasharray: 4 4 }`;

/** Draw the ranking and how the scores went as a picture that stands by itself. */
function drawing(match) {
  const rows = match.ranking.flat().map((colour) => match.players.find((one) => one.colour === colour));
  const day = date(match.opened, { dateStyle: "long" });
  const top = 190;
  const below = top + rows.length * ROW;
  const high = below + (hasHistory(match) ? 480 : 40);
  const history = hasHistory(match) && chart(match);
  if (history) for (const [name, value] of Object.entries({ x: 60, y: below + 20, width: WIDE - 120, height: 384 })) history.setAttribute(name, value);
  const node = s("svg", { xmlns: "http://www.w3.org/2000/svg", width: WIDE, height: high, viewBox: `0 0 ${WIDE} ${high}` },
    s("style", null, STYLE),
    s("rect", { width: WIDE, height: high, fill: "#e6f0f5" }), s("rect", { x: 30, y: 30, width: WIDE - 60, height: high - 60, rx: 24, fill: "#fffdf8" }),
    s("text", { x: 70, y: 105 }, said(match.title)),
    s("text", { class: "quiet", x: 70, y: 152 }, match.ended_by === "early" ? `${day}. ${t("Ended early: the standing so far.")}` : day),
    rows.map((player, i) => [
      s("text", { class: "quiet", x: 70, y: top + i * ROW + 58 }, player.place), pieceAt(match.game, player.colour, 160, top + i * ROW + 44, 2.6),
      s("text", { x: 215, y: top + i * ROW + 60 }, playerName(player)),
      s("text", { x: WIDE - 80, y: top + i * ROW + 60, "text-anchor": "end" }, player.score)]),
    history);
  return { high, text: new XMLSerializer().serializeToString(node) };
}

async function painted({ high, text }) {
  const image = new Image(WIDE, high);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = h("canvas", { width: WIDE, height: high });
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/png");
}

/** Open the window for sharing the game that has ended: its picture first, to be sent on; below it what other programs read. */
export function shareWindow() {
  return fetched(async () => {
    const game = match();
    const [{ url }, file] = await Promise.all([ask("/api/share/bgstats"), painted(drawing(game))]);
    openDialog(t("Share this game"),
      game.ended_by === "early" && h("p", { class: "note" }, t("Ended early: the standing so far is shared, without a winner.")),
      h("img", { class: "result-picture", src: file, alt: said(game.ranking_why) || said(game.title) }),
      h("div", { class: "row" },
        h("a", { class: "main", href: file, download: `${game.game}.png` }, icon("check"), t("Keep the picture")),
        h("button", { type: "button", class: "second", "data-do": "print-result" }, icon("cards"), t("Print the result"))),
      h("p", { class: "quiet" }, t("Keep it, or hold it down to send it on.")),
      h("h3", null, "BG Stats"),
      h("p", null, t("Nothing is sent by the companion. Scan the code with the phone that has BG Stats, or open the link there.")),
      h("img", { class: "code", src: `/api/share/bgstats.svg?${Date.now()}`, alt: t("Code that opens this game in BG Stats") }),
      h("div", { class: "row" },
        h("a", { class: "second", href: url, rel: "noreferrer" }, t("Open in BG Stats")),
        h("a", { class: "second", href: "/api/share/scores.csv", download: "scores.csv" }, t("All scores (CSV)")),
        isHost() && h("a", { class: "second", href: "/api/share/nights.json", download: "nights.json" }, t("Everything (JSON)"))));
  });
}

/** Print ranking, score lines and story; what is folded away on the page is read on paper. */
export function printResult() {
  closeDialog(null);
  style("print");
  for (const sheet of document.querySelectorAll(".scores .sheet")) sheet.open = true;
  // The style sheet is there before the paper is laid out.
  const link = document.querySelector("link[data-style=print]");
  if (link.sheet) print();
  else link.addEventListener("load", () => print(), { once: true });
}
