"""Recorded group calls: everybody sees that, and anybody may stop it."""

import pytest
from switchboard_tests.browsers.browser import DESK, PHONE
from switchboard_tests.browsers.chats import API
from switchboard_tests.browsers.pages import (
    WORDS,
    connect,
    connect_group,
    everybody_receives_media,
    only_the_second_speaks,
)

pytestmark = pytest.mark.alone


def manifest(person, call):
    """The only recording of a call, as the page's user gets it."""
    script = """
    const [call, done] = arguments;
    globalThis.switchboard.request("calls.recordings", { call }).then(({ recordings }) => done(recordings));
    """
    [recording] = person.driver.execute_async_script(script, call)
    return recording


def test_everybody_is_shown_that_a_call_is_recorded(crowd, pictures):
    people = ann, ben, cem = crowd(3)
    connect_group(*people)
    everybody_receives_media(people)
    ben.control("record")
    ben.says("#call-recording", "You are recording this call")
    for one in (ann, cem):
        one.says("#call-recording", "Ben Brook is recording this call")
    call = ann.attribute("#call", "data-call")
    # Three seconds.
    cem.receives_voices(2, packets=150)
    assert manifest(ann, call)["status"] == "ongoing"
    # It is also shown after a reload.
    cem.driver.refresh()
    cem.says("#call-recording", "Ben Brook is recording this call", limit=60)
    assert ann.attribute("[data-action=record]", "aria-label") == "Stop recording"
    ann.control("record")
    for one in people:
        one.gone("#call-recording:not([hidden])")
    ann.browser.wait("the files", lambda: manifest(ann, call)["status"] == "complete")
    tracks = manifest(cem, call)["tracks"]
    assert {track["user"] for track in tracks} == {one.user for one in people}
    # The page can play a track.
    played = ann.driver.execute_async_script(
        """
        const [url, done] = arguments;
        const audio = new Audio(url);
        audio.muted = true;
        audio.onloadedmetadata = () => done(audio.duration);
        audio.onerror = () => done(audio.error.message);
        """,
        tracks[0]["audio"]["url"],
    )
    assert abs(played - tracks[0]["durationMs"] / 1000) < 0.1
    assert tracks[0]["durationMs"] > 2_500

    # Afterwards it is listed with the call.
    for one in people:
        one.hang_up()
    ben.leave_call_screen()
    ben.go("history")
    ben.click("#history [data-action=recordings]")
    ben.browser.wait("the tracks", lambda: len(ben.all("#recordings .track")) == len(tracks))
    pictures(ben.browser, "recordings")
    assert {track.get_attribute("data-user") for track in ben.all("#recordings .track")} == {one.user for one in people}
    # One requests a mix, and the other's page shows it too.
    ann.leave_call_screen()
    ann.go("history")
    ann.click("#history [data-action=recordings]")
    ann.says("#recordings [data-action=mix]", "Mix everyone into one file")
    ben.click("#recordings [data-action=mix]")
    for one in (ann, ben):
        one.find("#recordings .mix[data-status=complete] audio", limit=60)
    pictures(ben.browser, "recording-mix")
    length = ann.driver.execute_async_script(
        """
        const done = arguments[0];
        const audio = document.querySelector("#recordings .mix audio");
        audio.muted = true;
        audio.onloadedmetadata = () => done(audio.duration);
        audio.onerror = () => done(audio.error.message);
        audio.preload = "metadata";
        """
    )
    assert abs(length - max(track["offsetMs"] + track["durationMs"] for track in tracks) / 1000) < 0.1


PLAYED = (
    "return [...document.querySelectorAll('#recordings audio')]"
    ".map((one) => ({time: one.currentTime, paused: one.paused}));"
)


def test_a_transcript_has_its_speakers(three, listener, pictures):
    ann, ben, cem = three
    _, broken = listener
    only_the_second_speaks(three)
    ann.control("record")
    for other in (ben, cem):
        other.says("#call-recording", "Ann Abel is recording this call")
    # Three seconds of speech.
    cem.receives_voices(1, packets=150)
    ann.control("record")
    for person in three:
        person.gone("#call-recording:not([hidden])")
        person.hang_up()
        person.leave_call_screen()
        person.go("history")
        person.click("#history [data-action=recordings]")
    assert not ben.all("[data-action=delete-recording]"), "it is not his"

    # One requests the transcript, and all of their pages show its progress.
    broken.touch()
    cem.click("#recordings [data-action=transcribe]")
    for person in three:
        person.says("#recordings .said[data-status=failed]", "There is no transcript.", limit=60)
    pictures(ben.browser, "recording-transcript-failed")
    broken.unlink()
    ben.says("#recordings [data-action=transcribe]", "Try again")
    ben.click("#recordings [data-action=transcribe]")
    for person in three:
        person.find("#recordings .said[data-status=complete] .line")
    lines = ann.all("#recordings .line")
    assert {line.get_attribute("data-user") for line in lines} == {ben.user}, "the others were muted"
    assert all("Ben Brook: " in line.text for line in lines)
    words = " ".join(line.text.split(": ", 1)[1] for line in lines).split()
    assert len(set(WORDS.split()) & set(words)) >= 3, words
    pictures(ann.browser, "recording-transcript")

    # A click on a line plays from there.
    begin = int(lines[0].get_attribute("data-start")) / 1000
    lines[0].click()
    played = ann.browser.wait(
        "playback to progress",
        lambda: [one for one in ann.driver.execute_script(PLAYED) if not one["paused"] and one["time"] > 0.3],
    )
    assert len(played) == 1 and begin - 0.7 < played[0]["time"] < begin + 4, (played, begin)
    for format in ("text", "srt", "vtt"):
        ann.driver.execute_script("document.getElementById('announcer').textContent = ''")
        ann.click(f"#recordings [data-format={format}]")
        announced = "return document.getElementById('announcer').textContent"
        ann.browser.wait("the file", lambda: ann.driver.execute_script(announced) == "Saved")
    for look in ("phone", "dark"):
        ann.browser.resize(PHONE if look == "phone" else DESK)
        ann.browser.set_dark(look == "dark")
        pictures(ann.browser, f"{look}-recording-transcript")
        width = ann.driver.execute_script("return document.querySelector('#recordings').scrollWidth")
        assert width <= ann.driver.execute_script("return innerWidth")
    ann.browser.resize(DESK)
    ann.browser.set_dark(False)

    # Who reads another language reads it in that, too. Ann reads what was said.
    assert not ann.all("#recordings [data-action=translate-transcript]")
    API(cem).ask("PATCH", "/v1/me", {"languages": ["pt-BR"]})
    cem.driver.refresh()
    cem.go("history")
    cem.click("#history [data-action=recordings]")
    translate = "#recordings [data-action=translate-transcript]"
    assert cem.find(translate).get_attribute("aria-pressed") == "false"
    cem.click(translate)
    translated = cem.browser.wait(
        "the translations",
        lambda: len(found := cem.all("#recordings .line-translation[lang='pt-BR']")) == len(lines) and found, 60,
    )
    said = {line.text.split(": ", 1)[1] for line in cem.all("#recordings .line")}
    assert not said & {one.text for one in translated} and all(one.text for one in translated)
    cem.gone("#recordings .said [role=status]")
    assert not cem.all("#recordings [data-action=retry-translation]")
    cem.says("#recordings .said > .hint", "Translated from English · python3")
    for look in ("phone", "desk"):
        cem.browser.resize(PHONE if look == "phone" else DESK)
        pictures(cem.browser, f"{look}-recording-transcript-translated")
    cem.click(translate)
    cem.gone("#recordings .line-translation")

    # Who started the recording deletes it for all of them.
    ann.click("#recordings [data-action=delete-recording]")
    pictures(ann.browser, "recording-delete")
    ann.click("#ask [data-choice=delete]")
    for person in three:
        person.says("#recordings", "No recordings left.")
    ben.driver.refresh()
    ben.go("history")
    ben.click("#history [data-action=recordings]")
    ben.says("#recordings", "No recordings left.")


def test_a_direct_call_cannot_be_recorded(ann, ben):
    connect(ann, ben)
    assert not ann.all("[data-action=record]:not([hidden])")
    ann.hang_up()
