// The faces of Ice Team's floes and dice.

import { t } from "../../words.js";

/** A face of a floe or a die, as people say it. */
export const faceWords = (name) => ({ plain: t("nothing"), paw: t("bear paws"), drift: t("drift"), steal: t("theft") }[name] ?? name
  .replace(/^fish(\d)$/, (_, n) => t("fish %(n)s", { n }))
  .replace(/^penguin(\d)/, (_, n) => t("penguins %(n)s", { n }))
  .replace(/^plain(?=-)/, t("nothing")).replace(/^drift(?=-)/, t("drift"))
  .replace(/-fragile$/, `, ${t("cracked")}`));
