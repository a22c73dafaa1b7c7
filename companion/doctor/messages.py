"""The doctor's sentences and cures, in both languages. A test holds their facts together and asks for a cure each."""

from __future__ import annotations

from typing import Final

from companion.night.messages import Words

SENTENCES: Final[dict[str, Words]] = {
    # --- the machine
    "system": Words(
        "{model}, {system}, Python {python}, companion {version}.",
        "{model}, {system}, Python {python}, companion {version}.",
    ),
    "groups-good": Words(
        "The user {user} is in the groups {groups}.", "L’utilisateur {user} est dans les groupes {groups}."
    ),
    "group-missing": Words(
        "The user {user} is not in the group {group} ({why}).",
        "L’utilisateur {user} n’est pas dans le groupe {group} ({why}).",
    ),
    "clock-good": Words("The clock is set by the network.", "L’horloge est réglée par le réseau."),
    "clock-alone": Words(
        "Nothing sets the clock now; times may be wrong, the order of events never is.",
        "Rien ne règle l’horloge en ce moment ; les heures peuvent être fausses, l’ordre des événements jamais.",
    ),
    "clock-wrong": Words("The clock says {year}.", "L’horloge indique {year}."),
    "clock-behind": Words(
        "The clock stands {hours} hours before the last entry of the journal.",
        "L’horloge retarde de {hours:plural|# heure|# heures} sur la dernière entrée du journal.",
    ),
    "disk-good": Words(
        "{free_mb} MB are free where the nights lie.", "{free_mb} Mo sont libres là où sont les soirées."
    ),
    "disk-low": Words(
        "Only {free_mb} MB are free where the nights lie.", "Il ne reste que {free_mb} Mo là où sont les soirées."
    ),
    "disk-full": Words(
        "The disk is full ({free_mb} MB): nothing can be written.",
        "Le disque est plein ({free_mb} Mo) : plus rien ne peut être écrit.",
    ),
    "disk-read-only": Words(
        "The card is read-only: nothing can be written.",
        "La carte est en lecture seule : plus rien ne peut être écrit.",
    ),
    "disk-failed": Words(
        "Nothing can be written: the card fails ({why}).",
        "Plus rien ne peut être écrit : la carte est en panne ({why}).",
    ),
    "card-good": Words("The file systems report no errors.", "Les systèmes de fichiers ne signalent pas d’erreurs."),
    "card-errors": Words(
        "The file system on {device} has had {errors} errors: the card may be dying.",
        "Le système de fichiers de {device} a eu {errors:plural|# erreur|# erreurs} : la carte est peut-être "
        "en fin de vie.",
    ),
    "card-worn": Words(
        "The memory {device} has used up about {percent} % of its life.",
        "La mémoire {device} a consommé environ {percent} % de sa durée de vie.",
    ),
    "card": Words("Memory card {name}, made {date}.", "Carte mémoire {name}, fabriquée en {date}."),
    "temperature-good": Words("The processor is at {celsius} °C.", "Le processeur est à {celsius} °C."),
    "temperature-high": Words("The processor is hot: {celsius} °C.", "Le processeur chauffe : {celsius} °C."),
    "temperature-untold": Words(
        "This machine does not tell its temperature.", "Cette machine ne dit pas sa température."
    ),
    "power-untold": Words(
        "This machine does not tell of its supply voltage.", "Cette machine ne dit rien de sa tension d’alimentation."
    ),
    "power-good": Words(
        "The supply was never too low since the start.", "L’alimentation n’a jamais faibli depuis le démarrage."
    ),
    "power-low": Words("The supply voltage is too low now.", "La tension d’alimentation est trop basse en ce moment."),
    "power-was-low": Words(
        "The supply voltage was too low since the start.",
        "La tension d’alimentation a été trop basse depuis le démarrage.",
    ),
    "slowed": Words(
        "The processor is slowed down (heat or supply).", "Le processeur est ralenti (chaleur ou alimentation)."
    ),
    "memory-good": Words("{free_mb} MB of memory are free.", "{free_mb} Mo de mémoire sont libres."),
    "memory-low": Words("Only {free_mb} MB of memory are free.", "Il ne reste que {free_mb} Mo de mémoire."),
    # --- the igloo's line
    "no-port": Words(
        "No serial port is there: no igloo is plugged in.", "Aucun port série : aucun igloo n’est branché."
    ),
    "port": Words("{port} ({name}) can be opened.", "{port} ({name}) peut être ouvert."),
    "port-denied": Words(
        "{port} ({name}) is left alone: it looks like another device ({rule}).",
        "{port} ({name}) n’est pas touché : il ressemble à un autre appareil ({rule}).",
    ),
    "port-forbidden": Words(
        "{port} may not be opened by the user {user}.",
        "{port} ne peut pas être ouvert par l’utilisateur {user}.",
    ),
    "port-held": Words("{port} is held by {program}.", "{port} est occupé par {program}."),
    "grabber": Words(
        "{program} runs and opens every new serial port for itself.",
        "{program} tourne et ouvre pour lui chaque nouveau port série.",
    ),
    "udev-good": Words(
        "The udev rules of the companion are installed.", "Les règles udev du compagnon sont installées."
    ),
    "igloo": Words(
        "Igloo {key}: {state} ({kind}, {driver}), {rate_hz} Hz, {lost} samples lost. {note}",
        "Igloo {key} : {state} ({kind}, {driver}), {rate_hz} Hz, {lost} échantillons perdus. {note}",
    ),
    "igloo-slow": Words(
        "Igloo {key}: {rate_hz} samples a second instead of {nominal_hz}.",
        "Igloo {key} : {rate_hz} échantillons par seconde au lieu de {nominal_hz}.",
    ),
    # --- the camera
    "no-camera": Words("No camera is plugged in.", "Aucune caméra n’est branchée."),
    "camera": Words("Camera {name} at {device}.", "Caméra {name} sur {device}."),
    "camera-forbidden": Words(
        "{device} may not be opened by the user {user}.",
        "{device} ne peut pas être ouvert par l’utilisateur {user}.",
    ),
    "camera-chosen-missing": Words(
        "The settings name the camera {source}, which is not there.",
        "Les réglages indiquent la caméra {source}, qui n’est pas là.",
    ),
    "pi-camera-program": Words(
        "The Pi camera is chosen, but its program rpicam-vid is not installed.",
        "La caméra du Pi est choisie, mais son programme rpicam-vid n’est pas installé.",
    ),
    "camera-live": Words("Camera {source}: {state} ({kind}).", "Caméra {source} : {state} ({kind})."),
    # --- the nights
    "no-data": Words(
        "There is no data folder {folder} yet; the first start makes it.",
        "Il n’y a pas encore de dossier {folder} ; le premier démarrage le crée.",
    ),
    "data-forbidden": Words(
        "{folder} may not be read and written by the user {user}.",
        "{folder} ne peut pas être lu et écrit par l’utilisateur {user}.",
    ),
    "data-open": Words(
        "{folder} may be read by others on this machine.",
        "{folder} peut être lu par d’autres sur cette machine.",
    ),
    "journal-good": Words(
        "The journal is sound: {entries:plural|# entry|# entries}.",
        "Le journal est en bon état : {entries:plural|# entrée|# entrées}.",
    ),
    "damage": Words("{why}", "{why}"),
    "lost-once": Words(
        "The card lost confirmed entries once; entry {seq} of the journal says which.",
        "La carte a perdu des saisies confirmées une fois ; l’entrée {seq} du journal dit lesquelles.",
    ),
    "journal-none": Words("There are no nights yet.", "Il n’y a pas encore de soirées."),
    "database-bad": Words("{file}: {why}", "{file} : {why}"),
    "settings-good": Words("The settings fit.", "Les réglages conviennent."),
    "settings-unreadable": Words(
        "The settings cannot be read; the next start puts the file aside and begins anew.",
        "Les réglages sont illisibles ; le prochain démarrage met le fichier de côté et repart de zéro.",
    ),
    "setting-bad": Words("A setting is ignored: {why}", "Un réglage est ignoré : {why}"),
    "aside": Words("{file} was put aside as damaged.", "{file} a été mis de côté, car endommagé."),
    "former": Words(
        "{file} holds the nights from before a restore; delete it when you miss nothing.",
        "{file} contient les soirées d’avant une restauration ; supprimez-le si rien ne manque.",
    ),
    "backup-good": Words(
        "The newest backup {file} has {seq} of {entries} entries.",
        "La sauvegarde la plus récente, {file}, contient {seq:plural|# entrée|# entrées} sur {entries}.",
    ),
    "backup-none": Words("There is no backup yet.", "Il n’y a pas encore de sauvegarde."),
    "backup-bad": Words("The newest backup {file} is not sound.", "La sauvegarde la plus récente, {file}, est abîmée."),
    "stick": Words(
        "A USB stick at {path} gets a copy of the nights.", "Une clé USB ({path}) reçoit une copie des soirées."
    ),
    "stick-not-chosen": Words(
        "A USB stick at {path} is not chosen for the nights.",
        "Une clé USB ({path}) n’est pas choisie pour les soirées.",
    ),
    "restore-open": Words(
        "A restore was cut off; the next start finishes it.",
        "Une restauration a été interrompue ; le prochain démarrage la termine.",
    ),
    # --- the panel
    "panel-none": Words("No buttons and lights are chosen.", "Aucun bouton ni lampe n’est choisi."),
    "panel-bad": Words("The panel's pins do not fit: {why}", "Les broches du panneau ne conviennent pas : {why}"),
    "panel-good": Words("{parts} parts of the panel have their pins.", "{parts} pièces du panneau ont leurs broches."),
    "panel-no-header": Words(
        "A panel is chosen, but this machine has no pins.",
        "Un panneau est choisi, mais cette machine n’a pas de broches.",
    ),
    "panel-forbidden": Words(
        "{device} may not be opened by the user {user}.",
        "{device} ne peut pas être ouvert par l’utilisateur {user}.",
    ),
    "panel-no-library": Words(
        "The library for the pins (lgpio) is missing.",
        "La bibliothèque des broches (lgpio) manque.",
    ),
    # --- service and network
    "service-runs": Words("The service runs: {url}", "Le service tourne : {url}"),
    "service-silent": Words(
        "The service says it runs at {url}, but does not answer.",
        "Le service dit tourner sur {url}, mais ne répond pas.",
    ),
    "service-none": Words("No service runs on {folder}.", "Aucun service ne tourne sur {folder}."),
    "network": Words(
        "Phones reach this machine at {addresses}.", "Les téléphones joignent cette machine à {addresses}."
    ),
    "no-network": Words(
        "There is no network: no phone can reach the page.", "Pas de réseau : aucun téléphone ne peut ouvrir la page."
    ),
    "mdns-good": Words(
        "The page is announced in the network; its name is {host}.local.",
        "La page est annoncée sur le réseau ; son nom est {host}.local.",
    ),
    "mdns-name-only": Words(
        "The machine is announced as {host}.local, the page is not.",
        "La machine est annoncée comme {host}.local, la page ne l’est pas.",
    ),
    "no-mdns": Words(
        "The name {host}.local is not announced; the address and its QR code work all the same.",
        "Le nom {host}.local n’est pas annoncé ; l’adresse et son QR code marchent quand même.",
    ),
}

CURES: Final[dict[str, Words]] = {
    "group": Words(
        "sudo usermod -aG {group} {user}, then log in again (or restart the service).",
        "sudo usermod -aG {group} {user}, puis reconnectez-vous (ou redémarrez le service).",
    ),
    "clock": Words(
        "Connect it to the internet once, or add a clock module (DS3231), or: sudo date -s '2026-11-20 20:00'.",
        "Reliez-le une fois à internet, ou ajoutez un module d’horloge (DS3231), ou : sudo date -s '2026-11-20 20:00'.",
    ),
    "room": Words(
        "Make room: sudo apt clean; or let pictures be kept fewer days in the settings.",
        "Faites de la place : sudo apt clean ; ou gardez les images moins de jours, dans les réglages.",
    ),
    "card": Words(
        "companion backup --stick now, then write a new card and companion restore.",
        "companion backup --stick tout de suite, puis une carte neuve et companion restore.",
    ),
    "read-only": Words(
        "companion backup --stick, restart; if it comes back, the card is at its end: take a new one.",
        "companion backup --stick, redémarrez ; si cela revient, la carte est usée : prenez-en une neuve.",
    ),
    "cool": Words("Give it air, or a heat sink.", "Donnez-lui de l’air, ou un dissipateur."),
    "power": Words(
        "Use the Raspberry Pi's own supply (5.1 V, 3 A; Pi 5: 5 A) and a short thick cable.",
        "Prenez l’alimentation d’origine du Raspberry Pi (5,1 V, 3 A ; Pi 5 : 5 A) et un câble court et épais.",
    ),
    "memory": Words(
        "End other programs, or use a Pi with more memory.",
        "Arrêtez d’autres programmes, ou prenez un Pi avec plus de mémoire.",
    ),
    "held": Words(
        "End that program, or unplug the igloo and plug it in again.",
        "Arrêtez ce programme, ou débranchez l’igloo et rebranchez-le.",
    ),
    "grabber": Words(
        "sudo systemctl disable --now {unit}, or install the companion's udev rules (make install).",
        "sudo systemctl disable --now {unit}, ou installez les règles udev du compagnon (make install).",
    ),
    "slow": Words(
        "Flash the image for the board's clock (companion firmware flash); a half-rate sensor tells motion only.",
        "Chargez l’image pour l’horloge de la carte (companion firmware flash) ; à demi-cadence, on lit le mouvement.",
    ),
    "igloo": Words(
        "Check cable and wiring; hardware.md, “Faults and cures”, goes through them.",
        "Vérifiez câble et câblage ; hardware.md, « Faults and cures », les passe en revue.",
    ),
    "camera": Words(
        "Plug it in, or choose another one on the page.",
        "Branchez-la, ou choisissez-en une autre sur la page.",
    ),
    "rpicam": Words("sudo apt install rpicam-apps", "sudo apt install rpicam-apps"),
    "owner": Words("sudo chown -R {user}: {folder}", "sudo chown -R {user}: {folder}"),
    "private": Words("chmod 700 {folder}", "chmod 700 {folder}"),
    "restore": Words(
        "End the service, then: companion restore (takes the newest backup, keeps what is there).",
        "Arrêtez le service, puis : companion restore (prend la dernière sauvegarde, garde ce qui est là).",
    ),
    "damage": Words(
        "End the service, then: companion restore {file} (keeps what is there beside it); or enter it again.",
        "Arrêtez le service, puis : companion restore {file} (garde à côté ce qui est là) ; ou ressaisissez.",
    ),
    "damage-enter": Words(
        "No backup on this card has it: enter it again, or restore one from a stick.",
        "Aucune sauvegarde de cette carte ne l’a : ressaisissez-le, ou restaurez-en une depuis une clé.",
    ),
    "access": Words(
        "Move {file} away; the PIN and the host links begin anew, the nights are not touched.",
        "Déplacez {file} ; le code et les liens d’hôte recommencent, les soirées restent intactes.",
    ),
    "settings": Words("Set it again on the page.", "Réglez-le à nouveau sur la page."),
    "backup": Words("companion backup, or companion backup --stick", "companion backup, ou companion backup --stick"),
    "stick": Words("companion backup --stick chooses it.", "companion backup --stick la choisit."),
    "pins": Words(
        "Set panel_pins on the page: standard, or a line a part.",
        "Réglez panel_pins sur la page : standard, ou une ligne par pièce.",
    ),
    "no-pins": Words(
        "Empty panel_pins on the page, or use a Raspberry Pi.",
        "Videz panel_pins sur la page, ou prenez un Raspberry Pi.",
    ),
    "lgpio": Words(
        "sudo apt install python3-lgpio, and a venv with system site packages (make install).",
        "sudo apt install python3-lgpio, et un venv avec les paquets du système (make install).",
    ),
    "restart": Words("sudo systemctl restart companion", "sudo systemctl restart companion"),
    "network": Words(
        "Join a WLAN (sudo nmtui), or plug in a cable.", "Rejoignez un WLAN (sudo nmtui), ou branchez un câble."
    ),
    "mdns": Words("sudo apt install avahi-daemon", "sudo apt install avahi-daemon"),
    "mdns-service": Words(
        "sudo ./install.sh (it brings the announcement along)", "sudo ./install.sh (il apporte l’annonce)"
    ),
}
