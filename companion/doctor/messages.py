"""The doctor's sentences and cures, in both languages. A test holds their facts together and asks for a cure each."""

from __future__ import annotations

from typing import Final

from companion.night.messages import Words

SENTENCES: Final[dict[str, Words]] = {
    # --- the machine
    "system": Words("{model}, {system}, Python {python}, companion {version}."),
    "groups-good": Words("The user {user} is in the groups {groups}."),
    "group-missing": Words("The user {user} is not in the group {group} ({why})."),
    "clock-good": Words("The clock is set by the network."),
    "clock-alone": Words("Nothing sets the clock now; times may be wrong, the order of events never is."),
    "clock-wrong": Words("The clock says {year}."),
    "clock-behind": Words("The clock is {hours:plural|one hour|# hours} behind the last entry of the journal."),
    "disk-good": Words("{free_mb} MB are free where the nights lie."),
    "disk-low": Words("Only {free_mb} MB are free where the nights lie."),
    "disk-full": Words("The disk is full ({free_mb} MB): nothing can be written."),
    "disk-read-only": Words("The card is read-only: nothing can be written."),
    "disk-failed": Words("Nothing can be written: the card fails ({why})."),
    "card-good": Words("The file systems report no errors."),
    "card-errors": Words(
        "The file system on {device} has had {errors:plural|one error|# errors}: the card may be dying."
    ),
    "card-worn": Words("The memory {device} has used up about {percent} % of its life."),
    "card": Words("Memory card {name}, made {date}."),
    "temperature-good": Words("The processor is at {celsius} °C."),
    "temperature-high": Words("The processor is hot: {celsius} °C."),
    "temperature-untold": Words("This machine does not report its temperature."),
    "power-untold": Words("This machine does not report its supply voltage."),
    "power-good": Words("The supply has never been too low since the start."),
    "power-low": Words("The supply voltage is too low now."),
    "power-was-low": Words("The supply voltage has been too low at times since the start."),
    "slowed": Words("The processor is slowed down (heat or supply)."),
    "memory-good": Words("{free_mb} MB of memory are free."),
    "memory-low": Words("Only {free_mb} MB of memory are free."),
    # --- the igloo's line
    "no-port": Words("There is no serial port: no igloo is plugged in."),
    "port": Words("{port} ({name}) can be opened."),
    "port-denied": Words("{port} ({name}) is left alone: it looks like another device ({rule})."),
    "port-forbidden": Words("{port} may not be opened by the user {user}."),
    "port-held": Words("{port} is held by {program}."),
    "grabber": Words("{program} runs and opens every new serial port for itself."),
    "udev-good": Words("The udev rules of the companion are installed."),
    "igloo": Words(
        "Igloo {key}: {state} ({kind}, {driver}), {rate_hz} Hz, {lost:plural|one sample|# samples} lost. {note}"
    ),
    "igloo-slow": Words("Igloo {key}: {rate_hz} samples a second instead of {nominal_hz}."),
    "igloo-wild": Words(
        "Igloo {key}: {wild:plural|# wild sample was|# wild samples were} left out; bits flip on the sensor’s wires."
    ),
    # --- the camera
    "no-camera": Words("No camera is plugged in."),
    "camera": Words("Camera {name} at {device}."),
    "camera-forbidden": Words("{device} may not be opened by the user {user}."),
    "camera-chosen-missing": Words("The settings name the camera {source}, which is not there."),
    "pi-camera-program": Words("The Pi camera is chosen, but its program rpicam-vid is not installed."),
    "camera-live": Words("Camera {source}: {state} ({kind})."),
    # --- the nights
    "no-data": Words("There is no data folder {folder} yet; the first start makes it."),
    "data-forbidden": Words("{folder} may not be read and written by the user {user}."),
    "data-open": Words("{folder} may be read by others on this machine."),
    "journal-good": Words("The journal is sound: {entries:plural|# entry|# entries}."),
    "damage": Words("{why}"),
    "lost-once": Words("The card lost confirmed entries once; entry {seq} of the journal says which."),
    "journal-none": Words("There are no nights yet."),
    "database-bad": Words("{file}: {why}"),
    "settings-good": Words("The settings fit."),
    "settings-unreadable": Words("The settings cannot be read; the next start puts the file aside and starts afresh."),
    "setting-bad": Words("A setting is ignored: {why}"),
    "aside": Words("{file} was put aside as damaged."),
    "former": Words("{file} holds the nights from before a restore; delete it when you miss nothing."),
    "backup-good": Words("The newest backup {file} has {seq} of {entries:plural|one entry|# entries}."),
    "backup-none": Words("There is no backup yet."),
    "backup-bad": Words("The newest backup {file} is not sound."),
    "backup-encrypted": Words(
        "Backups are encrypted. A lost passphrase is a lost backup: nobody can open it without it."
    ),
    "backup-was-encrypted": Words(
        "Some backups here are encrypted; this box does not keep their passphrase. A lost passphrase is a lost backup."
    ),
    "backup-locked": Words(
        "The newest backup {file} needs a passphrase that this box does not have; it was not checked."
    ),
    "stick": Words("A USB stick at {path} gets a copy of the nights."),
    "stick-not-chosen": Words("A USB stick at {path} is not chosen for the nights."),
    "restore-open": Words("A restore was cut off; the next start finishes it."),
    # --- the panel
    "panel-none": Words("No buttons and lights are chosen."),
    "panel-bad": Words("The panel’s pins do not fit: {why}"),
    "panel-good": Words("{parts:plural|One part of the panel has its|# parts of the panel have their} pins."),
    "panel-no-header": Words("A panel is chosen, but this machine has no pins."),
    "panel-forbidden": Words("{device} may not be opened by the user {user}."),
    "panel-no-library": Words("The library for the pins (lgpio) is missing."),
    # --- service and network
    "service-runs": Words("The service runs: {url}"),
    "service-silent": Words("The service says it runs at {url}, but does not answer."),
    "service-none": Words("No service runs on {folder}."),
    "network": Words("Phones reach this machine at {addresses}."),
    "no-network": Words("There is no network: no phone can reach the page."),
    "mdns-good": Words("The page is announced on the network; its name is {host}.local."),
    "mdns-name-only": Words("The machine is announced as {host}.local, the page is not."),
    "no-mdns": Words("The name {host}.local is not announced; the address and its QR code work all the same."),
}

CURES: Final[dict[str, Words]] = {
    "group": Words("sudo usermod -aG {group} {user}, then log in again (or restart the service)."),
    "clock": Words(
        "Connect it to the internet once, or add a clock module (DS3231), or: sudo date -s '2026-11-20 20:00'."
    ),
    "room": Words("Make room: sudo apt clean; or keep pictures for fewer days in the settings."),
    "card": Words("companion backup --stick now, then write a new card and companion restore."),
    "read-only": Words("companion backup --stick, restart; if it comes back, the card is at its end: take a new one."),
    "cool": Words("Give it air, or a heat sink."),
    "power": Words("Use the Raspberry Pi’s own supply (5.1 V, 3 A; Pi 5: 5 A) and a short thick cable."),
    "memory": Words("End other programs, or use a Pi with more memory."),
    "held": Words("End that program, or unplug the igloo and plug it in again."),
    "grabber": Words("sudo systemctl disable --now {unit}, or install the companion’s udev rules (make install)."),
    "slow": Words(
        "Flash the image for the board’s clock (companion firmware flash); a half-rate sensor tells motion only."
    ),
    "igloo": Words("Check cable and wiring; hardware.md, “Faults and cures”, goes through them."),
    "camera": Words("Plug it in, or choose another one on the page."),
    "rpicam": Words("sudo apt install rpicam-apps"),
    "owner": Words("sudo chown -R {user}: {folder}"),
    "private": Words("chmod 700 {folder}"),
    "restore": Words(
        "End the service, then: companion restore; or restart it: it goes on with what can still be read."
    ),
    "damage": Words(
        "End the service, then: companion restore {file} (keeps what is there beside it); or enter it again."
    ),
    "damage-enter": Words("No backup on this card has it: enter it again, or restore one from a stick."),
    "access": Words("sudo systemctl restart companion puts {file} aside: phones have to join again, with a new PIN."),
    "settings": Words("Set it again on the page."),
    "passphrase": Words(
        "companion restore --check with its file asks for the passphrase and says whether it is sound."
    ),
    "backup": Words("companion backup, or companion backup --stick"),
    "stick": Words("companion backup --stick chooses it."),
    "pins": Words("Set panel_pins on the page: standard, or one line per part."),
    "no-pins": Words("Empty panel_pins on the page, or use a Raspberry Pi."),
    "lgpio": Words("sudo apt install python3-lgpio, and a venv with system site packages (make install)."),
    "restart": Words("sudo systemctl restart companion"),
    "network": Words("Join a WLAN (sudo nmtui), or plug in a cable."),
    "mdns": Words("sudo apt install avahi-daemon"),
    "mdns-service": Words("sudo ./install.sh (it brings the announcement along)"),
}
