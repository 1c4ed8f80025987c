"""media/levels.js: who is speaking, from the audio levels of packets and from the microphone."""

# Runs the rest with `levels`: `levelOf` has each user's audio level, and every receiver got a packet just now.
# `changes` has [milliseconds since the beginning, who is speaking] for every change.
BEGIN = """
    const { Levels } = await load("media/levels.js");
    const { withVirtualTime } = await import("/tests/virtual-time.js");
    return withVirtualTime(async (time) => {
        const begin = performance.now();
        const levelOf = {};
        let age = 0;
        let fromPageStart = false;
        const sources = (user) => levelOf[user] === undefined ? [] : [{ audioLevel: levelOf[user],
            timestamp: performance.now() - age + (fromPageStart ? 0 : performance.timeOrigin) }];
        const receiver = (user) => ({ getSynchronizationSources: () => sources(user) });
        const received = ["ben", "cem"].map((user) => ({ user, kind: "audio", receiver: receiver(user) }));
        const levels = new Levels(() => received, () => ({ user: "ann", track: undefined }));
        const changes = [];
        levels.on("change", () => changes.push(
            [performance.now() - begin, received.map(({ user }) => user).filter((user) => levels.isSpeaking(user))]));
"""
END = "levels.close(); return changes; });"


def test_speaking(run):
    assert run(BEGIN + """
        levelOf.ben = 0.3;
        await time.advance(1_000);
        levelOf.cem = 0.3;
        await time.advance(200);
        levelOf.ben = 0;
        await time.advance(2_000);
    """ + END) == [[150, ["ben"]], [1_050, ["ben", "cem"]], [1_950, ["cem"]]]


def test_pauses_between_words_are_bridged(run):
    assert run(BEGIN + """
        for (let word = 0; word < 5; word += 1) {
            levelOf.ben = 0.3;
            await time.advance(300);
            levelOf.ben = 0;
            await time.advance(600);
        }
    """ + END) == [[150, ["ben"]]]


def test_a_quiet_room_is_not_speech(run):
    assert run(BEGIN + """
        Object.assign(levelOf, { ben: 0.02, cem: 0.01 });
        await time.advance(5_000);
    """ + END) == []


def test_without_levels(run):
    """No packet yet, a browser that reports no level, and video."""
    assert run(BEGIN + """
        levelOf.cem = null;
        received.push({ user: "ben", kind: "video", receiver: undefined });
        await time.advance(1_000);
    """ + END) == []


def test_old_packets_are_ignored(run):
    """The level of the last packet stays where it was when packets stop."""
    assert run(BEGIN + """
        levelOf.ben = 0.3;
        age = 501;
        await time.advance(1_000);
        age = 499;
        await time.advance(1_000);
    """ + END) == [[1_050, ["ben"]]]


def test_timestamps_from_the_start_of_the_page(run):
    assert run(BEGIN + """
        fromPageStart = true;
        levelOf.ben = 0.3;
        age = 501;
        await time.advance(1_000);
        age = 499;
        await time.advance(1_000);
    """ + END) == [[1_050, ["ben"]]]


def test_who_leaves_stops_speaking(run):
    assert run(BEGIN + """
        levelOf.ben = 0.3;
        await time.advance(200);
        received.shift();
        await time.advance(2_000);
        changes.push(levels.isSpeaking("ben"));
    """ + END) == [[150, ["ben"]], [900, []], False]


def test_nothing_runs_after_closing(run):
    assert run(BEGIN + """
        levels.close();
        levelOf.ben = 0.3;
        await time.advance(2_000);
        changes.push(time.timerCount);
    """ + END) == [0]


def test_the_microphone(run):
    """A tone, silence (muted: no track), and another track."""
    assert run("""
        const { Levels } = await load("media/levels.js");
        const context = new AudioContext();
        const tone = (volume) => {
            const [oscillator, gain] = [context.createOscillator(), context.createGain()];
            const destination = context.createMediaStreamDestination();
            gain.gain.value = volume;
            oscillator.connect(gain).connect(destination);
            oscillator.start();
            return destination.stream.getAudioTracks()[0];
        };
        let track = tone(0.5);
        const levels = new Levels(() => [], () => ({ user: "ann", track }));
        const until = (isSpeaking) => new Promise((resolve) => {
            const remove = levels.on("change", () => {
                if (levels.isSpeaking("ann") !== isSpeaking) return;
                remove();
                resolve(isSpeaking);
            });
        });
        try {
            const states = [await until(true)];
            track = undefined;
            states.push(await until(false));
            track = tone(0.5);
            states.push(await until(true));
            track = tone(0.001);
            states.push(await until(false));
            return states;
        } finally {
            levels.close();
            await context.close();
        }
    """) == [True, False, True, False]
