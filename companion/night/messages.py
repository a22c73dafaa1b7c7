"""What the night itself says, in English and French; what the rules say comes from their clause files.

The answers of a night go to phones of all languages at once and into logs that all read, so each sentence carries
both here, where a test holds their facts together; a further language has them in its catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping

from companion.rules.i18n import Words

__all__ = ["SENTENCES", "Words", "say"]

SENTENCES: dict[str, Words] = {
    # --- the disk
    "disk-full": Words(
        "The memory card is full: nothing was written, and nothing was done. Make room and try again.",
        "La carte mémoire est pleine : rien n’a été écrit, rien n’a été fait. Faites de la place et réessayez.",
    ),
    "disk-read-only": Words(
        "The memory card is read-only: nothing was written, and nothing was done.",
        "La carte mémoire est en lecture seule : rien n’a été écrit, rien n’a été fait.",
    ),
    "disk-busy": Words(
        "Another program is writing to the same file; nothing was done. Try again.",
        "Un autre programme écrit dans le même fichier ; rien n’a été fait. Réessayez.",
    ),
    "disk-damaged": Words(
        "{file} is damaged; it was left as it is.",
        "{file} est endommagé ; le fichier a été laissé tel quel.",
    ),
    "disk-half-missing": Words(
        "{file} is missing while its companion {file}-wal is there; nothing was touched.",
        "{file} manque, alors que {file}-wal est là ; rien n’a été modifié.",
    ),
    "disk-foreign": Words(
        "{file} is a database of another program; it was left as it is.",
        "{file} est la base de données d’un autre programme ; le fichier a été laissé tel quel.",
    ),
    "disk-newer": Words(
        "{file} was written by a newer companion (version {version}, this one knows {known}); it was left as it is.",
        "{file} vient d’une version plus récente ({version}, celle-ci connaît {known}) ; il a été laissé tel quel.",
    ),
    "disk-cannot-open": Words("{file} cannot be opened.", "{file} ne peut pas être ouvert."),
    "disk-in-use": Words("Another companion is already writing {file}.", "Un autre compagnon écrit déjà dans {file}."),
    "disk-failed": Words(
        "The disk failed ({why}): nothing was done.", "Le disque a eu une défaillance ({why}) : rien n’a été fait."
    ),
    "card-full": Words(
        "The memory card is full: nothing more can be entered until there is room. What was entered is safe.",
        "La carte mémoire est pleine : plus rien ne peut être saisi sans faire de la place. Ce qui l’a été est sûr.",
    ),
    "card-read-only": Words(
        "The memory card cannot be written any more: nothing more can be entered. What was entered is safe; "
        "copy it to a USB stick and start anew.",
        "La carte mémoire ne peut plus être écrite : plus rien ne peut être saisi. Ce qui l’a été est sûr ; "
        "copiez-le sur une clé USB et redémarrez.",
    ),
    "card-failed": Words(
        "The memory card fails ({why}): nothing more can be entered. Copy the nights to a USB stick.",
        "La carte mémoire est en panne ({why}) : plus rien ne peut être saisi. Copiez les soirées sur une clé USB.",
    ),
    "card-again": Words("The memory card can be written again.", "La carte mémoire peut de nouveau être écrite."),
    # --- refusals
    "stale": Words(
        "The table has moved on since this was shown; look again.",
        "La partie a avancé depuis cet affichage ; regardez à nouveau.",
    ),
    "id-reused": Words(
        "The mark of this action has already served for something else; nothing was done.",
        "La marque de cette action a déjà servi à autre chose ; rien n’a été fait.",
    ),
    "watch-only": Words(
        "Somebody who only watches changes nothing; join with the table’s PIN.",
        "En spectateur, on ne change rien ; rejoignez la table avec son code PIN.",
    ),
    "host-only": Words("Only the host may do this.", "Seul l’hôte peut faire cela."),
    "agreement": Words(
        "This needs the agreement of the table, which the host confirms.",
        "Il faut l’accord de la table, que l’hôte confirme.",
    ),
    "paused": Words("The night is paused; resume it first.", "La soirée est en pause ; reprenez-la d’abord."),
    "not-paused": Words("The night is not paused.", "La soirée n’est pas en pause."),
    "no-match": Words("No game is open.", "Aucune partie n’est ouverte."),
    "match-open": Words("A game is still open; close it first.", "Une partie est encore ouverte ; fermez-la d’abord."),
    "not-over": Words("This game is not over yet.", "Cette partie n’est pas encore finie."),
    "series-over": Words("The series is decided; open a new one.", "La série est décidée ; ouvrez-en une nouvelle."),
    "no-series": Words("No game has been played yet.", "Aucune partie n’a encore été jouée."),
    "bad-command": Words("There is no command {command}.", "Il n’y a pas de commande {command}."),
    "bad-field": Words(
        "The field {field} is missing or is not what it should be.",
        "Le champ {field} manque ou n’est pas ce qu’il devrait être.",
    ),
    "bad-body": Words("There is no field {field} here.", "Il n’y a pas de champ {field} ici."),
    "not-json": Words(
        "This cannot be kept: it is too long, or not JSON.",
        "Cela ne peut pas être gardé : c’est trop long, ou ce n’est pas du JSON.",
    ),
    "bad-action-id": Words(
        "An action needs a mark of its own, a text of 1 to 100 characters.",
        "Une action doit porter sa propre marque, un texte de 1 à 100 caractères.",
    ),
    "same-name": Words(
        "Two players are called {name}; give one of them another name.",
        "Deux joueurs s’appellent {name} ; donnez un autre nom à l’un d’eux.",
    ),
    "no-such-clause": Words("The rulebook has no clause {clause}.", "La règle n’a pas de clause {clause}."),
    "no-such-colour": Words("Nobody here plays {colour}.", "Personne ne joue en {colour} ici."),
    "no-such-fault": Words("There is no such fault to dismiss.", "Il n’y a pas de telle faute à écarter."),
    "nothing-to-undo": Words("There is nothing to undo.", "Il n’y a rien à annuler."),
    "table-draws": Words(
        "This table draws its own cards; say which ones lie there.",
        "Cette table tire ses cartes elle-même ; dites lesquelles sont posées.",
    ),
    "companion-draws": Words(
        "In this game the companion draws the cards; nobody chooses them.",
        "Dans cette partie, c’est le compagnon qui tire les cartes ; personne ne les choisit.",
    ),
    "nothing-to-draw": Words("No card is to be drawn now.", "Il n’y a pas de carte à tirer maintenant."),
    "nobody-to-pass": Words(
        "There is nobody left who could stop now.", "Il n’y a plus personne qui puisse s’arrêter maintenant."
    ),
    "sensor-alone": Words(
        "The sensor is marked with a single placement, and with nothing else in the same entry.",
        "Le capteur se marque avec une seule pose, sans rien d’autre dans la même saisie.",
    ),
    "sensor-twice": Words(
        "The sensor is already under an igloo of this round.", "Le capteur est déjà sous un igloo de cette manche."
    ),
    "entries-lost": Words(
        "{count:plural|One confirmed entry|# confirmed entries} after this could not be read from the card any more.",
        "{count:plural|Une saisie confirmée ensuite n’a|# saisies confirmées ensuite n’ont} pas pu être relues sur la "
        "carte.",
    ),
    "entries-missing": Words(
        "{count:plural|One confirmed entry|# confirmed entries} of {when} or later can no longer be read from the "
        "card.",
        "{count:plural|Une saisie confirmée|# saisies confirmées} du {when} ou après ne se lisent plus sur la carte.",
    ),
    "entries-changed": Words(
        "{count:plural|One entry|# entries} of {when}, from number {first} on, changed on the card.",
        "{count:plural|Une saisie|# saisies} du {when}, à partir du numéro {first} : la carte les a modifiées.",
    ),
    "moves-missing": Words(
        "{game}, {when}: what was confirmed after move {move} is no longer on the card "
        "({count:plural|one entry|# entries}).",
        "{game}, {when} : ce qui a été confirmé après le coup {move} n’est plus sur la carte "
        "({count:plural|une saisie|# saisies}).",
    ),
    "moves-changed": Words(
        "{game}, {when}: {count:plural|move {moves} is|moves {moves} are} not as entered: the card changed it.",
        "{game}, {when} : {count:plural|le coup {moves} n’est plus celui|les coups {moves} ne sont plus ceux} qui a "
        "été saisi : la carte l’a modifié.",
    ),
    "game-changed": Words(
        "{game}, {when}: something beside the moves changed on the card (entry {first}).",
        "{game}, {when} : autre chose que les coups a été modifié sur la carte (saisie {first}).",
    ),
    "backup-has-them": Words(
        "The backup {file} has it as it was.",
        "La sauvegarde {file} l’a encore telle quelle.",
    ),
    "rules-changed": Words(
        "From entry {seq} on, this game was played by other rules than this companion knows; it is shown up to there.",
        "À partir de l’entrée {seq}, cette partie suit d’autres règles que celles connues ici ; "
        "elle est montrée jusque-là.",
    ),
    "ended-already": Words(
        "This game was ended by the table; take that back to go on with it.",
        "Cette partie a été arrêtée par la table ; annulez cela pour la continuer.",
    ),
    "sheet-not-over": Words(
        "This sheet is not yet that of a game that is over: something that decides is missing.",
        "Cette feuille n’est pas encore celle d’une partie finie : il manque de quoi départager.",
    ),
    "sheet-other-game": Words(
        "The open game is {game}; this sheet is of another game.",
        "La partie ouverte est {game} ; cette feuille est celle d’un autre jeu.",
    ),
    "sheet-other-players": Words(
        "The sheet has other players than those who are named.",
        "La feuille n’a pas les mêmes joueurs que ceux qui sont nommés.",
    ),
    # --- what was done (answers and log)
    "night-opened": Words("The night begins.", "La soirée commence."),
    "match-opened": Words("A game of {game} begins.", "Une partie commence : {game}."),
    "next-game": Words("The next game of {game} begins.", "La partie suivante commence : {game}."),
    "match-closed": Words("The game is closed.", "La partie est fermée."),
    "sheet-kept": Words(
        "A game that has ended is kept by its score sheet: {game}.",
        "Une partie terminée est gardée avec sa feuille de score : {game}.",
    ),
    "sheet-ends": Words(
        "The game ends with the totals of its score sheet.",
        "La partie se termine avec les totaux de sa feuille de score.",
    ),
    "sheet-taken-out": Words(
        "The game that was kept by its score sheet is taken out again; the table agreed.",
        "La partie gardée avec sa feuille de score est retirée, avec l’accord de la table.",
    ),
    "ended-early": Words(
        "The game is ended early; the standing of that moment is kept.",
        "La partie est arrêtée avant sa fin ; le classement de ce moment est gardé.",
    ),
    "goes-on-again": Words("The game goes on; the table agreed.", "La partie continue, avec l’accord de la table."),
    "shared-early": Words(
        "Ended early: this is the standing of that moment.",
        "Partie arrêtée avant sa fin : c’est le classement de ce moment.",
    ),
    "shared-sheet": Words(
        "Counted at the end, from the score sheet.", "Comptée à la fin, d’après la feuille de score."
    ),
    "dealt": Words("New cards: {cards}.", "Nouvelles cartes : {cards}."),
    "arranged": Words(
        "The companion draws the set-up ({count} steps).", "Le compagnon tire la mise en place ({count} étapes)."
    ),
    "not-your-seat": Words(
        "Only the phone that has taken this seat plays from its hand.",
        "Seul le téléphone qui a pris cette place joue de sa main.",
    ),
    "stopped": Words("The table agrees to stop.", "La table décide de s’arrêter."),
    "undone": Words("{count} steps are taken back.", "{count} étapes sont annulées."),
    "undone-one": Words("One step is taken back.", "Une étape est annulée."),
    "undone-agreed": Words(
        "{count} steps are taken back; the table agreed.", "{count} étapes sont annulées, avec l’accord de la table."
    ),
    "undone-one-agreed": Words(
        "One step is taken back; the table agreed.", "Une étape est annulée, avec l’accord de la table."
    ),
    "undone-seen": Words(
        "Counts may have been seen in the meantime.",
        "Des nombres de billes ont pu être vus entre-temps.",
    ),
    "corrected": Words(
        "Score corrected for {who}: {points:+d}, as the table agreed ({reason}).",
        "Score corrigé pour {who} : {points:+d}, avec l’accord de la table ({reason}).",
    ),
    "correction-line": Words("Correction by agreement: {reason}", "Correction d’un commun accord : {reason}"),
    "paused-now": Words("The night is paused.", "La soirée est en pause."),
    "resumed": Words("The night goes on.", "La soirée reprend."),
    "fault-said": Words("A fault was called ({clause}).", "Une faute est signalée ({clause})."),
    "fault-turned": Words(
        "The sensor igloo was turned over in a live round.", "L’igloo au capteur a été retourné pendant la manche."
    ),
    "fault-lifted": Words(
        "The sensor igloo was lifted after it was placed.", "L’igloo au capteur a été soulevé après avoir été posé."
    ),
    "fault-carried": Words(
        "The sensor igloo was moved after it was placed.", "L’igloo au capteur a été déplacé après avoir été posé."
    ),
    "fault-shaken": Words(
        "The sensor igloo was shaken after it was placed.", "L’igloo au capteur a été secoué après avoir été posé."
    ),
    "fault-turned-placed": Words(
        "The sensor igloo was turned over after it was placed.",
        "L’igloo au capteur a été retourné après avoir été posé.",
    ),
    "fault-dismissed": Words(
        "A fault was dismissed; the table agreed.", "Une faute est écartée, avec l’accord de la table."
    ),
    "evidence-kept": Words("A picture of the table was kept.", "Une photo de la table a été gardée."),
}


def say(key: str, facts: Mapping[str, object] | None = None) -> Words:
    """Return a sentence with its facts filled in."""
    return SENTENCES[key].filled(facts or {})
