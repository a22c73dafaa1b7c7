// The page's words in the reader's language. English is the language of the message ids.

let words = {};
let plural = null;
let language = "en";
let tag = "en";
let region = "en";
let hours = null;

/** French has a space before these signs; a line does not begin with them. */
const spaced = (text) => (language === "fr" ? text.replace(/ (?=[?!:;»])|(?<=«) /g, "\u00a0") : text);

/** The code of the reader's language. */
export const code = () => language;

const AGAIN_MS = 5000;
const NOT_YET = "…";
const learning = {};
const answered = {};
let addresses = {};
let learnt = () => {};

async function fetchWords(name) {
  const answer = await fetch(addresses[name]);
  if (!answer.ok) throw new Error(name);
  return answer.json();
}

/** The words that are known: others when more have come, or when none will come for now. */
export const wordsKnown = () => words;

/** Learn the words of a room; where it has none of its own, all that are left. What is known is not asked for again. */
function learnMore(room) {
  const name = addresses[room] ? room : "rest";
  if (!addresses[name]) return Promise.resolve();
  learning[name] ??= fetchWords(name).then((more) => { words = { ...words, ...more.words }; })
    .catch(() => {
      words = { ...words };
      setTimeout(() => { delete learning[name]; }, AGAIN_MS);
    })
    .then(() => { answered[name] = true; learnt(); });
  return learning[name];
}

/** A module that is fetched when it is first needed, with the words of its room. */
export const withWords = (module, room = "rest") => Promise.all([module, learnMore(room)]).then(([found]) => found);

function speak(code) {
  language = code;
  // Browsers write pt-BR where the files have pt_BR; the reader's own region decides how numbers and dates are written.
  tag = code.replaceAll("_", "-");
  region = navigator.languages.find((one) => one === tag || one.startsWith(`${tag}-`)) ?? tag;
  hours = null;
}

/** Fetch the first words, before anything is drawn; `again` draws once more when others have come. */
export async function learn(code, urls, again) {
  speak(code);
  learnt = again;
  // English is the language of the ids.
  addresses = code === "en" ? { main: urls.main } : urls;
  ({ words, plural } = await fetchWords("main").catch(() => ({ words, plural })));
}

/** Take words that came with the page itself. */
export function teach(code, known) {
  speak(code);
  ({ words, plural } = known);
}

/** What a message id stands for; one that is not known yet has the rest of the words fetched, and is no English till then. */
function text(id) {
  if (id in words || !id) return words[id];
  learnMore("rest");
  return learning.rest && !answered.rest ? NOT_YET : undefined;
}

/** A fact as the reader writes it: a fraction has the region's sign, whole numbers stand as they are. */
const written = (fact) => (typeof fact === "number" && !Number.isInteger(fact) ? fact.toLocaleString(region) : fact);

function fill(text, facts) {
  return spaced(facts ? text.replace(/%\((\w+)\)s/g, (_, name) => written(facts[name])) : text);
}

/** Translate a sentence; `%(name)s` in it stands for a fact. */
export function t(id, facts) {
  const found = text(id);
  return fill((Array.isArray(found) ? found[0] : found) ?? id, facts);
}

/** Translate a sentence that has a number in it (`%(n)s`). */
export function tn(one, many, n, facts) {
  const table = plural ?? [1, 0, 1];
  const whole = Math.abs(Math.trunc(n));
  const form = table[whole < table.length ? whole : 100 + (whole % 100)] ?? 1;
  const forms = text(one);
  if (forms === NOT_YET) return forms;
  const found = Array.isArray(forms) ? forms[form] : [one, many][form] ?? many;
  return fill(found, { n, ...facts });
}

/** Choose from words that come in every language: `{en, fr}`. */
export function said(both) {
  return both ? spaced(both[language] ?? both.en ?? "") : "";
}

/** Format a number as the reader writes it. */
export function number(value, digits = 0) {
  return value.toLocaleString(region, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Format a share of 1 as a percentage. */
export function percent(share) {
  return share.toLocaleString(region, { style: "percent" });
}

/** Format a moment (UTC milliseconds, or what dates are made of) as a day, or in another way that Intl knows. */
export function date(at, way = { year: "numeric", month: "numeric", day: "numeric" }) {
  return new Date(at).toLocaleString(region, way);
}

/** Format a moment (UTC milliseconds) as hours and minutes. */
export function clock(at) {
  // To learn how a region writes takes a browser far longer than to write.
  hours ??= new Intl.DateTimeFormat(region, { hour: "2-digit", minute: "2-digit" });
  return hours.format(at);
}

/** Join a list with commas and a last word ("and", "or"). */
export function list(items, type = "conjunction") {
  return new Intl.ListFormat(tag, { type }).format(items.map(String));
}
