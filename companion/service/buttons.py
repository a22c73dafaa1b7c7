"""What the buttons on the table do, and what its lights say: the panel between the night and the phones."""

from __future__ import annotations

import logging
import secrets
import threading
from typing import TYPE_CHECKING, Any

from companion.events.hub import Hub
from companion.night.answers import TABLE, Actor, CommandResult
from companion.night.commands.night import Night
from companion.night.messages import Words
from companion.panel import messages
from companion.panel.pins import parse
from companion.panel.status import PanelError, PanelStatus
from companion.ports import BadDataError, DeviceKind, DeviceState

if TYPE_CHECKING:
    from gpiozero import Factory

    from companion.panel.gpio import Panel

log = logging.getLogger(__name__)

DOUBT = Words("Somebody at the table has a doubt: look it up with the referee.")
MOVES = {"moves", "check", "deal"}
NOTHING = Words("There is nothing to go on with now.")
TOGETHER = Words("This can only be taken back together: confirm it on the host’s phone.")
NO_UNDO = Words("There is nothing to take back.")


class Buttons:
    """The panel of this table; without pins in the settings it is none, and the page has the same buttons."""

    def __init__(self, night: Night, hub: Hub, pins: tuple[str, ...]) -> None:
        """Prepare; :meth:`start` opens the pins. Nothing is raised: :meth:`status` says what is wrong."""
        self._night, self._hub, self._pins = night, hub, pins
        self.panel: Panel | None = None
        self._status: PanelStatus | None = None
        self._doubt_at: int | None = None
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="panel lights", daemon=True)

    def start(self, factory: Factory | None = None) -> None:
        """Open the pins that the settings name."""
        try:
            pins = parse(self._pins)
            if not pins:
                return
            from companion.panel.gpio import Panel

            self.panel = Panel(pins, self.pressed, factory=factory)
        except BadDataError as error:
            self._status = PanelStatus(DeviceKind.REAL, DeviceState.FAULTY, {}, messages.BAD_PINS, str(error))
            return
        except PanelError as error:
            self._status = PanelStatus(DeviceKind.REAL, DeviceState.MISSING, pins.at, error.note, error.detail)
            return
        self._status = self.panel.status()
        self._thread.start()

    def status(self) -> PanelStatus | None:
        """Return how the panel is doing; None where there is none."""
        return self._status

    def close(self) -> None:
        """Put the lights out and free the pins."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)
        if self.panel is not None:
            self.panel.close()

    # --- buttons -----------------------------------------------------------------------------------------------------

    def press(self, button: str, by: Actor) -> CommandResult | None:
        """Do what the button of that name on a phone's page asks for, as far as ``by`` may; None for a doubt.

        Taking back is no button there: a page has one that knows whose step it was.
        """
        if button == "dispute":
            self._dispute()
            return None
        step = _next_step(button, self._night.view()["match"])
        if step is None:
            return CommandResult(False, self._night.seq, self._night.state, NOTHING, None, "refused")
        return self._night.do(*step, by=by, state=self._night.state, action_id=secrets.token_hex(8))

    def pressed(self, button: str) -> None:
        """Do what a button asks for, and tell every phone which one it was."""
        match = self._night.view()["match"]
        if button == "dispute":
            self._dispute()
        elif button == "undo":
            can = None if match is None else match["can_undo"]
            if can is None:
                self._no(button, NO_UNDO)
            elif can["needs_agreement"]:
                self._no(button, TOGETHER)
            else:
                # Everybody sees the button pressed, so an ordinary step goes back whoever made it.
                self._do(button, "undo", {"to": can["to"], "agreed": True})
        else:
            self._go_on(button, match)

    def _dispute(self) -> None:
        if self._doubt_at is not None:
            self._settled()
            return
        self._doubt_at = self._night.seq
        if self.panel is not None:
            self.panel.doubt(True)
            self.panel.beep(2)
        self._hub.publish("notice", {"panel": "dispute", **DOUBT.to_json()})

    def _settled(self) -> None:
        self._doubt_at = None
        if self.panel is not None:
            self.panel.doubt(False)

    def _go_on(self, button: str, match: dict[str, Any] | None) -> None:
        """Take the step that the table would take next, where there is only one."""
        step = _next_step(button, match)
        if step is None:
            self._no(button, NOTHING)
        else:
            self._do(button, *step)

    def _do(self, button: str, command: str, body: dict[str, Any]) -> None:
        answer = self._night.do(command, body, by=TABLE, state=self._night.state, action_id=secrets.token_hex(8))
        if answer.ok:
            self._hub.publish("notice", {"panel": button})
            return
        self._no(button, answer.message)

    def _no(self, button: str, words: Words) -> None:
        if self.panel is not None:
            self.panel.beep(3)
        self._hub.publish("notice", {"panel": button, **words.to_json()})

    # --- lights ------------------------------------------------------------------------------------------------------

    def _follow(self) -> None:
        with self._hub.subscribe(["state"], size=8) as states:
            seq = self._show(self._night.view(), None)
            while not self._closing.is_set():
                event = states.get(timeout=0.5)
                if states.lagging:
                    states.caught_up()
                elif event is None:
                    continue
                seq = self._show(self._night.view(), seq)

    def _show(self, view: dict[str, Any], before: int | None) -> int:
        panel, match, seq = self.panel, view["match"], int(view["seq"])
        if panel is None:
            return seq
        fresh = [line for line in view["log"] if before is not None and line["seq"] > before]
        if any(line["kind"] in MOVES and not line["undone"] for line in fresh):
            panel.legal()
            if self._doubt_at is not None and seq > self._doubt_at:
                self._settled()
        panel.turn(_whose(match))
        if self._doubt_at is None:
            panel.doubt(match is not None and any(not fault["dismissed"] for fault in match["faults"]))
        return seq


def _next_step(button: str, match: dict[str, Any] | None) -> tuple[str, dict[str, Any]] | None:
    """Return the command that a button stands for now; None where there is nothing to go on with."""
    if match is None:
        return None
    if match["over"]:
        return "next-game", {}
    if match["phase"] == "ready":
        return "moves", {"moves": ["start"]}
    if button == "next" and match["phase"] == "shaking":
        return "check", {}
    if button == "next" and match["phase"] != "checking":
        return "deal", {}
    return None


def _whose(match: dict[str, Any] | None) -> str | None:
    """Return the colour of whose turn it is; None where all play at once, or nobody."""
    if match is None or match["over"]:
        return None
    turn = match.get("to_move")
    if isinstance(turn, int) and 0 <= turn < len(match["players"]):
        turn = match["players"][turn]["colour"]
    return turn if isinstance(turn, str) else None
