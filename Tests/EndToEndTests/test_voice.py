"""Voice messages in a thread: Ben records one or uploads a file, and Ann receives and plays it."""

import io
import pathlib
import subprocess
import uuid

import av
import numpy
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from switchboard_tests.audio_files import encode, opusinfo, tone
from switchboard_tests.browsers import audit
from switchboard_tests.browsers.browser import DESK, PHONE
from switchboard_tests.browsers.firefox import firefox
from switchboard_tests.browsers.pages import WORDS, Person

# Captures a voice message's audio element where it is created, since the page does not expose its player.
CAPTURE_AUDIO = """
const Native = window.Audio;
window.players = [];
window.Audio = class extends Native {
    constructor(...options) {
        super(...options);
        window.players.push(this);
    }
};
"""
PLAYED = """
return window.players.map(({ currentTime: time, paused, duration: length, playbackRate: speed }) =>
    ({ time, paused, length, speed }));
"""
WIDTH = "return document.documentElement.scrollWidth;"


@pytest.fixture
def ben(speaker, url):
    yield Person(speaker, url, "Ben Brook").sign_up()
    speaker.driver.get("about:blank")


@pytest.fixture
def ann(browsers, url):
    """Ann receives; Ben uses the speaker's browser here."""
    browsers[0].keep_one_tab()
    yield Person(browsers[0], url, "Ann Abel").sign_up()
    browsers[0].driver.get("about:blank")


REQUEST = """
const [name, params, done] = arguments;
globalThis.switchboard.request(name, params).then(done, (error) => done({ error: String(error) }));
"""


def ask(person, name, **params):
    return person.driver.execute_async_script(REQUEST, name, params)


def open_messages(person, other):
    """Opens the thread of the two, who have accepted."""
    made = person.post(
        "/v1/conversations", {"clientID": str(uuid.uuid4()), "kind": "direct", "members": [other.user]})
    id = made["conversation"]["id"]
    for one in (person, other):
        one.post(f"/v1/conversations/{id}/members/me/accept")
    person.driver.execute_script("location.hash = '#/c/' + arguments[0]", id)
    person.find("main[data-page=c]")
    person.says("h1", other.name)
    person.find("#write")


def messages(person, count):
    return person.browser.wait(
        f"{count} voice messages",
        lambda: (found := person.all("#messages .message:has(.voice)")) and len(found) == count and found,
    )


def record(person, until="0:04"):
    person.click("[data-action=record]")
    person.find("#voice-composer[data-state=recording]")
    person.browser.wait("the time to run", lambda: person.text("#voice-composer .clock") >= until)


def recognized_words(file):
    """The words in a file that Pocketsphinx recognizes: English numbers."""
    with av.open(io.BytesIO(file)) as container:
        resampler = av.AudioResampler(format="s16", layout="mono", rate=16_000)
        parts = [part.to_ndarray()[0] for frame in container.decode(audio=0) for part in resampler.resample(frame)]
    samples = numpy.concatenate([numpy.zeros(8_000, numpy.int16), *parts, numpy.zeros(8_000, numpy.int16)])
    done = subprocess.run(
        ["pocketsphinx_continuous", "-infile", "/dev/stdin", "-logfn", "/dev/null"],
        input=samples.tobytes(), capture_output=True, timeout=60, check=True,
    )
    return done.stdout.decode().split()


def remove_api(person, name):
    """Removes a browser API until the page is reloaded."""
    person.driver.execute_script(
        "delete window[arguments[0]]; if (window[arguments[0]]) throw new Error('it is still there');", name
    )


def test_a_recorded_message_is_received_and_played(ann, ben, server, pictures):
    """The message is recorded on the server: Ben's browser has no MediaRecorder."""
    open_messages(ann, ben)
    remove_api(ben, "MediaRecorder")
    open_messages(ben, ann)
    ann.driver.execute_script(CAPTURE_AUDIO)
    record(ben)
    ann.says("#typing", "Ben Brook is recording")
    pictures(ben.browser, "voice-recording")
    ben.click("[data-action=send-voice]")
    # It is drawn anew when it is transcribed.
    ben.find("#messages .message.own:has(.voice)")
    messages(ben, 1)

    # It arrives without a reload, with its waveform.
    [theirs] = messages(ann, 1)
    assert theirs.find_elements(By.CSS_SELECTOR, "[data-listened=false]")
    slider = theirs.find_element(By.CSS_SELECTOR, "[role=slider]")
    assert "Ben" in slider.get_attribute("aria-label")
    assert float(slider.get_attribute("aria-valuemax")) >= 3.5
    heights = [float(bar.get_attribute("height")) for bar in slider.find_elements(By.TAG_NAME, "rect")]
    assert len(heights) == 100 and max(heights) > 15 and min(heights) < max(heights) / 2, heights
    # Its file is the newest.
    path = max((pathlib.Path(server.directory) / "data/media").iterdir())
    file = path.read_bytes()
    opusinfo(file)
    recognized = recognized_words(file)
    assert len(set(WORDS.split()) & set(recognized)) >= 3, recognized

    # Both pages show its transcript.
    for one in (ann, ben):
        words = one.browser.wait(
            "the words", lambda: (found := one.all(".transcript[data-status=complete] p")) and found[0].text.split(), 60
        )
        assert len(set(WORDS.split()) & set(words)) >= 3, words
    pictures(ann.browser, "voice-transcript")

    ann.click("#messages [data-action=play]")
    ann.browser.wait(
        "playback to progress", lambda: (found := ann.driver.execute_script(PLAYED)) and found[0]["time"] > 0.5
    )
    ann.find("#messages .voice[data-state=playing]")
    assert ann.all(".waveform .played") and "Pause" in ann.attribute("[data-action=play]", "aria-label")
    assert float(slider.get_attribute("aria-valuenow")) > 0.4
    pictures(ann.browser, "voice-playing")
    ann.click("#messages [data-action=play]")
    ann.find("#messages .voice[data-state=paused][data-listened=true]")
    # Faster, which is kept for all messages.
    assert ann.text("[data-action=voice-speed]") == "1×"
    for want in ("1.5×", "2×"):
        ann.click("[data-action=voice-speed]")
        ann.says("[data-action=voice-speed]", want)
    assert ann.attribute("[data-action=voice-speed]", "aria-label") == "Speed: 2×"
    assert ann.driver.execute_script(PLAYED)[0]["speed"] == 2
    # By keys, and by a click in the middle.
    slider.send_keys(Keys.HOME)
    ann.browser.wait("the beginning", lambda: ann.driver.execute_script(PLAYED)[0]["time"] == 0)
    slider.send_keys(Keys.ARROW_RIGHT)
    ann.browser.wait("a second", lambda: slider.get_attribute("aria-valuenow") == "1.0")
    slider.click()
    length = float(slider.get_attribute("aria-valuemax"))
    ann.browser.wait("the middle", lambda: abs(float(slider.get_attribute("aria-valuenow")) - length / 2) < 0.2)
    ann.click("#messages [data-action=play]")
    # It is paused until the audio has begun.
    ann.find("#messages .voice[data-state=playing]")
    ann.browser.wait("the end", lambda: ann.all("#messages .voice[data-state=paused]"))
    [player] = ann.driver.execute_script(PLAYED)
    assert player["paused"] and abs(player["time"] - length) < 0.3 and abs(player["length"] - length) < 0.1

    # It is still there after a reload, listened to, and its sender deletes it for both.
    ann.driver.refresh()
    messages(ann, 1)
    ann.find("#messages .voice[data-listened=true]")
    ben.click("#message-1 [data-action=message-menu]")
    assert not ben.all("#message-menu [data-action=edit]")
    ben.click("#message-menu [data-action=delete-all]")
    ben.click("#ask [data-choice=delete]")
    for person in (ann, ben):
        person.browser.wait("the message to go", lambda: not person.all("#messages .voice"))
        person.says("#message-1", "Message deleted")


def test_without_webrtc_a_recorded_file_is_uploaded(ann, ben, server):
    open_messages(ann, ben)
    remove_api(ben, "RTCPeerConnection")
    open_messages(ben, ann)
    record(ben, "0:02")
    ben.click("[data-action=send-voice]")
    messages(ben, 1)
    [theirs] = messages(ann, 1)
    assert float(theirs.find_element(By.CSS_SELECTOR, "[role=slider]").get_attribute("aria-valuemax")) >= 1.5
    file = max((pathlib.Path(server.directory) / "data/media").iterdir()).read_bytes()
    # Chromium's recorder writes a pre-skip of zero.
    assert "Implausibly low preskip" in opusinfo(file, known="Implausibly low preskip")


@pytest.mark.parametrize("missing", ["MediaRecorder", "RTCPeerConnection"])
def test_what_is_said_is_written_down_instead(ann, ben, server, missing, pictures):
    """Recorded on the server and in the browser: neither keeps it."""
    ben.driver.refresh()
    open_messages(ben, ann)
    remove_api(ben, missing)
    there = lambda: {path.name for path in (pathlib.Path(server.directory) / "data/media").iterdir()}
    before = there()
    record(ben)
    pictures(ben.browser, f"voice-dictation-{missing}")
    ben.click("[data-action=dictate]")
    words = ben.browser.wait(
        "the words", lambda: ben.driver.execute_script("return document.querySelector('#write').value"))
    assert len(set(WORDS.split()) & set(words.split())) >= 3, words
    assert ben.driver.execute_script("return document.activeElement.id") == "write"
    ben.browser.wait("the file to go", lambda: there() == before)
    assert not ben.all("#messages .voice")
    ben.find("#write").clear()


def test_a_recording_may_be_cancelled(ann, ben, server):
    open_messages(ben, ann)
    there = lambda: {path.name for path in (pathlib.Path(server.directory) / "data/media").iterdir()}
    before = there()
    record(ben, "0:02")
    ben.browser.wait("the recording's file", lambda: len(there() - before) == 1)
    ben.click("[data-action=cancel-voice]")
    ben.find("#write")
    # It is deleted on the server.
    ben.browser.wait("the file to go", lambda: there() == before)
    ben.click("[data-action=record]")
    ben.find("#voice-composer[data-state=recording]")
    ben.click("[data-action=cancel-voice]")
    assert not ben.all("#messages .voice")


# The browser gives the microphone when `give()` is called.
HELD_MICROPHONE = """
const native = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
window.given = [];
navigator.mediaDevices.getUserMedia = async (constraints) => {
    await new Promise((resolve) => { window.give = resolve; });
    const stream = await native(constraints);
    window.given.push(...stream.getTracks());
    return stream;
};
"""


def test_no_recording_begins_in_a_chat_that_was_left(ann, ben):
    open_messages(ben, ann)
    ben.driver.execute_script(HELD_MICROPHONE)
    ben.click("[data-action=record]")
    ben.browser.wait("the request", lambda: ben.driver.execute_script("return Boolean(window.give)"))
    ben.go("chats")
    ben.driver.execute_script("window.give()")
    given = "return window.given.map((one) => one.readyState)"
    ben.browser.wait("the microphone to be off", lambda: ben.driver.execute_script(given) == ["ended"])
    assert not ben.is_shown(".toast.error")


def test_a_file_is_uploaded_and_the_recipient_is_notified(ann, ben, tmp_path, pictures):
    file, text = tmp_path / "sound.ogg", tmp_path / "words.ogg"
    file.write_bytes(encode(tone(75)))
    text.write_text("These are words.")
    open_messages(ben, ann)
    ben.driver.find_element(By.ID, "voice-file").send_keys(str(text))
    ben.says(".toast.error", "neither an Ogg nor a WebM")
    ben.driver.find_element(By.ID, "voice-file").send_keys(str(file))
    messages(ben, 1)
    ben.says("#messages .clock", "1:15")
    ann.driver.execute_script("location.hash = '#/chats'")
    ann.says("#inbox .row", "Voice message, 1:15")
    pictures(ann.browser, "voice-arrived")
    ann.click("#inbox .row a")
    messages(ann, 1)
    # A user whom Ann blocked can still send, but she does not receive it.
    ask(ann, "blocks.add", user=ben.user)
    ben.driver.find_element(By.ID, "voice-file").send_keys(str(file))
    messages(ben, 2)
    messages(ann, 1)


@pytest.mark.parametrize("look", ["phone", "narrow", "dark"])
def test_it_fits(ann, ben, tmp_path, pictures, look):
    for person in (ann, ben):
        person.browser.resize({"phone": PHONE, "narrow": (360, 740)}.get(look, DESK))
        person.browser.set_dark(look == "dark")
    try:
        open_messages(ann, ben)
        open_messages(ben, ann)
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
        # As in `looks.faults`.
        least = 24 if look == "dark" else 44
        assert ann.driver.execute_script(audit.SMALL, least) == [], "touch targets are large enough"
        ben.click("[data-action=cancel-voice]")
    finally:
        for person in (ann, ben):
            person.browser.resize(DESK)
            person.browser.set_dark(False)


def test_firefox_sends_and_plays(ann, url, tmp_path):
    if not pathlib.Path("/usr/bin/firefox-esr").exists():
        pytest.skip("firefox-esr is not installed")
    with firefox(tmp_path) as browser:
        ben = Person(browser, url, "Ben Brook").sign_up()
        open_messages(ann, ben)
        open_messages(ben, ann)
        record(ben, "0:02")
        ben.click("[data-action=send-voice]")
        for person in (ann, ben):
            messages(person, 1)
            person.click("#messages [data-action=play]")
            person.browser.wait(
                "playback to progress",
                lambda: float(person.attribute("#messages [role=slider]", "aria-valuenow")) > 0.5,
            )
