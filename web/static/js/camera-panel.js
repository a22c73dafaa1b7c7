// The camera in the workshop: which one it is, how it does, what it sees; and another one is chosen.

import { h } from "./dom.js";
import { icon } from "./art.js";
import { keptPictures, picture, sendPhoto, stateWords } from "./devices.js";
import { fetched, tell } from "./net.js";
import { kindMark } from "./rulings.js";
import { isHost, store } from "./store.js";
import { number, t } from "./words.js";

function chooser(camera) {
  return h("details", { class: "source", "data-key": "source" },
    h("summary", null, t("Choose another source")),
    h("form", { "data-submit": "camera" },
      h("label", { for: "camera-source" }, t("usb:0, pi, or the http address of a stream; empty for none")),
      h("div", { class: "row" },
        h("input", { id: "camera-source", name: "source", type: "text", maxlength: 500, value: camera?.source ?? "",
          autocomplete: "off", autocapitalize: "off", spellcheck: "false" }),
        h("button", { type: "submit", class: "second" }, t("Use it")))));
}

/** Draw what is known of the camera. */
export function cameraPanel(match) {
  const { camera } = store.camera;
  return h("section", { class: "panel camera-panel", "data-key": "camera" },
    h("h2", null, icon("camera"), " ", t("The camera")),
    camera
      ? h("p", { class: "device-head" },
          h("span", { class: ["lamp", camera.state], "aria-hidden": "true" }),
          h("strong", null, camera.source), kindMark(camera.kind), h("span", { class: "quiet" }, stateWords(camera.state)),
          camera.width ? h("span", { class: "quiet" }, `${camera.width} × ${camera.height}${camera.fps ? `, ${number(camera.fps, 1)}/s` : ""}`) : null)
      : h("p", { class: "quiet" }, t("No camera is chosen. A photo from a phone works just as well.")),
    camera?.note && h("p", { class: camera.state === "connected" ? "quiet" : "note" }, t(camera.note)),
    picture(match),
    sendPhoto(match),
    keptPictures(match),
    isHost() && chooser(camera));
}

/** Use the source that was entered. */
export const chooseCamera = (form) => fetched(() => tell("/api/camera", { source: new FormData(form).get("source") }));
