"""Voice messages: what Ben says into his microphone, or has in a file, Ann sees arrive and hears."""

import io
import pathlib
import subprocess

import av
import numpy
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from audio_files import encode, opusinfo, tone

from browser import DESK, PHONE, Browser
from firefox import firefox
from pages import Person

WORDS = "one two three four five"

# What a voice message's player does; the page keeps it to itself, so that its element is caught where it is made.
CATCH_SOUND = """
const Native = window.Audio;
window.sounds = [];
window.Audio = class extends Native {
    constructor(...options) {
        super(...options);
        window.sounds.push(this);
    }
};
"""
PLAYED = "return window.sounds.map((one) => ({time: one.currentTime, paused: one.paused, length: one.duration}));"
WIDTH = "return document.documentElement.scrollWidth;"


@pytest.fixture(scope="module")
def spoken(tmp_path_factory):
    """A file of what a person says, as the microphone of a browser plays it over and over."""
    file = tmp_path_factory.mktemp("speech") / "words.wav"
    subprocess.run(["flite", "-voice", "slt", "-t", WORDS, "-o", file], check=True)
    return file


@pytest.fixture(scope="module")
def speaker(spoken, tmp_path_factory):
    """A browser whose microphone speaks."""
    one = Browser("speaker", tmp_path_factory.mktemp("speaker"), [f"--use-file-for-fake-audio-capture={spoken}"])
    yield one
    one.quit()


@pytest.fixture
def ben(speaker, url):
    yield Person(speaker, url, "Ben Brook").sign_up()
    speaker.driver.get("about:blank")


@pytest.fixture
def ann(browsers, url):
    """Ann hears; Ben has another browser here than elsewhere."""
    browsers[0].keep_one_tab()
    yield Person(browsers[0], url, "Ann Abel").sign_up()
    browsers[0].driver.get("about:blank")


def visit(person, other):
    person.look_for(other)
    person.click("#people [data-action=person]")
    person.click("#person [data-action=voice]")
    person.find("main[data-page=person]")
    person.says("h1", other.name)


def messages(person, count):
    return person.browser.wait(
        f"{count} voice messages", lambda: (found := person.all("#voice-messages .voice")) and len(found) == count and found
    )


def record(person, until="0:04"):
    person.click("[data-action=record]")
    person.find("#voice-composer[data-state=recording]")
    person.browser.wait("the time to run", lambda: person.text("#voice-composer .clock") >= until, 30)


def understood(file):
    """The words in a file, for one who hears only English numbers."""
    with av.open(io.BytesIO(file)) as container:
        resampler = av.AudioResampler(format="s16", layout="mono", rate=16_000)
        parts = [part.to_ndarray()[0] for frame in container.decode(audio=0) for part in resampler.resample(frame)]
    sound = numpy.concatenate([numpy.zeros(8_000, numpy.int16), *parts, numpy.zeros(8_000, numpy.int16)])
    done = subprocess.run(
        ["pocketsphinx_continuous", "-infile", "/dev/stdin", "-logfn", "/dev/null"],
        input=sound.tobytes(), capture_output=True, timeout=60, check=True,
    )
    return done.stdout.decode().split()


def without(person, name):
    """The browser has no such thing from now on, until the page is loaded again."""
    person.driver.execute_script("delete window[arguments[0]]; if (window[arguments[0]]) throw new Error('it is still there');", name)


def test_what_is_said_is_heard(ann, ben, server, pictures):
    """What Ben says is on the server while he says it: his browser can record nothing itself."""
    visit(ann, ben)
    without(ben, "MediaRecorder")
    visit(ben, ann)
    ann.driver.execute_script(CATCH_SOUND)
    ann.find("main .empty")
    record(ben)
    pictures(ben.browser, "voice-recording")
    ben.click("[data-action=send-voice]")
    [mine] = messages(ben, 1)
    assert mine.get_attribute("data-own") == "true"

    # It arrives by itself, with its shape.
    [theirs] = messages(ann, 1)
    assert theirs.get_attribute("data-own") == "false"
    slider = theirs.find_element(By.CSS_SELECTOR, "[role=slider]")
    assert "Ben" in slider.get_attribute("aria-label")
    assert float(slider.get_attribute("aria-valuemax")) >= 3.5
    heights = [float(bar.get_attribute("height")) for bar in slider.find_elements(By.TAG_NAME, "rect")]
    assert len(heights) == 100 and max(heights) > 15 and min(heights) < max(heights) / 2, heights
    assert not theirs.find_elements(By.CSS_SELECTOR, "[data-action=delete-voice]")
    # Of all that was ever sent or recorded here it is the last.
    path = max((pathlib.Path(server.directory) / "data/media").iterdir())
    file = path.read_bytes()
    opusinfo(file)
    heard = understood(file)
    assert len(set(WORDS.split()) & set(heard)) >= 3, heard

    # And it is written down, on both pages.
    for one in (ann, ben):
        words = one.browser.wait(
            "the words", lambda: (found := one.all(".transcript[data-status=complete] p")) and found[0].text.split(), 60
        )
        assert len(set(WORDS.split()) & set(words)) >= 3, words
    pictures(ann.browser, "voice-transcript")

    ann.click("#voice-messages [data-action=play]")
    ann.browser.wait("the sound to move", lambda: (found := ann.driver.execute_script(PLAYED)) and found[0]["time"] > 0.5)
    ann.find("#voice-messages .voice[data-state=playing]")
    assert ann.all(".waveform .played") and "Pause" in ann.find("[data-action=play]").get_attribute("aria-label")
    assert float(slider.get_attribute("aria-valuenow")) > 0.4
    pictures(ann.browser, "voice-playing")
    ann.click("#voice-messages [data-action=play]")
    ann.find("#voice-messages .voice[data-state=paused]")
    # By keys, and by a click in the middle.
    slider.send_keys(Keys.HOME)
    ann.browser.wait("the beginning", lambda: ann.driver.execute_script(PLAYED)[0]["time"] == 0)
    slider.send_keys(Keys.ARROW_RIGHT)
    ann.browser.wait("a second", lambda: slider.get_attribute("aria-valuenow") == "1.0")
    slider.click()
    length = float(slider.get_attribute("aria-valuemax"))
    ann.browser.wait("the middle", lambda: abs(float(slider.get_attribute("aria-valuenow")) - length / 2) < 0.2)
    ann.click("#voice-messages [data-action=play]")
    ann.browser.wait("the end", lambda: ann.all("#voice-messages .voice[data-state=paused]"), 20)
    [sound] = ann.driver.execute_script(PLAYED)
    assert sound["paused"] and abs(sound["time"] - length) < 0.3 and abs(sound["length"] - length) < 0.1

    # A reload finds it again, and who sent it takes it back for both.
    ann.driver.refresh()
    messages(ann, 1)
    ben.click("[data-action=delete-voice]")
    ben.click("#ask [data-choice=delete]")
    for person in (ann, ben):
        person.browser.wait("the message to go", lambda: not person.all("#voice-messages .voice"))
        person.find("main .empty")


def test_where_there_is_no_way_to_say_it_a_file_is_sent(ann, ben, server):
    visit(ann, ben)
    without(ben, "RTCPeerConnection")
    visit(ben, ann)
    record(ben, "0:02")
    ben.click("[data-action=send-voice]")
    messages(ben, 1)
    [theirs] = messages(ann, 1)
    assert float(theirs.find_element(By.CSS_SELECTOR, "[role=slider]").get_attribute("aria-valuemax")) >= 1.5
    file = max((pathlib.Path(server.directory) / "data/media").iterdir()).read_bytes()
    # Chromium's recorder says that nothing is to be skipped.
    assert "Implausibly low preskip" in opusinfo(file, known="Implausibly low preskip")


def test_a_recording_may_be_cancelled(ann, ben, server):
    visit(ben, ann)
    there = lambda: {path.name for path in (pathlib.Path(server.directory) / "data/media").iterdir()}
    before = there()
    record(ben, "0:02")
    ben.browser.wait("the recording's file", lambda: len(there() - before) == 1)
    ben.click("[data-action=cancel-voice]")
    ben.find("#voice-composer[data-state=waiting]")
    ben.find("main .empty")
    # Nothing is left of it on the server.
    ben.browser.wait("the file to go", lambda: there() == before)
    ben.click("[data-action=record]")
    ben.find("#voice-composer[data-state=recording]")
    ben.click("[data-action=cancel-voice]")
    assert not ben.all("#voice-messages .voice")


def test_a_file_is_sent_and_who_is_elsewhere_is_told(ann, ben, tmp_path, pictures):
    file, text = tmp_path / "sound.ogg", tmp_path / "words.ogg"
    file.write_bytes(encode(tone(75)))
    text.write_text("These are words.")
    visit(ben, ann)
    ben.driver.find_element(By.ID, "voice-file").send_keys(str(text))
    ben.says(".toast.error", "neither an Ogg nor a WebM")
    ben.driver.find_element(By.ID, "voice-file").send_keys(str(file))
    messages(ben, 1)
    ben.says("#voice-messages .clock", "1:15")
    ann.says("#new-voice", "Ben Brook sent you a voice message")
    pictures(ann.browser, "voice-arrived")
    ann.click("#new-voice [data-action=listen]")
    messages(ann, 1)
    ann.gone("#new-voice")
    # Whom Ann has blocked cannot tell, and she hears nothing of it.
    ann.driver.execute_async_script(
        "import('/scripts/requests.js').then(({ request }) => request('blocks.add', { user: arguments[0] })).then(arguments[1])",
        ben.user,
    )
    ben.driver.find_element(By.ID, "voice-file").send_keys(str(file))
    messages(ben, 2)
    messages(ann, 1)


@pytest.mark.parametrize("look", ["phone", "narrow", "dark"])
def test_it_fits(ann, ben, tmp_path, pictures, look):
    for person in (ann, ben):
        person.browser.resize({"phone": PHONE, "narrow": (360, 740)}.get(look, DESK))
        person.browser.set_dark(look == "dark")
    try:
        visit(ann, ben)
        visit(ben, ann)
        for count, (sender, seconds) in enumerate(((ben, 4), (ann, 130), (ben, 0.6)), start=1):
            file = tmp_path / f"{seconds}.webm"
            file.write_bytes(encode(tone(seconds), "webm"))
            sender.driver.find_element(By.ID, "voice-file").send_keys(str(file))
            messages(ben, count)
        messages(ann, 3)
        record(ben, "0:01")
        pictures(ann.browser, f"{look}-voice")
        pictures(ben.browser, f"{look}-voice-recording")
        for person in (ann, ben):
            width = person.driver.execute_script("return innerWidth")
            assert person.driver.execute_script(WIDTH) <= width
        small = ann.driver.execute_script(
            "return [...document.querySelectorAll('main button, main [role=slider], main a')].filter((one) => one.offsetParent"
            " ?? one.clientWidth).map((one) => one.getBoundingClientRect()).filter(({ width, height }) => width && (width < 43 || height < 43)).length"
        )
        assert small == 0, "what is touched is large enough"
        ben.click("[data-action=cancel-voice]")
    finally:
        for person in (ann, ben):
            person.browser.resize(DESK)
            person.browser.set_dark(False)


def test_firefox_sends_and_hears(ann, url, tmp_path):
    if not pathlib.Path("/usr/bin/firefox-esr").exists():
        pytest.skip("firefox-esr is not installed")
    with firefox(tmp_path) as browser:
        ben = Person(browser, url, "Ben Brook").sign_up()
        visit(ann, ben)
        visit(ben, ann)
        record(ben, "0:02")
        ben.click("[data-action=send-voice]")
        for person in (ann, ben):
            messages(person, 1)
            person.click("#voice-messages [data-action=play]")
            person.browser.wait(
                "the sound to move",
                lambda: float(person.find("#voice-messages [role=slider]").get_attribute("aria-valuenow")) > 0.5,
            )
