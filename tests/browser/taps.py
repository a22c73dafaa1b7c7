"""How many taps the games take, measured in Chromium; `python -m tests.browser.taps` prints it, as `make bench` does.

A turn of a game on a board is measured with the page's own taps.js: of all ways to enter each move the shortest, where
a piece that is carried to its place counts once, as a tap does. Physical actions are those of the hands at the table:
a tile taken, a piece moved, a card laid, a token put away.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Page, sync_playwright

from companion.lab.worlds.boards import BOARDS, offered, players, settled, view_of
from companion.rules import game
from tests.browser.conftest import ARGUMENTS, CHROMIUM, Phones, sent
from tests.web.assembly import Service, served

HANDS = {"harpoon": 2, "thaw": 2, "build": 2, "tokens": 2, "swap": 2}
"""What takes more than one action of the hands: a tile played and what it does, two inuit for an igloo, two tokens."""

MEASURE = """async ({address, steps}) => {
  const { carried, complete, followed, isKey, tapped } = await import(address);
  const shown = (moves, path, choices) => choices ?? (path.length === 1 && !isKey(path[0])
    ? [...complete(moves, path), ...complete(moves, [])] : complete(moves, path));
  const after = (moves, at, place) => {
    const meant = tapped(moves, at.choices ? [] : at.path, place, at.guessed);
    return meant && { ...meant, path: meant.path ?? [], choices: meant.choices ?? null, guessed: false };
  };
  function least(moves, path, text) {
    const places = [...new Set(moves.flatMap((move) => move.path))];
    const fresh = { path: [], choices: null, guessed: false };
    let front = [{ ...fresh, path, guessed: path.length > 0 }];
    for (let taps = 1; taps < 9; taps += 1) {
      if (front.some((at) => shown(moves, at.path, at.choices).some((move) => move.text === text))) return taps;
      const next = front.flatMap((at) => places.map((place) => after(moves, at, place)));
      for (const from of carried(moves)) {
        const there = taps === 1 ? places.filter((to) => to !== from) : [];
        next.push(...there.map((to) => after(moves, { ...fresh, path: [from] }, to)));
      }
      if (next.some((at) => at?.play?.text === text)) return taps;
      const name = (at) => JSON.stringify([at.path, at.choices?.map((move) => move.text)]);
      front = [...new Map(next.filter((at) => at && !at.play).map((at) => [name(at), at])).values()];
    }
    return 9;
  }
  let follow = null;
  return steps.map(({ moves, text, anew }) => {
    const taps = least(moves, followed(moves, anew ? null : follow), text);
    const places = moves.find((move) => move.text === text).path.filter((step) => !isKey(step));
    follow = places.length > 1 ? places.at(-1) : null;
    return taps;
  });
}"""


def played(game_id: str, seed: int) -> list[dict[str, Any]]:
    """Return the steps of a random game that goes on while it can: what is offered, and what is entered."""
    rng, view = Random(seed), view_of(game_id)
    state: Any = game(game_id).start(players(game_id))
    found: list[dict[str, Any]] = []
    while state.outcome() is None and len(found) < 1500:
        moves = offered(game_id, state)
        weights = [0.15 if move["text"].split()[0] in {"end", "stop"} else 1.0 for move in moves]
        text = rng.choices(moves, weights)[0]["text"]
        turn, slim = view.turn(state), [{name: move[name] for name in ("text", "path", "cost")} for move in moves]
        anew = not found or found[-1]["turn"] != turn
        found.append({"turn": turn, "anew": anew, "setup": bool(view.arranging(state)), "moves": slim, "text": text})
        state = settled(game_id, state.play(game(game_id).parse(text)))
    return found


def turns(page: Page, game_id: str, seed: int) -> Counter[int]:
    """Return how many turns of a random game take so many taps more than actions of the hands."""
    steps = played(game_id, seed)
    address = page.evaluate("() => document.querySelector('script[type=module]').src.replace(/main\\.js/, 'taps.js')")
    taps = page.evaluate(MEASURE, {"address": address, "steps": steps})
    found: Counter[int] = Counter()
    more, open_turn = 0, False
    for step, count in zip(steps, taps, strict=True):
        if step["anew"]:
            found[more] += open_turn
            more, open_turn = 0, False
        if step["setup"]:
            continue
        text = step["text"]
        more += count - HANDS.get(text.split()[0], 1) - text.endswith(" harpoon")
        open_turn = True
    found[more] += open_turn
    return +found


def first_round(page: Page, service: Service) -> int:
    """Lead a newcomer's phone from the host link to the first scored round of Igloo Pop; return the taps."""
    taps = 0

    def tap(selector: str) -> None:
        nonlocal taps
        page.click(selector)
        taps += 1

    page.goto(service.host_link())
    tap("button.main")
    tap("form.setup button[type=submit]")
    tap("[data-do=start]")
    for colour, place in (("red", "card1"), ("blue", "card2")):
        tap(f".who[data-colour={colour}]")
        tap(f".card[data-place={place}]")
    tap("[data-do=check]")
    for number in (5, 6):
        key = f"[data-do=reveal][data-number='{number}']:enabled"
        tap(key)
        # The next igloo is asked for when this one is known; until then the keys are still this one's.
        page.wait_for_selector(key, state="detached")
    page.wait_for_selector(".results li >> nth=1")
    return taps


def pop_actions(page: Page, service: Service, seed: int, rounds: int) -> Counter[int]:
    """Play Igloo Pop by tapping as chance has it; return how many actions take so many taps more than the hands do.

    The hands put an igloo down and lay a thaler (2), stop shaking, say stop, turn an igloo over (1); new cards
    come by themselves.
    """
    rng, found = Random(seed), Counter[int]()

    def act(hands: int, *selectors: str) -> None:
        before = service.companion.night.seq
        for selector in selectors:
            page.click(selector)
        found[len(selectors) - hands] += 1
        sent(page)
        assert service.companion.night.seq > before, selectors

    page.goto(service.url)
    for _ in range(rounds):
        page.wait_for_selector("[data-do=start]")
        act(1, "[data-do=start]")
        placed = 0
        for colour in rng.sample(("red", "blue", "green"), 3):
            for _ in range(rng.randint(1, 2)):
                page.wait_for_selector(".card.live")
                places = page.locator(".card.live").evaluate_all("(all) => all.map((one) => one.dataset.place)")
                act(2, f".who[data-colour={colour}]", f".card[data-place={rng.choice(places)}]")
                placed += 1
        act(1, "[data-do=check]")
        for _ in range(placed):
            keys = page.locator("[data-do=reveal]:enabled")
            keys.first.wait_for()
            act(1, f"[data-do=reveal][data-number='{rng.choice(keys.all()).get_attribute('data-number')}']")
        if service.companion.night.view()["match"]["over"]:
            break
    return found


def told_of(game_id: str, found: Counter[int]) -> str:
    """Return the line of a game: how many of its turns took how many taps more than actions of the hands."""
    within = sum(count for more, count in found.items() if more <= 1)
    beyond = ", ".join(f"{count} with {more} more" for more, count in sorted(found.items()) if more > 1)
    return f"{game_id}: taps ≤ the hands' actions + 1 in {within} of {found.total()} turns; {beyond or 'no other'}"


def main() -> None:
    """Print what the games take."""
    with (
        TemporaryDirectory(prefix="companion-taps-") as folder,
        sync_playwright() as playwright,
        served(Path(folder)) as service,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = Phones(browser, service).guest()
        began = time.monotonic()
        taps = first_round(page, service)
        took = time.monotonic() - began
        told = [f"first open to first scored round of Igloo Pop: {taps} taps ({took:.1f} s where a machine taps)"]
        told.append(told_of("igloo-pop", pop_actions(page, service, 1, 8)))
        for game_id in BOARDS:
            told.append(told_of(game_id, sum((turns(page, game_id, seed) for seed in range(4)), Counter())))
        browser.close()
    sys.stdout.write("\n".join(told) + "\n")


if __name__ == "__main__":
    main()
