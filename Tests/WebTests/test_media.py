"""media/local-media.js: a camera or a screen that is there when nobody wants it any more."""

# Runs the rest with local media; the browser gives tracks in the order of `give()`, a canvas each.
BEGIN = """
    const { LocalMedia } = await load("media/local-media.js");
    const asked = [];
    const ask = () => {
        const pending = Promise.withResolvers();
        asked.push(pending);
        return pending.promise;
    };
    const give = (index) => {
        const stream = document.createElement("canvas").captureStream(0);
        asked[index].resolve(stream);
        return stream.getVideoTracks()[0];
    };
    const { mediaDevices } = navigator;
    Object.assign(mediaDevices, { getUserMedia: ask, getDisplayMedia: ask });
    const media = new LocalMedia();
    try {
"""
END = "} finally { media.close(); delete mediaDevices.getUserMedia; delete mediaDevices.getDisplayMedia; }"


def test_a_screen_that_was_chosen_after_the_call(run):
    assert run(BEGIN + """
        const opened = media.openScreen();
        media.close();
        const track = give(0);
        await opened;
        return [track.readyState, media.screen === undefined];
    """ + END) == ["ended", True]


def test_a_screen_is_shared_until_it_is_closed(run):
    assert run(BEGIN + """
        const opened = media.openScreen();
        const track = give(0);
        await opened;
        const states = [media.video === track, track.readyState];
        media.closeScreen();
        return [...states, track.readyState];
    """ + END) == [True, "live", "ended"]


def test_a_camera_that_was_switched_off_while_another_one_was_opened(run):
    assert run(BEGIN + """
        const opened = media.openCamera();
        const first = give(0);
        await opened;
        const changed = media.openCamera();
        media.closeCamera();
        const second = give(1);
        await changed;
        const states = [first.readyState, second.readyState, media.camera === undefined];
        const again = media.openCamera();
        const third = give(2);
        await again;
        return [...states, media.camera === third, third.readyState];
    """ + END) == ["ended", "ended", True, True, "live"]


def test_of_two_cameras_the_one_that_was_chosen_last_is_on(run):
    assert run(BEGIN + """
        const both = [media.openCamera(), media.openCamera()];
        const last = give(1);
        await both[1];
        const first = give(0);
        await both[0];
        return [media.camera === last, last.readyState, first.readyState];
    """ + END) == [True, "live", "ended"]
