// The animals of Arctic, in the order of its box.

import { t } from "../../words.js";

export const ANIMALS = ["fox", "moose", "walrus", "orca", "puffin", "bear"];
/** The cards of the landscape, by the points that each is worth. */
export const LANDS = [0, 1, 3, 6, 10, 15];

export const animal = (name) => ({ fox: t("fox"), moose: t("moose"), walrus: t("walrus"), orca: t("orca"), puffin: t("puffin"), bear: t("bear") }[name]);
