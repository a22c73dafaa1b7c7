#!/usr/bin/env bash
# Installs the companion for good on Raspberry Pi OS (Bookworm, Trixie) or Debian: once, again, for an upgrade.
#
#   sudo ./install.sh               install, or upgrade to this checkout; nights stay
#   sudo ./install.sh --uninstall   take it away again; nights stay in /var/lib/companion
#
# Options: --no-apt (packages are there already), --no-start (do not start the service), --wheels DIR (no internet),
# --name NAME (the machine's name from now on: the page is then at http://NAME.local:8080).
set -euo pipefail

HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
FILES="$HERE/companion/install"
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

say() { printf '%s\n' "$*"; }
die() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }
systemd() { [ -d /run/systemd/system ]; }

apt=yes start=yes uninstall=no name="" wheels=()
while [ $# -gt 0 ]; do
  case "$1" in
    --uninstall) uninstall=yes ;;
    --no-apt) apt=no ;;
    --no-start) start=no ;;
    --wheels) [ $# -gt 1 ] || die "--wheels needs a folder."; wheels=(--no-index --find-links "$2"); shift ;;
    --name) [ $# -gt 1 ] || die "--name needs a name."; name="$2"; shift ;;
    -h|--help) sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) die "There is no option $1." ;;
  esac
  shift
done
[[ -z "$name" || "$name" =~ ^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$ ]] || die "A name has letters a-z, digits and hyphens, not: $name"
[ "$(id -u)" = 0 ] || die "This needs root: sudo $0"

uninstall() {
  if systemd; then systemctl disable --now companion 2>/dev/null || true; fi
  rm -f "$UNIT" "$RULES" "$STICK_RULES" "$BRAILLE_RULES" "$AVAHI" "$COMMAND"
  rm -rf "$PREFIX"
  if systemd; then
    systemctl daemon-reload
    udevadm control --reload
  fi
  say "The companion is gone. The nights are kept in $DATA (and the user companion, to whom they belong)."
}

if [ "$uninstall" = yes ]; then uninstall; exit 0; fi

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
old="$(readlink -f "$PREFIX/current" 2>/dev/null || true)"
# Nights are copied before a new version opens them.
if [ -n "$old" ] && [ -e "$DATA/journal.sqlite" ]; then
  COMPANION_DATA="$DATA" "$new/bin/companion" backup || say "There is no backup from before this upgrade (see above)."
fi
ln -sfn "$new" "$PREFIX/current.new"
mv -T "$PREFIX/current.new" "$PREFIX/current"
trap - EXIT
for version in "$PREFIX"/2*; do
  case "$version" in "$new"|"$old") ;; *) rm -rf "$version" ;; esac
done

# --- the command: as root it speaks of the service's nights
cat > "$COMMAND.new" <<'SCRIPT'
#!/bin/sh
if [ "$(id -u)" = 0 ]; then export COMPANION_DATA="${COMPANION_DATA:-/var/lib/companion}"; fi
exec /opt/companion/current/bin/companion "$@"
SCRIPT
chmod 0755 "$COMMAND.new"
mv "$COMMAND.new" "$COMMAND"

# --- service, names of ports, name in the network
install -D -m 0644 "$FILES/companion.service" "$UNIT"
install -D -m 0644 "$FILES/70-companion.rules" "$RULES"
install -D -m 0644 "$FILES/99-companion-braille.rules" "$BRAILLE_RULES"
if [ -x /usr/libexec/udisks2/udisksd ]; then rm -f "$STICK_RULES"; else
  install -D -m 0644 "$FILES/71-companion-stick.rules" "$STICK_RULES"
fi
install -D -m 0644 "$FILES/avahi-companion.service" "$AVAHI"
[ -e /etc/default/companion ] || printf '# Options of the service, such as: --camera pi\nCOMPANION_ARGS=\n' > /etc/default/companion
if systemd; then
  udevadm control --reload
  udevadm trigger --subsystem-match=tty --subsystem-match=usb || true
  systemctl daemon-reload
  systemctl enable --quiet companion
  if [ "$start" = yes ]; then systemctl restart companion; fi
fi

say "Installed: $("$COMMAND" --version), nights in $DATA."
if systemd && [ "$start" = yes ]; then
  "$COMMAND" host || true
  link="$("$COMMAND" host --json | "$PREFIX/current/bin/python" -c 'import json, sys; print((json.load(sys.stdin)["links"] or [""])[0])')"
  if [ -n "$link" ]; then
    "$PREFIX/current/bin/python" -c 'import sys, segno; segno.make(sys.argv[1], error="l").terminal(compact=True)' "$link"
  fi
fi
say "Another host link any time: sudo companion host     How is it? sudo companion doctor"
