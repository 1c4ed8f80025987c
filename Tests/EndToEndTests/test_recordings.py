"""Group calls that are recorded: everybody is shown it, and anybody may end it."""

import pytest
from browser import DESK, PHONE
from pages import Person, connect, everybody_sees_and_hears, meet
from server import Server
from test_group_calls import crowd, four  # noqa: F401 - its people
from test_voice import WORDS, speaker, spoken  # noqa: F401 - a browser that speaks


def manifest(person, call):
    """The only recording of a call, as the page's own user is told of it."""
    script = """
    const [call, done] = arguments;
    import("/scripts/requests.js").then(async ({ request }) => done((await request("calls.recordings", { call })).recordings));
    """
    [recording] = person.driver.execute_async_script(script, call)
    return recording


def test_everybody_is_shown_that_a_call_is_recorded(crowd, pictures):  # noqa: F811
    people = ann, ben, cem = crowd(3)
    meet(*people)
    everybody_sees_and_hears(people)
    ben.control("record")
    ben.says("#call-recording", "You are recording this call")
    for one in (ann, cem):
        one.says("#call-recording", "Ben Brook is recording this call")
    call = ann.find("#call").get_attribute("data-call")
    # Three seconds.
    cem.hears_voices(2, packets=150)
    assert manifest(ann, call)["status"] == "ongoing"
    # Who comes back meanwhile is shown it too.
    cem.driver.refresh()
    cem.says("#call-recording", "Ben Brook is recording this call", limit=60)
    assert ann.find("[data-action=record]").get_attribute("aria-label") == "Stop recording"
    ann.control("record")
    for one in people:
        one.gone("#call-recording:not([hidden])")
    ann.browser.wait("the files", lambda: manifest(ann, call)["status"] == "complete")
    tracks = manifest(cem, call)["tracks"]
    assert {track["user"] for track in tracks} == {one.user for one in people}
    # A page plays what it is given.
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

    # Afterwards it is found with the call.
    for one in people:
        one.hang_up()
    ben.leave_call_screen()
    ben.go("history")
    ben.click("#history [data-action=recordings]")
    ben.browser.wait("the tracks", lambda: len(ben.all("#recordings .track")) == len(tracks))
    pictures(ben.browser, "recordings")
    assert {track.get_attribute("data-user") for track in ben.all("#recordings .track")} == {one.user for one in people}
    # One asks for everybody in one file, and who looks has it too.
    ann.leave_call_screen()
    ann.go("history")
    ann.click("#history [data-action=recordings]")
    ann.says("#recordings [data-action=mix]", "Put everybody into one file")
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


# Pocketsphinx, unless it is said to be broken.
LISTEN = """#!/bin/sh
[ -e "$0.broken" ] && exit 1
command -v pocketsphinx_continuous > /dev/null || exec pocketsphinx -loglevel ERROR single "$1"
exec pocketsphinx_continuous -infile "$1" -time yes -logfn /dev/null
"""


@pytest.fixture
def listener(request, tmp_path):
    """A server of one's own, and the file by which its provider of transcription is broken."""
    program = tmp_path / "listen"
    program.write_text(LISTEN)
    program.chmod(0o755)
    one = Server(request.config.getoption("--binary"), tmp_path)
    one.config.write_text(one.config.read_text().replace("provider: command", f"provider: command\n  command: [{program}, '{{file}}']"))
    one.start()
    yield one, tmp_path / "listen.broken"
    one.stop()


@pytest.fixture
def three(browsers, speaker, listener):  # noqa: F811
    """Ann, Ben and Cem, of whom Ben has a microphone that speaks."""
    server, _ = listener
    for one in browsers:
        one.keep_one_tab()
    names = ("Ann Abel", "Ben Brook", "Cem Can")
    yield [Person(one, server.url, name).sign_up() for one, name in zip((browsers[0], speaker, browsers[1]), names)]
    for one in (*browsers, speaker):
        one.driver.get("about:blank")


PLAYED = "return [...document.querySelectorAll('#recordings audio')].map((one) => ({time: one.currentTime, paused: one.paused}));"


def only_the_second_speaks(people):
    """A call of three in which only one is heard."""
    ann, ben, cem = people
    ann.call_group([ben, cem], "audio")
    for other in (ben, cem):
        other.rings(limit=60)
        other.answer("accept-audio")
    for person in people:
        person.is_connected(limit=60)
    for person in (ann, cem):
        person.control("mute")
        person.hears_voices(1)


def test_what_was_said_is_read_under_who_said_it(three, listener, pictures):
    ann, ben, cem = three
    _, broken = listener
    only_the_second_speaks(three)
    ann.control("record")
    for other in (ben, cem):
        other.says("#call-recording", "Ann Abel is recording this call")
    # Six seconds.
    cem.hears_voices(1, packets=300)
    ann.control("record")
    for person in three:
        person.gone("#call-recording:not([hidden])")
        person.hang_up()
        person.leave_call_screen()
        person.go("history")
        person.click("#history [data-action=recordings]")
    assert not ben.all("[data-action=delete-recording]"), "it is not his"

    # One asks for the words, and all who look see what becomes of it.
    broken.touch()
    cem.click("#recordings [data-action=transcribe]")
    for person in three:
        person.says("#recordings .said[data-status=failed]", "It is not written down.", limit=60)
    pictures(ben.browser, "recording-transcript-failed")
    broken.unlink()
    ben.says("#recordings [data-action=transcribe]", "Try again")
    ben.click("#recordings [data-action=transcribe]")
    for person in three:
        person.find("#recordings .said[data-status=complete] .line", limit=90)
    lines = ann.all("#recordings .line")
    assert {line.get_attribute("data-user") for line in lines} == {ben.user}, "the others were muted"
    assert all("Ben Brook: " in line.text for line in lines)
    words = " ".join(line.text.split(": ", 1)[1] for line in lines).split()
    assert len(set(WORDS.split()) & set(words)) >= 3, words
    pictures(ann.browser, "recording-transcript")

    # A line is where to listen.
    begin = int(lines[0].get_attribute("data-start")) / 1000
    lines[0].click()
    played = ann.browser.wait(
        "the sound to move", lambda: [one for one in ann.driver.execute_script(PLAYED) if not one["paused"] and one["time"] > 0.3], 20
    )
    assert len(played) == 1 and begin - 0.7 < played[0]["time"] < begin + 4, (played, begin)
    for format in ("text", "srt", "vtt"):
        ann.driver.execute_script("document.getElementById('announcer').textContent = ''")
        ann.click(f"#recordings [data-format={format}]")
        ann.browser.wait("the file", lambda: ann.driver.execute_script("return document.getElementById('announcer').textContent") == "Saved")
    for look in ("phone", "dark"):
        ann.browser.resize(PHONE if look == "phone" else DESK)
        ann.browser.set_dark(look == "dark")
        pictures(ann.browser, f"{look}-recording-transcript")
        assert ann.driver.execute_script("return document.querySelector('#recordings').scrollWidth") <= ann.driver.execute_script("return innerWidth")
    ann.browser.resize(DESK)
    ann.browser.set_dark(False)

    # Who began it takes it away, for all of them.
    ann.click("#recordings [data-action=delete-recording]")
    pictures(ann.browser, "recording-delete")
    ann.click("#ask [data-choice=delete]")
    for person in three:
        person.says("#recordings", "Nothing is left of what was recorded.")
    ben.driver.refresh()
    ben.go("history")
    ben.click("#history [data-action=recordings]")
    ben.says("#recordings", "Nothing is left of what was recorded.")


def test_a_call_from_peer_to_peer_has_nothing_to_record_with(ann, ben):
    connect(ann, ben)
    assert not ann.all("[data-action=record]:not([hidden])")
    ann.hang_up()
