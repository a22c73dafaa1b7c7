#!/usr/bin/env bash
# Installs the companion for good on Raspberry Pi OS (Bookworm, Trixie) or Debian: once, again, for an upgrade.
#
#   sudo ./install.sh               install, or upgrade to this checkout; nights stay
#   sudo ./install.sh --rollback    back to the version that lies beside this one; nights stay
#   sudo ./install.sh --uninstall   take it away again; nights stay in /var/lib/companion
#
# Options: --no-apt (packages are there already), --no-start (do not start the service), --wheels DIR (no internet),
# --name NAME (the machine's name from now on: the page is then at http://NAME.local:8080), --watch SECONDS (how long
# the new version is watched, 120; where it does not answer, the old one comes back), --old-nights (with --rollback,
# where that version cannot read the nights of today: they are exported, and the newest backup that it can read is
# brought back).
set -euo pipefail

HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
PREFIX=/opt/companion
DATA=/var/lib/companion
COMMAND=/usr/local/bin/companion
UNIT=/etc/systemd/system/companion.service
RULES=/etc/udev/rules.d/70-companion.rules
STICK_RULES=/etc/udev/rules.d/71-companion-stick.rules
BRAILLE_RULES=/etc/udev/rules.d/99-companion-braille.rules
AVAHI=/etc/avahi/services/companion.service
PACKAGES=(python3 python3-venv avahi-daemon avrdude)
# Of Raspberry Pi OS only: lgpio for the panel (no wheel for Python 3.13 on aarch64), rpicam-apps for the Pi camera.
WANTED=(python3-lgpio rpicam-apps)

# A terminal that is gone (a lost WLAN) must not end an upgrade halfway.
say() { printf '%s\n' "$*" || true; }
die() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }
systemd() { [ -d /run/systemd/system ]; }

apt=yes start=yes uninstall=no rollback=no old_nights=no name="" watch=120 wheels=()
while [ $# -gt 0 ]; do
  case "$1" in
    --uninstall) uninstall=yes ;;
    --rollback) rollback=yes ;;
    --old-nights) old_nights=yes ;;
    --no-apt) apt=no ;;
    --no-start) start=no ;;
    --wheels) [ $# -gt 1 ] || die "--wheels needs a folder."; wheels=(--no-index --find-links "$2"); shift ;;
    --name) [ $# -gt 1 ] || die "--name needs a name."; name="$2"; shift ;;
    --watch) [ $# -gt 1 ] || die "--watch needs seconds."; watch="$2"; shift ;;
    -h|--help) sed -n '2,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) die "There is no option $1." ;;
  esac
  shift
done
[[ -z "$name" || "$name" =~ ^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$ ]] || die "A name has letters a-z, digits and hyphens, not: $name"
[[ "$watch" =~ ^[0-9]{1,4}$ ]] || die "--watch needs seconds, not: $watch"
[ "$old_nights" = no ] || [ "$rollback" = yes ] || die "--old-nights belongs to --rollback."
[ "$(id -u)" = 0 ] || die "This needs root: sudo $0"

uninstall() {
  if systemd; then systemctl disable --now companion 2>/dev/null || true; fi
  local placed=("$UNIT" "$RULES" "$STICK_RULES" "$BRAILLE_RULES" "$AVAHI" "$COMMAND")
  rm -f "${placed[@]}" "${placed[@]/%/.new}"
  rm -rf "$PREFIX"
  if systemd; then
    systemctl daemon-reload
    udevadm control --reload || true
  fi
  say "The companion is gone. The nights are kept in $DATA (and the user companion, to whom they belong)."
}

if [ "$uninstall" = yes ]; then uninstall; exit 0; fi

# --- what an upgrade and a way back share. VERSION is a folder of $PREFIX.

# The nights belong to the service's user: what is done to them is done with no more rights than it has.
as_companion() {
  (cd / && COMPANION_DATA="$DATA" setpriv --reuid=companion --regid=companion --init-groups "$@")
}

called() { printf '%s of %s' "$("$1/bin/companion" --version)" "$(basename "$1")"; }

# Prints where the backup lies that VERSION makes of the nights; nothing where there are none yet.
back_up() {
  [ -e "$DATA/journal.sqlite" ] || return 0
  as_companion "$1/bin/companion" backup --json |
    "$1/bin/python" -c 'import json, sys; said = sys.stdin.read(); print(json.loads(said)["file"], end="") if said else None'
}

# Whether VERSION reads the nights as they are now: a newer one may have brought them to a form that it does not know.
reads_nights() {
  [ ! -e "$DATA/journal.sqlite" ] || as_companion "$1/bin/companion" export json >/dev/null 2>&1
}

# Sessions that VERSION cannot read are put aside: phones join anew, no night is touched.
fit_sessions() {
  [ -e "$DATA/access.sqlite" ] || return 0
  as_companion "$1/bin/companion" host --json >/dev/null 2>&1 || {
    local file stamp
    stamp="$(date -u +%Y%m%d-%H%M%S)"
    for file in "$DATA"/access.sqlite{,-wal,-shm}; do
      [ ! -e "$file" ] || as_companion mv "$file" "${file/access.sqlite/access.sqlite.unreadable-$stamp}"
    done
    say "The sessions of the other version cannot be read by this one: every phone joins anew."
  }
}

# Unit, rules and announcement of VERSION, from its own package: each is first written beside its place, then moved there.
# After a power cut there is the old one or the new one; systemd takes an empty unit for one that must not be started.
each_file() {
  "$1" companion.service "$UNIT"
  "$1" 70-companion.rules "$RULES"
  "$1" 99-companion-braille.rules "$BRAILLE_RULES"
  "$1" 71-companion-stick.rules "$STICK_RULES"
  "$1" avahi-companion.service "$AVAHI"
}
write_beside() {
  if [ ! -e "$files/$1" ] || { [ "$2" = "$STICK_RULES" ] && [ -x /usr/libexec/udisks2/udisksd ]; }; then
    rm -f "$2.new"
  else install -D -m 0644 "$files/$1" "$2.new"; fi
}
put_in_place() { if [ -e "$2.new" ]; then mv "$2.new" "$2"; else rm -f "$2"; fi; }

# All of VERSION is on the card before `current` leads to it: after a power cut it is one version or the other, whole.
switch_to() {
  local files
  trap '' HUP
  files="$(echo "$1"/lib/python3*/site-packages/companion/install)"
  each_file write_beside
  sync || die "The card refuses to write; nothing was switched."
  ln -sfn "$1" "$PREFIX/current.new"
  mv -T "$PREFIX/current.new" "$PREFIX/current"
  each_file put_in_place
  if systemd; then
    systemctl daemon-reload
    systemctl enable --quiet companion
    # A container has a systemd, but no udevd.
    udevadm control --reload || true
    udevadm trigger --subsystem-match=tty --subsystem-match=usb || true
  fi
  sync || die "The card refuses to write; sudo companion doctor says more."
  # Whether it has come up is asked of its page, not of systemd.
  if systemd && [ "$start" = yes ]; then systemctl restart companion || true; fi
}

# Whether the service answers within the seconds, and from then on to their end. One start anew may be somebody's wish.
answers() {
  { systemd && [ "$start" = yes ]; } || return 0
  say "The service is watched for $watch seconds (Ctrl+C: keep this version, unwatched)."
  as_companion "$PREFIX/current/bin/python" - "$DATA/address.json" "$watch" <<'PYTHON'
import json, ssl, sys, time, urllib.request

MISSES, EVERY_S = 3, 2.0
# It is asked under its own address, in its own house: who it is need not be proved.
context = ssl._create_unverified_context()


def started():
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            urls = json.load(file)["urls"]
    except (OSError, ValueError, KeyError):
        return None
    for url in urls:
        try:
            with urllib.request.urlopen(f"{url}/api/health", timeout=5, context=context) as answer:
                return json.load(answer).get("started", "")
        except (OSError, ValueError):
            continue
    return None


end, starts, missed = time.monotonic() + float(sys.argv[2]), [], 0
while True:
    now = started()
    missed = missed + 1 if now is None else 0
    if now is not None and now not in starts:
        starts.append(now)
    if len(starts) > 2 or (starts and missed >= MISSES):
        sys.exit(1)
    left = end - time.monotonic()
    if left <= 0:
        sys.exit(0 if starts and not missed else 1)
    time.sleep(min(EVERY_S, left))
PYTHON
}

# Back to the version before an upgrade. What was acknowledged since stays, or lies in a folder before-restore-….
go_back() {
  say "$(called "$new") does not answer; going back to $(called "$old")."
  if systemd; then
    journalctl --unit companion --lines 10 --no-pager --output cat 2>/dev/null || true
    systemctl stop companion || true
  fi
  if ! reads_nights "$old"; then as_companion "$old/bin/companion" restore "$saved" </dev/null; fi
  fit_sessions "$old"
  switch_to "$old"
  rm -rf "$new"
  answers || die "The old version is in place again, but does not answer either; sudo companion doctor says more."
  die "The new version did not answer; the old one is in place again and answers.${saved:+ The nights from before: $saved}"
}

rollback() {
  local version current older="" saved="" backup="" export_file
  current="$(readlink -e "$PREFIX/current" || true)"
  [ -n "$current" ] || die "The companion is not installed here."
  for version in "$PREFIX"/2*; do
    if [ "$version" != "$current" ] && "$version/bin/companion" --version >/dev/null 2>&1; then older="$version"; fi
  done
  [ -n "$older" ] || die "No other version lies beside $(called "$current")."
  saved="$(back_up "$current")" || die "The nights could not be backed up (see above); nothing was changed."
  if ! reads_nights "$older"; then
    [ "$old_nights" = yes ] || die "$(called "$older") cannot read the nights as they are now; nothing was changed." \
      "With --rollback --old-nights they are exported, and the newest backup that it can read is brought back."
    export_file="${saved%%.zip*}.json"
    as_companion "$current/bin/companion" export json --out "$export_file" >/dev/null
    if systemd; then systemctl stop companion; fi
    # The newest first. One that it does not know is refused whole, and leaves everything as it is.
    while read -r version; do
      as_companion "$older/bin/companion" restore "$version" </dev/null >/dev/null 2>&1 || continue
      backup="$version"
      break
    done < <(printf '%s\n' "$DATA"/backups/companion-*.zip* | sort -r)
    if [ -z "$backup" ]; then
      if systemd && [ "$start" = yes ]; then systemctl restart companion || true; fi
      die "No backup here can be read by $(called "$older"); nothing was changed."
    fi
    say "The nights of today are in $saved and, for other programs, in $export_file."
  fi
  fit_sessions "$older"
  switch_to "$older"
  answers || {
    say "$(called "$older") does not answer; going back to $(called "$current")."
    if systemd; then systemctl stop companion || true; fi
    if [ -n "$backup" ]; then as_companion "$current/bin/companion" restore "$saved" </dev/null; fi
    switch_to "$current"
    die "The other version does not answer; the present one is in place again."
  }
  say "Installed: $("$COMMAND" --version), nights in $DATA. --rollback again leads to the other version."
}

if [ "$rollback" = yes ]; then rollback; exit 0; fi

# --- a name in the network, where one is wanted: avahi announces the machine's own
if [ -n "$name" ]; then
  old_name="$(hostname)"
  printf '%s\n' "$name" > /etc/hostname
  # Without its own name in here sudo waits for a name server.
  touch /etc/hosts
  sed -i "s/^127\.0\.1\.1[[:space:]].*/127.0.1.1\t$name/" /etc/hosts
  grep -q "^127\.0\.1\.1[[:space:]]" /etc/hosts || printf '127.0.1.1\t%s\n' "$name" >> /etc/hosts
  if systemd; then hostnamectl set-hostname "$name"; fi
  say "The machine's name is $name now (it was $old_name)."
fi

# --- packages
if [ "$apt" = yes ]; then
  command -v apt-get >/dev/null || die "This is no Debian; see hardware.md for the steps by hand."
  export DEBIAN_FRONTEND=noninteractive
  missing=()
  for package in "${PACKAGES[@]}" "${WANTED[@]}"; do
    # Systems without a desktop bring the camera's program in a smaller package.
    if [ "$package" = rpicam-apps ] && command -v rpicam-vid >/dev/null; then continue; fi
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  if [ "${#missing[@]}" -gt 0 ]; then
    apt-get update -q
    there=()
    for package in "${missing[@]}"; do
      if apt-cache show "$package" >/dev/null 2>&1; then there+=("$package"); else
        case " ${WANTED[*]} " in
          *" $package "*) say "$package is not in this system's packages; left out." ;;
          *) die "$package is not in this system's packages." ;;
        esac
      fi
    done
    if [ "${#there[@]}" -gt 0 ]; then apt-get install -q -y --no-install-recommends "${there[@]}"; fi
  fi
fi
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || die "Python 3.11 or later is needed."

# --- a user of its own, in the groups that devices belong to
getent passwd companion >/dev/null ||
  useradd --system --user-group --home-dir "$DATA" --no-create-home --shell /usr/sbin/nologin companion
for group in dialout video gpio render; do
  if getent group "$group" >/dev/null; then usermod -aG "$group" companion; fi
done
install -d -m 0700 -o companion -g companion "$DATA"

# --- the program: a fresh environment beside the old one, switched in one step when it works
install -d -m 0755 "$PREFIX"
new="$PREFIX/$(date -u +%Y%m%d-%H%M%S)-$$"
trap 'rm -rf "$new"' EXIT
python3 -m venv --system-site-packages "$new"
# First what is needed, each file checked against the lock's hashes; then the companion, which brings nothing along.
"$new/bin/python" -m pip install --quiet --disable-pip-version-check "${wheels[@]}" \
  --require-hashes --requirement "$HERE/requirements.txt"
"$new/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation "$HERE"
"$new/bin/companion" --version >/dev/null || die "The new version does not start; the old one is untouched."
old="$(readlink -e "$PREFIX/current" || true)"
# Nights are copied before a new version opens them; by the old one, which must be able to read the copy.
saved=""
if [ -n "$old" ]; then
  saved="$(back_up "$old" || back_up "$new")" ||
    die "The nights could not be backed up (see above); the old version is untouched. sudo companion doctor says more."
fi

# --- the command: as root it speaks of the service's nights
cat > "$COMMAND.new" <<'SCRIPT'
#!/bin/sh
if [ "$(id -u)" = 0 ]; then export COMPANION_DATA="${COMPANION_DATA:-/var/lib/companion}"; fi
exec /opt/companion/current/bin/companion "$@"
SCRIPT
chmod 0755 "$COMMAND.new"
mv "$COMMAND.new" "$COMMAND"

# --- the switch: program, service, names of ports, name in the network
[ -e /etc/default/companion ] || printf '# Options of the service, such as: --camera pi\nCOMPANION_ARGS=\n' > /etc/default/companion
trap - EXIT
switch_to "$new"
answers || { [ -z "$old" ] || go_back; die "The service does not answer; sudo companion doctor says more."; }
for version in "$PREFIX"/2*; do
  case "$version" in "$new"|"$old") ;; *) rm -rf "$version" ;; esac
done

say "Installed: $("$COMMAND" --version), nights in $DATA."
if systemd && [ "$start" = yes ]; then
  "$COMMAND" host || true
  link="$("$COMMAND" host --json | "$PREFIX/current/bin/python" -c 'import json, sys; print((json.load(sys.stdin)["links"] or [""])[0])')"
  if [ -n "$link" ]; then
    "$PREFIX/current/bin/python" -c 'import sys, segno; segno.make(sys.argv[1], error="l").terminal(compact=True)' "$link"
  fi
fi
say "Another host link any time: sudo companion host     How is it? sudo companion doctor"
