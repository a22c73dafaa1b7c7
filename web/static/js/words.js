// The page's words in the reader's language. English is the language of the message ids.

let words = {};
let plural = null;
let language = "en";
let region = "en";

/** The code of the reader's language. */
export const code = () => language;

/** Fetch the words once, before anything is drawn. */
export async function learn(code, url) {
  language = code;
  region = navigator.languages.find((one) => one.split("-")[0] === code) ?? code;
  const answer = await fetch(url);
  if (!answer.ok) return;
  ({ words, plural } = await answer.json());
}

function fill(text, facts) {
  return facts ? text.replace(/%\((\w+)\)s/g, (_, name) => facts[name]) : text;
}

/** Translate a sentence; `%(name)s` in it stands for a fact. */
export function t(id, facts) {
  const text = words[id];
  return fill((Array.isArray(text) ? text[0] : text) ?? id, facts);
}

/** Translate a sentence that has a number in it (`%(n)s`). */
export function tn(one, many, n, facts) {
  const table = plural ?? [1, 0, 1];
  const whole = Math.abs(Math.trunc(n));
  const form = table[whole < table.length ? whole : 100 + (whole % 100)] ?? 1;
  const forms = words[one];
  const text = Array.isArray(forms) ? forms[form] : [one, many][form] ?? many;
  return fill(text, { n, ...facts });
}

/** Choose from words that come in every language: `{en, fr}`. */
export function said(both) {
  return both ? (both[language] ?? both.en ?? "") : "";
}

/** Format a number as the reader writes it. */
export function number(value, digits = 0) {
  return value.toLocaleString(region, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Format a share of 1 as a percentage. */
export function percent(share) {
  return share.toLocaleString(region, { style: "percent" });
}

/** Format a moment (UTC milliseconds) as hours and minutes. */
export function clock(at) {
  return new Date(at).toLocaleTimeString(region, { hour: "2-digit", minute: "2-digit" });
}

/** Join a list with commas and a last word ("and", "or"). */
export function list(items, type = "conjunction") {
  return new Intl.ListFormat(language, { type }).format(items.map(String));
}
