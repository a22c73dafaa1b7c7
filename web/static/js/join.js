// The way in: the code that was scanned carries the PIN behind the #, where no server sees it.

const pin = location.hash.slice(1).replace(/\D/g, "").slice(0, 12);
const field = document.getElementById("pin");
if (pin) {
  field.value = pin;
  history.replaceState(null, "", "/join");
  document.getElementById("enter").focus();
} else {
  field.focus();
}
