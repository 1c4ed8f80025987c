"""The transcripts of recordings in the language of who reads them, while the translator waits, fails and is used up.
Both what was said and the translator are scripts here: nobody takes its texts for a translation."""

import dataclasses
import json
import threading

import pytest
from selenium.webdriver.common.keys import Keys
from switchboard_tests import scripted_http
from switchboard_tests.browsers.browser import DESK, PHONE
from switchboard_tests.browsers.chats import API, accessible, open_chat
from switchboard_tests.browsers.pages import Person, together
from switchboard_tests.browsers.server import Server
from switchboard_tests.tcp_proxy import Proxy
from switchboard_tests.translators import completion, honest, serving, settings
from switchboard_tests.waiting import eventually

pytestmark = pytest.mark.alone

# Three pages.
SAID = [f"The train to the airport leaves platform {number} at nine." for number in range(60)]
SHORT = ["Vamos nos encontrar amanhã de manhã na estação.", "Você pode trazer as passagens e alguma coisa para comer?"]
TRANSLATE = "[data-action=translate-transcript]"
RETRY = "[data-action=retry-translation]"
ROOT = "return [document.documentElement.lang, document.documentElement.dir]"
# Of each line of a recording what was said and what stands under it.
LINES = """
return [...document.querySelectorAll(`#recordings [data-recording="${arguments[0]}"] .lines > li`)]
    .map((one) => [".words", ".line-translation"].map((part) => one.querySelector(part)?.textContent ?? null));
"""
# What waits for up to a minute waits for a moment in this page.
HURRY = """
const [wait, give] = [setTimeout, AbortSignal.timeout.bind(AbortSignal)];
const hurried = (time) => time > 30_000 ? time : Math.min(time, 100);
globalThis.setTimeout = (work, time, ...more) => wait(work, hurried(time), ...more);
AbortSignal.timeout = (time) => give(hurried(time));
"""
# Tells the page that the recording was transcribed, and waits until it has loaded the transcript.
LOAD_AGAIN = """
const [recording, done] = arguments;
const { credentials, realtime, request } = globalThis.switchboard;
realtime.emit("change", { stream: `user:${credentials.user.id}`, type: "recording.transcribed", data: { recording } });
request("recordings.transcript", { recording }).then(() => done());
"""
# How much of the dialog is wider than the window.
OVERFLOW = "return document.querySelector('#recordings').scrollWidth - innerWidth"
FOCUS = "return document.activeElement.dataset.action ?? document.activeElement.localName"
# Directions of a line and of what stands under it.
DIRECTIONS = """
return ["#recordings .words", "#recordings .line-translation"].map((one) => {
    const found = document.querySelector(one);
    return [found.lang, getComputedStyle(found).direction];
});
"""


def spanish(text):
    return f"[es] {text}"


@dataclasses.dataclass
class Stage:
    ann: Person
    ben: Person
    proxy: Proxy
    call: str
    # A recording of sixty segments in English, and one of two in Portuguese.
    long: str
    short: str


class Speech(scripted_http.Handler):
    """An endpoint like OpenAI's that recognizes what it is told to, once."""

    response: dict | None = None
    lock = threading.Lock()

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        with Speech.lock:
            response, Speech.response = Speech.response, None
        self.respond(200, json.dumps(response or {"text": "", "segments": []}).encode())

    @classmethod
    def recognizes(cls, texts, language):
        # The last two begin at the same time.
        times = [min(at, len(texts) - 2) / 1_000 for at in range(len(texts))]
        parts = [{"start": at, "end": at, "text": text} for at, text in zip(times, texts)]
        cls.response = {"text": " ".join(texts), "segments": parts, "language": language}


@pytest.fixture(scope="module")
def provider():
    with serving() as provider:
        yield provider


@pytest.fixture(autouse=True)
def translator(provider):
    """It translates at once."""
    provider.script = honest
    provider.responds.set()
    provider.received.clear()
    yield provider
    provider.responds.set()


@pytest.fixture(scope="module")
def stage(request, browsers, tmp_path_factory, provider):
    """A call of Ann, who is behind a proxy, and Ben, which Ann has recorded twice."""
    server = Server(request.config.getoption("--binary"), tmp_path_factory.mktemp("transcripts"))
    with scripted_http.serving(Speech) as speech:
        known = server.config.read_text().replace("transcription:\n  provider: command\n", "")
        more = {
            "transcription": {"provider": "openai", "url": f"{speech}/v1", "model": "scripted", "hosted": "false"},
            "languages": settings(provider) | {"budget": {"dailyCharacters": 60_000}},
            "limits": {"translationsPerMinute": 100_000, "requestsPerMinute": 100_000},
        }
        server.config.write_text(known + "".join(f"{name}: {json.dumps(one)}\n" for name, one in more.items()))
        server.start()
        proxy = Proxy(server.port)
        for one in browsers:
            one.keep_one_tab()
        urls = (proxy.url, server.url)
        people = ann, ben = [
            Person(one, url, name) for one, url, name in zip(browsers, urls, ("Ann Abel", "Ben Brook"))
        ]
        together(people, Person.sign_up)
        call, recordings = record(ann, ben)
        own = API(ann)
        for recording, texts, language in zip(recordings, (SAID, SHORT), ("english", "portuguese")):
            Speech.recognizes(texts, language=language)
            path = f"/v1/recordings/{recording}/transcript"
            own.ask("POST", path)
            eventually(lambda path=path: own.ask("GET", path)["transcript"]["status"] == "complete")
        yield Stage(ann, ben, proxy, call, *recordings)
        proxy.restore()
        proxy.close()
        together(browsers, lambda one: one.driver.get("about:blank"))
        server.stop()


def record(ann, ben):
    """The call, and its two recordings, the first one first."""
    group = API(ann).create("group", [API(ben)], name="Team")
    open_chat(ann, group)
    ann.click("[data-action=call-group]")
    ben.rings()
    ben.answer("accept-audio")
    for person in (ann, ben):
        person.is_connected()
    ben.control("mute")
    call = ann.attribute("#call", "data-call")
    own, found = API(ann), []

    def ended():
        recordings = own.ask("GET", f"/v1/calls/{call}/recordings")["recordings"]
        new = [one["id"] for one in recordings if one["id"] not in found and one["status"] == "complete"]
        found.extend(new)
        return new

    for _ in range(2):
        ann.control("record")
        ann.find("#call-recording")
        ben.receives_voices(1, packets=150)
        ann.control("record")
        ann.gone("#call-recording:not([hidden])")
        eventually(ended)
    together([ann, ben], Person.hang_up)
    together([ann, ben], Person.leave_call_screen)
    return call, found


def reads(person, language, page="en"):
    """They read one language, and their page is in one."""
    API(person).ask("PATCH", "/v1/me", {"languages": [language]})
    person.driver.execute_script("switchboard.preferences.set('language', arguments[0])", page)
    person.driver.refresh()
    person.browser.wait("the language", lambda: person.driver.execute_script(ROOT)[0] == page)
    person.is_online()
    languages = "return globalThis.switchboard.credentials.user.languages.join()"
    person.browser.wait("the profile", lambda: person.driver.execute_script(languages) == language)


def open_recordings(person):
    person.go("history")
    person.click("#history [data-action=recordings]")
    person.browser.wait("the transcripts", lambda: len(person.all("#recordings .said[data-status=complete]")) == 2)


def of(recording, selector=TRANSLATE):
    return f'#recordings [data-recording="{recording}"] {selector}'


# Responses with translations so far.
PAGES = "return performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/translations')).length"


def has_lines(person, recording, texts, translations):
    wanted = [list(one) for one in zip(texts, translations)]
    person.browser.wait("the lines", lambda: person.driver.execute_script(LINES, recording) == wanted)


def is_translating(person, recording):
    person.says(of(recording, ".said [role=status]"), "Translating…")


def has_ended(person, recording):
    person.gone(of(recording, ".said [role=status]"))


def test_it_is_turned_on_and_off_while_it_is_translated(stage, translator):
    ann, number = stage.ann, stage.long
    reads(ann, "es")
    open_recordings(ann)
    translator.responds.clear()
    ann.click(of(number))
    ann.browser.wait("the request", lambda: len(translator.received) == 1)
    # Nothing has failed so far.
    is_translating(ann, number)
    assert not ann.all(of(number, RETRY))
    # Off: what is asked for comes to its end, and nothing more is asked for or shown.
    ann.click(of(number))
    assert ann.attribute(of(number), "aria-pressed") == "false"
    has_ended(ann, number)
    translator.responds.set()
    ann.browser.wait("the end of the page", lambda: ann.driver.execute_script(PAGES) == 1)
    has_lines(ann, number, SAID, [None] * 60)
    assert len(translator.received) == 1
    # On again: what is there is shown at once, and the rest is asked for alone.
    translator.responds.clear()
    ann.click(of(number))
    has_lines(ann, number, SAID, [*map(spanish, SAID[:20]), *[None] * 40])
    # Off and on while it waits asks for nothing twice.
    ann.browser.wait("the request", lambda: len(translator.received) == 2)
    ann.click(of(number))
    has_lines(ann, number, SAID, [None] * 60)
    ann.click(of(number))
    translator.responds.set()
    has_lines(ann, number, SAID, map(spanish, SAID))
    has_ended(ann, number)
    assert len(translator.received) == 3 and not ann.all(of(number, RETRY))
    # The other recording stays as it is, and has texts of its own.
    has_lines(ann, stage.short, SHORT, [None] * 2)
    ann.click(of(stage.short))
    has_lines(ann, stage.short, SHORT, map(spanish, SHORT))
    has_lines(ann, number, SAID, map(spanish, SAID))


def test_it_takes_as_long_as_it_takes(stage, translator):
    """No page is asked for again, and paid for again, while it is waited for."""
    ann, number = stage.ann, stage.long
    reads(ann, "es")
    open_recordings(ann)
    translator.responds.clear()
    ann.driver.execute_script(HURRY)
    ann.click(of(number))
    ann.browser.wait("the request", lambda: len(translator.received) == 1)
    for _ in range(3):
        ann.driver.execute_async_script("setTimeout(arguments[0], 20_000)")
    translator.responds.set()
    has_lines(ann, number, SAID, map(spanish, SAID))
    assert len(translator.received) == 3 and not ann.all(".toast")


def test_what_failed_is_tried_again_alone(stage, translator, pictures):
    ann, number = stage.ann, stage.long
    reads(ann, "es")
    open_recordings(ann)

    def fails_in_the_middle(texts):
        return (500, {}, b"{}") if SAID[25] in texts.values() else honest(texts)

    translator.script = fails_in_the_middle
    ann.click(of(number))
    failed = "The translator did not respond."
    # It is said once.
    made = [*map(spanish, SAID[:20]), failed, *[None] * 19, *map(spanish, SAID[40:])]
    has_lines(ann, number, SAID, made)
    ann.find(of(number, RETRY))
    pictures(ann.browser, "recording-transcript-partly-translated")
    accessible(ann, "a transcript that is translated in part")
    # By a key. While it is tried nobody can try it once more, and the focus stays in the transcript.
    translator.script = honest
    translator.responds.clear()
    translator.received.clear()
    ann.find(of(number, RETRY)).send_keys(Keys.ENTER)
    ann.browser.wait("the request", lambda: len(translator.received) == 1)
    is_translating(ann, number)
    assert not ann.all(of(number, RETRY))
    assert ann.driver.execute_script(FOCUS) != "body"
    translator.responds.set()
    has_lines(ann, number, SAID, map(spanish, SAID))
    assert not ann.all(of(number, RETRY))
    given = {text for one in translator.prompts for text in one["texts"].values()}
    assert set(SAID[20:40]) <= given and not given & set(SAID[:20])


def test_pages_that_are_there_are_not_asked_for_again(stage, translator):
    ann, number = stage.ann, stage.long
    reads(ann, "es")
    open_recordings(ann)

    def fails_at_the_start(texts):
        return (500, {}, b"{}") if SAID[0] in texts.values() else honest(texts)

    translator.script = fails_at_the_start
    ann.click(of(number))
    ann.find(of(number, RETRY))
    has_ended(ann, number)
    translator.script = honest
    translator.received.clear()
    ann.click(of(number, RETRY))
    has_lines(ann, number, SAID, map(spanish, SAID))
    has_ended(ann, number)
    given = {text for one in translator.prompts for text in one["texts"].values()}
    assert set(SAID[:20]) == given


def test_a_connection_that_was_lost_meanwhile(stage, translator):
    ann, number = stage.ann, stage.long
    reads(ann, "es")
    open_recordings(ann)
    translator.responds.clear()
    ann.click(of(number))
    ann.browser.wait("the request", lambda: len(translator.received) == 1)
    stage.proxy.cut()
    ann.find("#offline")
    stage.proxy.restore()
    ann.is_online()
    translator.responds.set()
    has_ended(ann, number)
    # The page asks for it once it is told to.
    ann.click(of(number, RETRY))
    has_lines(ann, number, SAID, map(spanish, SAID))
    has_ended(ann, number)


def test_it_goes_on_when_the_transcript_is_loaded_again(stage, translator):
    """As when somebody has what failed transcribed once more."""
    ann, number = stage.ann, stage.long
    reads(ann, "es")
    open_recordings(ann)
    translator.responds.clear()
    ann.click(of(number))
    ann.browser.wait("the request", lambda: len(translator.received) == 1)
    ann.driver.execute_async_script(LOAD_AGAIN, number)
    translator.responds.set()
    has_lines(ann, number, SAID, map(spanish, SAID))
    assert len(translator.received) == 3


@pytest.mark.parametrize("language", ["en", "pt"])
def test_what_is_in_the_language_already(stage, language):
    ann = stage.ann
    foreign, known = (stage.short, stage.long) if language == "en" else (stage.long, stage.short)
    reads(ann, language)
    open_recordings(ann)
    ann.find(of(foreign))
    assert not ann.all(of(known))


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_for_who_reads_from_right_to_left(stage, translator, size, pictures):
    ann, number = stage.ann, stage.long
    reads(ann, "ar", page="ar")
    assert ann.driver.execute_script(ROOT) == ["ar", "rtl"]

    def arabic(text):
        return f"يغادر القطار إلى المطار من الرصيف {text.split()[-3]} في الساعة التاسعة."

    def in_arabic(texts):
        return 200, {}, completion(json.dumps({key: arabic(one) for key, one in texts.items()}))

    translator.script = in_arabic
    ann.browser.resize(size)
    open_recordings(ann)
    # By keys.
    ann.driver.execute_script("document.querySelector(arguments[0]).focus()", of(number))
    ann.press(Keys.SPACE)
    has_lines(ann, number, SAID, map(arabic, SAID))
    has_ended(ann, number)
    assert ann.driver.execute_script(FOCUS) == "translate-transcript"
    assert ann.driver.execute_script(DIRECTIONS) == [["en", "ltr"], ["ar", "rtl"]]
    ann.says(of(number, ".said > .hint"), "الإنجليزية")
    assert ann.driver.execute_script(OVERFLOW) <= 0
    accessible(ann, "a transcript in Arabic")
    pictures(ann.browser, f"recording-transcript-arabic-{size[0]}")
    ann.browser.resize(DESK)


def test_what_may_be_translated_is_used_up(stage, translator, pictures):
    ben, number = stage.ben, stage.long
    reads(ben, "es")
    own, path = API(ben), f"/v1/recordings/{number}/transcript/translations"

    def is_used_up():
        rows = own.ask("POST", path, {"language": "es"})["translations"]
        return {one.get("reason") for one in rows} == {"budget_exhausted"}

    eventually(is_used_up)
    translator.received.clear()
    open_recordings(ben)
    ben.click(of(number))
    has_lines(ben, number, SAID, ["What may be translated today is used up.", *[None] * 59])
    has_ended(ben, number)
    pictures(ben.browser, "recording-transcript-used-up")
    # It may be tried again, which brings the same now.
    ben.click(of(number, RETRY))
    has_ended(ben, number)
    ben.find(of(number, RETRY))
    assert translator.received == []


def test_a_recording_that_is_deleted_meanwhile(stage, translator):
    ann, ben = stage.ann, stage.ben
    for person in (ann, ben):
        reads(person, "es")
        open_recordings(person)
    translator.responds.clear()
    ann.click(of(stage.short))
    ann.browser.wait("the request", lambda: len(translator.received) == 1)
    API(ann).ask("DELETE", f"/v1/recordings/{stage.short}")
    for person in (ann, ben):
        person.gone(f'#recordings [data-recording="{stage.short}"]')
    translator.responds.set()
    # The other one is translated as if nothing had been.
    ann.click(of(stage.long))
    has_lines(ann, stage.long, SAID, map(spanish, SAID))
    assert not ann.all(".toast")
