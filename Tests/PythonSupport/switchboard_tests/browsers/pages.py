"""Page objects: what a person does and sees on the pages, by stable ids and data attributes."""

from __future__ import annotations

import concurrent.futures
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import httpx
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from switchboard_tests.waiting import TIMEOUT

P = TypeVar("P")

PASSWORD = "a calm and long password"

# What is visible of the elements of a selector; an option is where its list is. One script, since WebDriver's own
# question is 50 kB for each element.
VISIBLE = """
const isVisible = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    && [one, ...one.querySelectorAll("*")].some((part) => part.offsetWidth !== 0 && part.offsetHeight !== 0
        || part instanceof SVGElement && part.getBoundingClientRect().width > 0);
const visible = (selector) =>
    [...document.querySelectorAll(selector)].filter((one) => isVisible(one.closest("select") ?? one));
"""
FIRST_VISIBLE = f"{VISIBLE} return visible(arguments[0])[0] ?? null;"
ANY_VISIBLE = f"{VISIBLE} return visible(arguments[0]).length > 0;"
# The words of what is visible of them, as WebDriver has them.
WORDS_OF = 'const wordsOf = (one) => (one.innerText ?? one.textContent).replaceAll("\\u00a0", " ").trim();'
SHOWN_TEXTS = f"{VISIBLE} {WORDS_OF} return visible(arguments[0]).map(wordsOf);"
# The first that is visible and says something.
WITH_TEXT = f"""{VISIBLE} {WORDS_OF}
const [selector, text] = arguments;
return visible(selector).find((one) => wordsOf(one).includes(text)) ?? null;
"""
# Scrolls to the first visible element, and returns it once it has not moved from one frame to the next but one: the
# buttons of a call slide aside for the details, and a click on a moving one misses it. A hidden page has no frames.
FIRST_STILL = f"""{VISIBLE}
const [selector, done] = arguments;
const [element] = visible(selector);
element?.scrollIntoView({{ block: "center" }});
let last = "";
const check = () => {{
    const {{ x, y, width, height }} = element.getBoundingClientRect();
    const now = [x, y, width, height].join();
    if (now === last) return done(element);
    last = now;
    wait();
}};
const wait = () => {{
    if (document.hidden) setTimeout(check, 60); else requestAnimationFrame(() => requestAnimationFrame(check));
}};
if (element) check(); else done(null);
"""


# Somebody's tile in a group call, by name, with its video, whose frames are counted from now on.
TILES = """
const tileOf = (name, source) => [...document.querySelectorAll(`#grid .tile[data-source=${source}]`)]
    .find((one) => one.querySelector(".tile-name").textContent === name);
const countFrames = (video) => {
    if (video.framesShown !== undefined) return;
    video.framesShown = 0;
    const count = () => {
        video.framesShown += 1;
        video.requestVideoFrameCallback(count);
    };
    video.requestVideoFrameCallback(count);
};
const brightnessOf = (video) => {
    if (!video.videoWidth) return 0;
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [16, 16];
    const pen = canvas.getContext("2d");
    pen.drawImage(video, 0, 0, 16, 16);
    const { data } = pen.getImageData(0, 0, 16, 16);
    let brightness = 0;
    for (let i = 0; i < data.length; i += 4) brightness = Math.max(brightness, data[i] + data[i + 1] + data[i + 2]);
    return brightness;
};
"""
# Its data attributes, and the state of its video.
TILE = f"""{TILES}
const tile = tileOf(...arguments);
if (!tile) return null;
const video = tile.querySelector("video");
countFrames(video);
return {{
    ...tile.dataset, frames: video.framesShown, brightness: brightnessOf(video), width: video.videoWidth,
    bars: tile.querySelector(".bars:not([hidden])")?.dataset.level ?? null,
}};
"""
# Whose video, of these names, has not moved or is black, as soon as there is nobody, or after ten seconds: a busy
# machine shows few frames.
UNSEEN = f"""{TILES}
const [names, source, done] = arguments;
const end = performance.now() + 10_000;
const starts = new Map();
const isSeen = (name) => {{
    const tile = tileOf(name, source);
    const video = tile?.querySelector("video");
    if (tile?.dataset.picture !== "true") return false;
    countFrames(video);
    if (!starts.has(video)) starts.set(video, video.framesShown);
    return video.framesShown > starts.get(video) + 5 && brightnessOf(video) > 60;
}};
let unseen = names;
const check = () => {{
    unseen = unseen.filter((name) => !isSeen(name));
    if (unseen.length === 0 || performance.now() > end) done(unseen); else setTimeout(check, 50);
}};
check();
"""

# The packets of each received voice, and its total audio energy so far.
VOICES = """
const done = arguments[arguments.length - 1];
(async () => {
    const voices = [];
    for (const peer of window.peers.filter((one) => one.signalingState !== "closed")) {
        for (const one of (await peer.getStats()).values()) {
            if (one.type === "inbound-rtp" && one.kind === "audio" && one.packetsReceived) {
                const id = `${window.peers.indexOf(peer)} ${one.id}`;
                voices.push({ id, packets: one.packetsReceived, energy: one.totalAudioEnergy });
            }
        }
    }
    return voices;
})().then(done, () => done([]));
"""

# Does what submitting the form does.
SIGN_UP = """
const [form, saveData, done] = arguments;
const { credentials, preferences, signUp } = globalThis.switchboard;
preferences.set("saveData", saveData);
signUp({ ...form, languages: navigator.languages.slice(0, 3) }).then((made) => {
    credentials.begin(made, true);
}).then(() => done(null), (error) => done(String(error)));
"""

# What the page has kept of its sign-in, read where it is kept: Firefox runs scripts of tests without its globals.
CREDENTIALS = """
const stores = [sessionStorage, localStorage];
return JSON.parse(stores.map((one) => one.getItem("switchboard.credentials")).find(Boolean));
"""


# The video quality that the server has noted as this page's preference for the others' cameras, by their names.
PREFERENCES = """
const [done] = arguments;
const { calls, request } = globalThis.switchboard;
const call = calls.current;
request("calls.slots", { call: call.id, slots: {} }).then(({ slots }) => {
    const sections = window.peers.flatMap((peer) => peer.getTransceivers());
    const mids = new Map(sections.map((one) => [one.receiver, one.mid]));
    const names = new Map(call.people.map((one) => [one.user, one.displayName]));
    return Object.fromEntries(call.received.filter((one) => one.source === "camera")
        .map((one) => [names.get(one.user), slots[mids.get(one.receiver)]]));
}).then(done, (error) => done({ error: String(error) }));
"""

# What the fake microphone of a browser says, by flite.
WORDS = "one two three four five"


class Account(Protocol):
    """Somebody whom a person can find and call, with whatever client."""

    name: str
    email: str


class Person:
    """A person with an account, using a browser."""

    def __init__(self, browser: Any, url: str, name: str) -> None:
        self.browser = browser
        self.driver = browser.driver
        self.url = url
        self.name = name
        self.email = f"{name.split(maxsplit=1)[0].lower()}-{uuid.uuid4().hex[:10]}@example.org"

    # Finding things

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def find(self, selector: str, limit: float = TIMEOUT) -> Any:
        """The element once it is visible."""
        return self.browser.wait(
            f"{selector} to be shown", lambda: self.driver.execute_script(FIRST_VISIBLE, selector), limit
        )

    def is_shown(self, selector: str) -> bool:
        """Whether any of them is visible."""
        return self.driver.execute_script(ANY_VISIBLE, selector)

    def texts(self, selector: str) -> list[str]:
        """The words of those that are visible."""
        return self.driver.execute_script(SHOWN_TEXTS, selector)

    def click(self, selector: str, limit: float = TIMEOUT) -> None:
        def clicked() -> bool:
            # A list may be re-rendered between finding a row and clicking it: then it is looked up again.
            element = self.driver.execute_async_script(FIRST_STILL, selector)
            if element:
                element.click()
            return bool(element)

        self.browser.wait(f"{selector} to take a click", clicked, limit)

    def gone(self, selector: str, limit: float = TIMEOUT) -> None:
        self.browser.wait(f"{selector} to be gone", lambda: not self.is_shown(selector), limit)

    def text(self, selector: str) -> str:
        return self.read(selector, lambda element: element.text)

    def attribute(self, selector: str, name: str) -> str | None:
        return self.read(selector, lambda element: element.get_attribute(name))

    def read(self, selector: str, read: Callable[[WebElement], Any]) -> Any:
        """Of the first that is visible; of what was drawn anew in between it is read there."""

        def found() -> tuple[Any] | None:
            try:
                return (read(self.find(selector)),)
            except StaleElementReferenceException:
                return None

        return self.browser.wait(f"{selector} to be read", found)[0]

    def draft(self) -> str:
        """What is written in the open chat, and not sent."""
        return self.driver.execute_script("return arguments[0].value", self.find("#write"))

    def says(self, selector: str, text: str, limit: float = TIMEOUT) -> None:
        """Waits until the element's text contains the text."""
        self.browser.wait(
            f"{selector} to say “{text}”", lambda: any(text in one for one in self.texts(selector)), limit
        )

    def press(self, keys: str) -> None:
        """Presses the last key while those before it are held, wherever the focus is: what has it may be drawn anew."""
        actions = ActionChains(self.driver)
        for key in keys[:-1]:
            actions.key_down(key)
        actions.send_keys(keys[-1])
        for key in keys[:-1]:
            actions.key_up(key)
        actions.perform()

    # Accounts

    def sign_up(self, save_data: bool = False) -> Person:
        """Creates the account, without the form where possible. With `save_data` the video is small, which needs less
        CPU time."""
        if not self.browser.shares_globals:
            return self.sign_up_by_form(save_data)
        self.browser.open(self.url)
        self.find("#sign-in-form")
        form = {"displayName": self.name, "email": self.email, "password": PASSWORD}
        error = self.driver.execute_async_script(SIGN_UP, form, save_data)
        assert error is None, error
        self.is_in()
        return self

    def sign_up_by_form(self, save_data: bool = False) -> Person:
        self.browser.open(self.url)
        if save_data:
            self.driver.execute_script("localStorage.setItem('switchboard.preferences', '{\"saveData\":true}')")
            self.driver.refresh()
        self.click("#to-sign-up")
        self.fill(displayName=self.name, email=self.email, password=PASSWORD)
        self.find("#field-password").send_keys(Keys.ENTER)
        self.is_in()
        return self

    def sign_in(self, password: str = PASSWORD) -> None:
        self.find("#sign-in-form")
        self.fill(email=self.email, password=password)
        self.find("#field-password").send_keys(Keys.ENTER)

    def fill(self, **fields: str) -> None:
        for name, value in fields.items():
            element = self.find(f"#field-{name}")
            element.clear()
            element.send_keys(value)

    def is_in(self) -> None:
        """Signed in, and connected to the server."""
        self.find("#search")
        self.is_online()

    def is_online(self, limit: float = TIMEOUT) -> None:
        self.browser.wait(
            "the realtime connection",
            lambda: self.driver.execute_script("return document.documentElement.dataset.realtime") == "online",
            limit,
        )

    @property
    def user(self) -> str:
        """The id of the account."""
        return self.credentials["user"]["id"]

    @property
    def credentials(self) -> dict[str, Any]:
        return self.driver.execute_script(CREDENTIALS)

    def post(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """A request with the page's access token."""
        token, origin = self.credentials["accessToken"], self.driver.execute_script("return location.origin")
        response = httpx.post(
            origin + path, json=body or {}, headers={"Authorization": f"Bearer {token}"}, verify=False, timeout=TIMEOUT)
        response.raise_for_status()
        return response.json() if response.content else {}

    def go(self, page: str) -> None:
        self.driver.execute_script("location.hash = arguments[0]", f"#/{page}")
        self.find(f"main[data-page={page}]")

    # Calling

    def search_for(self, other: Account) -> None:
        self.go("people")
        field = self.find("#search")
        field.clear()
        field.send_keys(other.email)
        self.says(".section-title", "Results")
        self.says("#people .row", other.name)

    def call(self, other: Account, kind: str = "video") -> None:
        self.search_for(other)
        self.click(f"#people [data-action=call-{kind}]")
        self.find("#call")

    def rings(self, limit: float = TIMEOUT) -> Any:
        return self.find("#incoming", limit)

    def answer(self, how: str = "accept-video") -> None:
        self.click(f"#incoming [data-action={how}]")

    def phase(self, *phases: str, limit: float = TIMEOUT) -> None:
        self.browser.wait(
            f"the call to be {' or '.join(phases)}",
            lambda: any(one.get_attribute("data-phase") in phases for one in self.all("#call")),
            limit,
        )

    def control(self, action: str) -> None:
        self.click(f"#call [data-action={action}]")

    def is_connected(self, limit: float = TIMEOUT) -> None:
        self.phase("active", limit=limit)
        self.browser.wait(
            "the connection to be up",
            lambda: self.all("#call[data-connection=connected]"),
            limit,
        )

    def hang_up(self) -> None:
        self.control("hang-up")
        self.phase("ended")

    def leave_call_screen(self) -> None:
        """Closes it, unless it has closed by itself after a few seconds."""
        self.driver.execute_script("document.querySelector('#call [data-action=close]')?.click()")
        self.gone("#call")

    def leave_calls(self) -> None:
        """Declines a call that rings, and leaves the one that this page is in, if any."""
        if self.is_shown("#incoming"):
            self.answer("decline")
            self.gone("#incoming")
        if self.all("#call:not([data-phase=ended])"):
            self.hang_up()
        self.leave_call_screen()

    def has_video(self) -> None:
        """Waits until frames are decoded that are not black."""
        start = self.browser.media()["frames"]
        self.browser.wait("decoded frames to rise", lambda: self.browser.media()["frames"] > start + 5)
        self.browser.wait("a picture that is not black", lambda: self.browser.brightness("#remote-video") > 60)

    def receives_audio(self) -> None:
        start = self.browser.media()["audio"]
        self.browser.wait("audio packets to rise", lambda: self.browser.media()["audio"] > start + 10)

    def path(self) -> tuple[str, str]:
        """The types of the selected candidates, of this side and the other."""
        media = self.browser.wait("a selected pair", lambda: (m := self.browser.media()) and m["local"] and m)
        return media["local"], media["remote"]

    # Group calls

    def pick(self, others: Sequence[Account]) -> None:
        """Chooses people in the dialog that asks for some."""
        for other in others:
            field = self.find("#pick-search")
            field.clear()
            field.send_keys(other.email)
            self.browser.wait(
                f"{other.name} alone to be found",
                lambda: self.texts("#picks .name") == [other.name],
            )
            self.click("#picks .pick input")
            self.says("#picker .chips", other.name)

    def call_group(self, others: Sequence[Account], kind: str = "video") -> None:
        self.go("people")
        self.click("[data-action=group-call]")
        self.pick(others)
        self.click(f"#picker [data-choice={kind}]")
        self.find("#call[data-mode=group]")

    def invite(self, others: Sequence[Account]) -> None:
        self.control("invite")
        self.pick(others)
        self.click("#picker [data-choice=add]")
        self.gone("#picker")

    def tile(self, other: Account | str, source: str = "camera") -> Any:
        return self.driver.execute_script(TILE, getattr(other, "name", other), source)

    def tile_is(self, other: Account | str, source: str = "camera", limit: float = TIMEOUT, **attributes: str) -> Any:
        """Waits for the tile with such attributes, for example `muted="true"`."""

        def found() -> Any:
            tile = self.tile(other, source)
            return tile and all(tile.get(name) == value for name, value in attributes.items()) and tile

        return self.browser.wait(f"the {source} of {getattr(other, 'name', other)} with {attributes}", found, limit)

    def sees(self, *others: Account | str, source: str = "camera", limit: float = TIMEOUT) -> None:
        """Waits until the video of all of them moves and is not black."""
        unseen = [other if isinstance(other, str) else other.name for other in others]

        def all_are_seen() -> bool:
            unseen[:] = self.driver.execute_async_script(UNSEEN, unseen, source)
            return not unseen

        try:
            self.browser.wait(f"moving video of {' and '.join(unseen)}", all_are_seen, limit)
        except AssertionError as error:
            raise AssertionError(f"{self.name} does not see {unseen}") from error

    def prefers(self, quality: str, *others: Person, limit: float = TIMEOUT) -> None:
        """Waits until the server knows that this page prefers this quality for all of them."""
        preferences: dict[str, str] = {}

        def is_set() -> bool:
            preferences.clear()
            preferences.update(self.driver.execute_async_script(PREFERENCES))
            return preferences == {other.name: quality for other in others}

        try:
            self.browser.wait(f"the preference {quality}", is_set, limit)
        except AssertionError as error:
            raise AssertionError(f"{self.name} prefers {preferences}") from error

    def has_voice_without_picture(self) -> bool:
        """Whether no video frame arrived during the next fifty audio packets, which take a second."""
        before = self.browser.media()
        self.browser.wait("fifty audio packets", lambda: self.browser.media()["audio"] >= before["audio"] + 50)
        return self.browser.media()["frames"] == before["frames"]

    def voices(self) -> dict[str, Any]:
        return {one["id"]: one for one in self.driver.execute_async_script(VOICES)}

    def receives_voices(self, count: int, packets: int = 10, limit: float = TIMEOUT) -> None:
        """Waits for so many packets of so many voices, of which some is not silence."""
        start = self.voices()

        def grown() -> bool:
            now = self.voices().values()
            active = [one for one in now if one["packets"] > start.get(one["id"], {"packets": 0})["packets"] + packets]
            loud = any(one["energy"] > start.get(one["id"], {"energy": 0})["energy"] for one in active)
            return len(active) >= count and loud

        self.browser.wait(f"audio of {count} voices", grown, limit)

    # History

    def last_call(self) -> tuple[str, bool, str]:
        """The newest line of the history: its outcome, whether it was outgoing, and its text."""
        self.go("history")
        row = self.find("#history .row")
        return row.get_attribute("data-outcome"), row.get_attribute("data-outgoing") == "true", row.text

    def history_says(self, outcome: str, outgoing: bool) -> str:
        """Waits for the newest line, since the call ends a moment before the list is fetched."""
        self.browser.wait(
            f"the history to begin with {outcome}", lambda: self.last_call()[:2] == (outcome, outgoing)
        )
        return self.last_call()[2]


def connect(caller: Person, callee: Person) -> None:
    """Makes a video call between the two, in which both see each other."""
    caller.call(callee)
    callee.rings()
    callee.answer()
    for person in (caller, callee):
        person.is_connected()
        person.has_video()


def together(people: Sequence[P], action: Callable[[P], object]) -> None:
    """Does something with several people at once, each with a browser of its own; fails as the first of them does."""
    with concurrent.futures.ThreadPoolExecutor(len(people)) as pool:
        for done in [pool.submit(action, person) for person in people]:
            done.result()


def connect_group(caller: Person, *others: Person, kind: str = "video") -> None:
    """Makes a group call of all of them."""
    caller.call_group(others, kind)

    def answer(person: Person) -> None:
        if person is not caller:
            person.rings()
            person.answer()
        person.is_connected()

    together((caller, *others), answer)


def everybody_receives_media(people: Sequence[Person]) -> None:
    def receive(person: Person) -> None:
        person.sees(*(other for other in people if other is not person))
        person.receives_voices(len(people) - 1)

    together(people, receive)


def only_the_second_speaks(people: Sequence[Person]) -> None:
    """A call of three in which only the second is not muted."""
    ann, ben, cem = people
    ann.call_group([ben, cem], "audio")
    for other in (ben, cem):
        other.rings()
        other.answer("accept-audio")
    for person in people:
        person.is_connected()
    for person in (ann, cem):
        person.control("mute")
        person.receives_voices(1)
