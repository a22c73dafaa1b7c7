"""The sentences and the error of keeping nights safe: backups, restoring, the stick, the clock."""

from __future__ import annotations

from typing import Final

from companion.night.messages import Words
from companion.ports import CompanionError

SENTENCES: Final[dict[str, Words]] = {
    "no-folder": Words(
        "There is no data folder {folder}; start `companion serve` once, or name it with --data.",
        "Il n’y a pas de dossier de données {folder} ; lancez une fois `companion serve`, ou indiquez-le avec --data.",
    ),
    "nothing-to-keep": Words(
        "There are no nights in {folder} yet.",
        "Il n’y a pas encore de soirées dans {folder}.",
    ),
    "exists": Words(
        "{file} exists already; nothing was written over.",
        "{file} existe déjà ; rien n’a été écrasé.",
    ),
    "cannot-write": Words(
        "The backup could not be written ({why}); what was there before is untouched.",
        "La sauvegarde n’a pas pu être écrite ({why}) ; ce qui était là est intact.",
    ),
    "cannot-read": Words("{file} cannot be read ({why}).", "{file} ne peut pas être lu ({why})."),
    "not-ours": Words(
        "{file} is no backup of a companion.",
        "{file} n’est pas une sauvegarde du compagnon.",
    ),
    "broken": Words(
        "{file} is damaged or cut off ({part}); nothing was restored.",
        "{file} est endommagé ou incomplet ({part}) ; rien n’a été restauré.",
    ),
    "newer": Words(
        "{file} was made by a newer companion; update this one first.",
        "{file} vient d’un compagnon plus récent ; mettez d’abord celui-ci à jour.",
    ),
    "too-large": Words(
        "{file} is larger than a backup that can be taken in here ({limit} MB).",
        "{file} est trop volumineux pour être repris ici ({limit} Mo au plus).",
    ),
    "pieces-missing": Words(
        "{file} did not arrive as a whole; nothing was changed. Send it again.",
        "{file} n’est pas arrivé en entier ; rien n’a changé. Envoyez-le encore une fois.",
    ),
    "in-use": Words(
        "A companion is running on {folder}; end it first (sudo systemctl stop companion).",
        "Un compagnon utilise {folder} ; arrêtez-le d’abord (sudo systemctl stop companion).",
    ),
    "no-room": Words(
        "There is no room in {folder}: {need} MB are needed, {free} MB are free.",
        "La place manque dans {folder} : il faut {need} Mo, {free} Mo sont libres.",
    ),
    "no-stick": Words(
        "No USB stick is plugged in and mounted.",
        "Aucune clé USB n’est branchée et montée.",
    ),
    "stick-chosen": Words(
        "{file} is on the USB stick; it may be unplugged.",
        "{file} est sur la clé USB ; elle peut être retirée.",
    ),
    "stick-failed": Words(
        "The nights could not be copied to the USB stick: {why}",
        "Les soirées n’ont pas pu être copiées sur la clé USB : {why}",
    ),
    "nightly-failed": Words(
        "The nightly backup could not be made: {why}",
        "La sauvegarde de la nuit n’a pas pu être faite : {why}",
    ),
    "made": Words(
        "{file}: {seq:plural|# entry|# entries} of the journal, {pictures:plural|# picture|# pictures}, "
        "{size:decimal} MB; checked.",
        "{file} : {seq:plural|# entrée|# entrées} du journal, {pictures:plural|# image|# images}, {size:decimal} Mo ; "
        "vérifié.",
    ),
    "sound": Words(
        "{file} is sound: {seq:plural|# entry|# entries} of the journal, {pictures:plural|# picture|# pictures}.",
        "{file} est en bon état : {seq:plural|# entrée|# entrées} du journal, {pictures:plural|# image|# images}.",
    ),
    "restored": Words(
        "Restored: {seq:plural|# entry|# entries} of the journal, {pictures:plural|# picture|# pictures}. "
        "What was there before lies in {former}.",
        "Restauré : {seq:plural|# entrée|# entrées} du journal, {pictures:plural|# image|# images}. "
        "Ce qui était là avant se trouve dans {former}.",
    ),
    "clock-behind": Words(
        "The clock stands before the last entry of the journal: nothing is lost, but the times are wrong. "
        "It is put right once there is internet, or a clock module.",
        "L’horloge est en retard sur la dernière entrée du journal : rien n’est perdu, mais les heures sont fausses. "
        "Elle se règle dès qu’il y a internet, ou un module d’horloge.",
    ),
    "clock-jumped": Words(
        "The clock was put {what} by {minutes:plural|# minute|# minutes}; the order of the journal does not "
        "depend on it.",
        "L’horloge a été {what} de {minutes:plural|# minute|# minutes} ; l’ordre du journal n’en dépend pas.",
    ),
}


class BackupError(CompanionError, OSError):
    """Nights could not be copied or brought back; ``words`` is the sentence."""

    def __init__(self, key: str, **facts: object) -> None:
        self.key = key
        self.words = SENTENCES[key].filled(facts)
        super().__init__(self.words.en)


def message(key: str, **facts: object) -> Words:
    """Return a sentence with its facts filled in."""
    return SENTENCES[key].filled(facts)
