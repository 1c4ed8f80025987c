"""chat/list/inbox-list.js, row-menu.js and what else is made or shown by the server's clock, on a device whose clock is wrong."""

import pytest

# The clock of the device is an hour ahead, as the server has said; `from(minutes)` is a time by that of the server.
BEGIN = """
    const { realtime } = await load("connection/realtime.js");
    const { inbox } = await load("sync/inbox.js");
    const { setServerTime } = await load("store/clock.js");
    const { withVirtualTime } = await import("/tests/virtual-time.js");
    const { serve, signIn } = await import("/tests/signed-in.js");
    const responses = {};
    const asked = serve(responses);
    signIn("ann");
    const MINUTE = 60_000;
    const right = () => Date.now() - 60 * MINUTE;
    const from = (minutes) => new Date(right() + minutes * MINUTE).toISOString();
    /** How many minutes after now a time is. */
    const minutesTo = (text) => Math.round((Date.parse(text) - right()) / MINUTE);
    const find = (selector) => document.querySelector(selector);
    const frames = async (count = 2) => { while (count-- > 0) await new Promise(requestAnimationFrame); };
    const row = (more) => ({ id: "c1", counter: 1, activity: 1, unread: 1, mentions: 0, conversation: { kind: "direct" }, person: { id: "ben", displayName: "Ben" },
        ...more, membership: { state: "member", read: 1, ...more.membership },
        lastMessage: { number: 2, author: "ben", text: "secret", ranges: [], sentAt: from(-1), ...more.lastMessage } });
    const show = (one) => realtime.emit("snapshot", { stream: "inbox:ann", data: { conversations: [one] } });
"""

pytestmark = pytest.mark.usefixtures("other_origin")


def test_a_row_is_drawn_anew_when_its_message_and_its_mute_end(run):
    """Without a word of the server. The text is in no node then; before, the row stays the node that it is."""
    assert run(BEGIN + """
        const { inboxList } = await load("chat/list/inbox-list.js");
        return withVirtualTime(async (time) => {
            setServerTime(from(0));
            const list = inboxList();
            document.body.append(list.node);
            list.update();
            show(row({ lastMessage: { expiresAt: from(30) }, membership: { muted: { mentions: true, until: from(60) } }, unread: 2 }));
            const state = async () => {
                await frames();
                return [find("#row-c1 .preview").textContent, document.documentElement.outerHTML.includes("secret"),
                    Boolean(find("#row-c1 [aria-label=Muted]")), find("#row-c1 [data-count=unread]").textContent];
            };
            const found = [await state()];
            const node = find("#row-c1");
            await time.advance(29 * MINUTE);
            found.push(await state(), find("#row-c1") === node);
            await time.advance(MINUTE + 100);
            found.push(await state());
            await time.advance(30 * MINUTE);
            found.push(await state());
            list.close();
            return found;
        });
    """) == [
        ["secret", True, True, "2"], ["secret", True, True, "2"], True, ["Message deleted", False, True, "1"],
        ["Message deleted", False, False, "1"],
    ]


def test_a_mute_for_an_hour_is_one_of_the_server(run):
    assert run(BEGIN + """
        const { showRowMenu } = await load("chat/list/row-menu.js");
        setServerTime(from(0));
        const kept = [];
        inbox.keep = (id, change) => kept.push(change);
        show(row({ membership: { muted: { until: from(-1) } } }));
        showRowMenu(inbox.row("c1"));
        const label = find("#row-menu [data-action=mute]").textContent;
        find("#row-menu [data-action=mute]").click();
        find("#mute [data-mute=hour]").click();
        return [label, minutesTo(kept[0].muted.until)];
    """) == ["Mute", 60]


def test_a_link_of_a_group_works_as_long_as_was_chosen(run):
    assert run(BEGIN + """
        const { linksSection } = await load("chat/thread/group-links.js");
        const { until } = await import("/tests/signed-in.js");
        setServerTime(from(0));
        responses["links.list"] = () => ({ links: [] });
        responses["links.create"] = () => ({ token: "t" });
        document.body.append(linksSection({ id: "c1", me: "ann", nameOf: (user) => user }).node);
        find("[data-action=make-link]").click();
        find("#link-ends").value = String(60 * MINUTE);
        find("#new-link [data-choice=make]").click();
        await until("the request", () => asked.some(([name]) => name === "links.create"));
        return minutesTo(asked.find(([name]) => name === "links.create")[1].expiresAt);
    """) == 60


@pytest.mark.parametrize(("minutes", "count"), [(30, 1), (-1, 2), (0, 2)])
def test_a_link_to_a_voice_message_is_used_until_it_expires(run, minutes, count):
    assert run(BEGIN + """
        const { Player } = await load("voice/player.js");
        setServerTime(from(0));
        let count = 0;
        window.Audio = class extends EventTarget {
            paused = true;
            async play() { this.paused = false; }
            pause() { this.paused = true; }
            addEventListener(name, listener) { if (name === "loadedmetadata") listener(); }
            removeAttribute() {}
        };
        const player = new Player(900, async () => {
            count += 1;
            return { url: "data:,", expiresAt: from(minutes) };
        });
        for (const _ of "play pause play".split(" ")) await player.toggle();
        const { isPlaying } = player;
        player.close();
        return [isPlaying, count];
    """, minutes=minutes) == [True, count]


def test_a_message_can_be_sent_in_an_hour(run):
    """The field offers no time that is over for the server either."""
    assert run(BEGIN + """
        const { sendLater } = await load("chat/writing/scheduled.js");
        const { until } = await import("/tests/signed-in.js");
        setServerTime(from(0));
        const times = [];
        sendLater({ id: "c1", schedule: async (message, time) => { times.push(time); } }, { text: "later" });
        const first = minutesTo(new Date(find("#field-time").min).toISOString());
        find("#send-time [data-later]").click();
        await until("the request", () => times.length > 0);
        return [Math.abs(first) <= 1, minutesTo(times[0].toISOString())];
    """) == [True, 60]


def test_days_are_named_by_the_clock_of_the_server(run):
    """One that is a day ahead would say that all of it was yesterday."""
    assert run(BEGIN + """
        const { dayText, shortWhenText, whenText } = await load("language/format.js");
        setServerTime("2026-03-05T12:00:00Z");
        return ["2026-03-05T10:00:00Z", "2026-03-04T10:00:00Z"].map((time) => [dayText(time), shortWhenText(time), whenText(time)]);
    """) == [["Today", "11:00", "11:00"], ["Yesterday", "Yesterday", "Yesterday, 11:00"]]


SIGN_IN = """
    const value = { user: { id: "ann", displayName: "Ann Abel" }, session: { id: "s1" }, accessToken: "a", refreshToken: "r",
        expiresAt: Date.now() + 86_400_000 };
    sessionStorage.setItem("switchboard.credentials", JSON.stringify(value));
"""


def test_the_title_and_the_count_change_when_a_mute_ends(page, run, other_origin):
    """In the whole page, which has no server: the device sleeps until both have ended, one after the other."""
    run(SIGN_IN)
    page.driver.get(f"{other_origin}/")
    assert run("""
        const { realtime } = await load("connection/realtime.js");
        const { until } = await import("/tests/signed-in.js");
        const MINUTE = 60_000;
        const find = (selector) => document.querySelector(selector);
        const sleep = (minutes) => {
            const { now } = Date;
            Date.now = () => now() + minutes * MINUTE;
            document.dispatchEvent(new Event("visibilitychange"));
        };
        const from = (minutes) => new Date(Date.now() + minutes * MINUTE).toISOString();
        const row = (id, membership, message) => ({ id, counter: 1, activity: 1, unread: 1, mentions: 0, conversation: { kind: "direct" },
            person: { id: "ben", displayName: "Ben" }, membership: { state: "member", read: 1, ...membership },
            lastMessage: { number: 2, author: "ben", text: "secret", ranges: [], sentAt: from(-1), ...message } });
        await until("the page", () => find("main[data-page]"));
        const conversations = [row("a", { muted: { until: from(30) } }), row("b", {}, { expiresAt: from(60) })];
        realtime.emit("snapshot", { stream: "inbox:ann", data: { conversations } });
        const shown = () => [document.title, find("[data-count=chats]").firstChild?.textContent, find("[data-count=chats]").hidden];
        const found = [shown()];
        for (const minutes of [31, 30]) {
            sleep(minutes);
            found.push(shown());
        }
        return found;
    """) == [["(1) Switchboard", "1", False], ["(2) Switchboard", "2", False], ["(1) Switchboard", "1", False]]
