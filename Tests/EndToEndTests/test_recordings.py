"""Group calls that are recorded: everybody is shown it, and anybody may end it."""

import time

from pages import connect, everybody_sees_and_hears, meet
from test_group_calls import crowd, four  # noqa: F401 - its people


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
    time.sleep(3)
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


def test_a_call_from_peer_to_peer_has_nothing_to_record_with(ann, ben):
    connect(ann, ben)
    assert not ann.all("[data-action=record]:not([hidden])")
    ann.hang_up()
