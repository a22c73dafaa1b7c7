// The way in: the code that was scanned carries the PIN behind the #, where no server sees it.

const name = document.getElementById("label");
const KEPT = "companion.name";
try {
  name.value = JSON.parse(localStorage.getItem(KEPT)) ?? "";
  name.form.addEventListener("submit", () => localStorage.setItem(KEPT, JSON.stringify(name.value.trim())));
} catch {
  // A browser that keeps nothing only means typing the name again.
}

const pin = location.hash.slice(1).replace(/\D/g, "").slice(0, 12);
const field = document.getElementById("pin");
if (pin) {
  field.value = pin;
  history.replaceState(null, "", "/join");
  document.getElementById("enter").focus();
} else {
  field.focus();
}
