"""Lists that follow what changes elsewhere, that are read again after a failure or with the next connection, and of which
no page is asked for twice: chat/writing/scheduled.js, settings/settings-lists.js, calls/history-page.js, chat/list/starred-page.js, chat/thread/group-members.js, sync/assistant.js."""

import pytest

# Runs the rest with `asked`, the requests so far, and `count(name)` of them; `problem` fails the requests with its name.
BEGIN = """
    const { Problem } = await load("connection/problems.js");
    const { realtime } = await load("connection/realtime.js");
    const { connect, serve, settle, shownToasts, signIn, until } = await import("/tests/signed-in.js");
    signIn("ann");
    const problems = new Map();
    const responses = {};
    const asked = serve(new Proxy(responses, { get: (all, name) => (params) => {
        if (problems.has(name)) throw new Problem(problems.get(name));
        return all[name]?.(params) ?? {};
    } }));
    const gone = { type: "not_found", status: 404 };
    const count = (name) => asked.filter(([one]) => one === name).length;
    const find = (selector) => document.querySelector(selector);
    const show = (node) => document.body.append(node);
"""
SCHEDULED = BEGIN + """
    const { Emitter } = await load("state/emitter.js");
    const { scheduledLine } = await load("chat/writing/scheduled.js");
    const thread = Object.assign(new Emitter(), { id: "c1", nameOf: (user) => user, state: { scheduled: { count: 2, failed: 0 } } });
    const one = (clientID) => ({ clientID, text: clientID, sendAt: "2030-01-01T09:00:00Z" });
    let waiting = [one("first"), one("second")];
    responses["scheduled.list"] = () => ({ scheduled: waiting });
    const rows = () => [...document.querySelectorAll("#scheduled .row")].map((row) => row.dataset.scheduled);
    const change = (next) => {
        waiting = next;
        thread.state = { ...thread.state, scheduled: { count: next.length, failed: 0 } };
        thread.emit("change");
    };
    scheduledLine(thread).node.click();
    await until("the list", () => rows().length === 2);
"""
DEVICES = BEGIN + """
    const { devicesSection } = await load("settings/settings-lists.js");
    const device = (id) => ({ id, name: id, lastSeenAt: "2026-01-01T09:00:00Z" });
    const session = (id) => ({ id, device: { id: "laptop" }, createdAt: "2026-01-01T09:00:00Z" });
    let devices = [device("laptop"), device("phone")];
    let sessions = [session("one"), session("two")];
    responses["devices.list"] = () => ({ devices });
    responses["sessions.list"] = () => ({ sessions });
    const rows = () => [...document.querySelectorAll("#devices > .row")].map((row) => row.dataset.device);
"""

pytestmark = pytest.mark.usefixtures("other_origin")


def test_what_is_scheduled_is_followed(run):
    """It is read again when another one waits or has gone, and not with every change of the thread."""
    assert run(SCHEDULED + """
        thread.emit("change");
        change([one("second")]);
        await until("the change", () => rows().length === 1);
        const shown = rows();
        change([]);
        await until("the dialog to close", () => !find("#scheduled"));
        change([one("third")]);
        await settle();
        return [shown, count("scheduled.list")];
    """) == [["second"], 3]


def test_what_was_sent_before_it_could_be_changed_leaves_the_list(run):
    assert run(SCHEDULED + """
        problems.set("scheduled.update", gone);
        waiting = [one("second")];
        find("[data-scheduled=first] [data-action=send-now]").click();
        await until("the list", () => rows().length === 1);
        return [rows(), shownToasts().length];
    """) == [["second"], 1]


def test_a_device_that_was_signed_out_elsewhere_leaves_the_list(run):
    assert run(DEVICES + """
        show(devicesSection().node);
        await until("the list", () => rows().length === 2);
        problems.set("devices.revoke", gone);
        devices = [device("laptop")];
        find("[data-device=phone] [data-action=revoke-device]").click();
        find("#ask [data-choice]").click();
        await until("the list", () => rows().length === 1);
        return [rows(), shownToasts().length];
    """) == [["laptop"], 1]


def test_a_session_that_was_ended_elsewhere_leaves_the_list(run):
    assert run(DEVICES + """
        show(devicesSection().node);
        await until("the list", () => rows().length === 2);
        problems.set("sessions.revoke", gone);
        sessions = [session("one")];
        find("[data-session=two] [data-action=revoke-session]").click();
        await until("the list", () => !find("[data-session]"));
        return shownToasts().length;
    """) == 1


@pytest.mark.parametrize("is_closed", [False, True])
def test_devices_are_listed_with_the_next_connection(run, is_closed):
    assert run(DEVICES + """
        problems.set("devices.list", gone);
        const { node, close } = devicesSection();
        show(node);
        await until("the failure", () => shownToasts().length === 1);
        problems.clear();
        if (isClosed) close();
        connect();
        await settle();
        connect();
        await settle();
        close();
        return [count("devices.list"), rows().length];
    """, isClosed=is_closed) == ([1, 0] if is_closed else [2, 2])


@pytest.mark.parametrize("is_closed", [False, True])
@pytest.mark.parametrize(
    ("module", "make", "name", "list"),
    [
        ("calls/history-page.js", "historyPage", "calls.list", "calls"),
        ("chat/list/starred-page.js", "starredPage", "messages.starred", "messages"),
    ],
)
def test_a_page_is_loaded_with_the_next_connection(run, module, make, name, list, is_closed):
    """Unless it was left; and where it is there, not again."""
    assert run(BEGIN + """
        responses[name] = () => ({ [list]: [] });
        problems.set(name, gone);
        const made = (await load(module))[make]();
        show(made.node);
        await until("the failure", () => shownToasts().length === 1);
        problems.clear();
        if (isClosed) made.close();
        connect();
        await settle();
        connect();
        await settle();
        const isLoaded = find(".empty").hidden === false;
        if (!isClosed) made.close();
        return [count(name), isLoaded];
    """, module=module, make=make, name=name, list=list, isClosed=is_closed) == ([1, False] if is_closed else [2, True])


def test_more_of_what_is_starred_is_asked_for_once(run):
    assert run(BEGIN + """
        const { starredPage } = await load("chat/list/starred-page.js");
        const pages = [];
        responses["messages.starred"] = () => {
            const pending = Promise.withResolvers();
            pages.push(pending);
            return pending.promise;
        };
        const page = (number, nextCursor) => ({ nextCursor, messages: [{ conversation: "c1", number, author: "ann", kind: "text", text: "x",
            sentAt: "2026-01-01T09:00:00Z" }] });
        const made = starredPage();
        show(made.node);
        pages[0].resolve(page(1, "next"));
        await until("the first page", () => !find("[data-action=more-starred]").hidden);
        find("[data-action=more-starred]").click();
        find("[data-action=more-starred]").click();
        await settle();
        for (const one of pages.slice(1)) one.resolve(page(2));
        await until("the second page", () => find("[data-action=more-starred]").hidden);
        await settle();
        made.close();
        return [count("messages.starred"), [...document.querySelectorAll("#starred .row")].map((row) => row.dataset.number)];
    """) == [2, ["1", "2"]]


def test_all_members_are_listed_once(run):
    """Though the button is pressed twice, and again after a page could not be read."""
    assert run(BEGIN + """
        const { membersSection } = await load("chat/thread/group-members.js");
        const member = (user) => ({ user, role: "member", state: "member", version: 1 });
        const person = (id) => ({ id, displayName: id });
        const thread = { id: "c1", me: "ann", nameOf: (user) => user, state: { conversation: { members: 3 }, moreMembers: true,
            members: { ann: member("ann") }, people: { ann: person("ann") } } };
        responses["members.list"] = ({ cursor }) => {
            if (cursor && !isWhole) throw new Problem(gone);
            return cursor ? { members: [member("cem")], people: [person("cem")] }
                : { members: [member("ann"), member("ben")], people: [person("ann"), person("ben")], nextCursor: "next" };
        };
        let isWhole = false;
        show(membersSection(thread, undefined));
        const more = find("[data-action=all-members]");
        more.click();
        more.click();
        await until("the failure", () => shownToasts().length > 0);
        isWhole = true;
        await until("the button", () => !more.hasAttribute("aria-busy"));
        more.click();
        await until("the end", () => !more.isConnected);
        await settle();
        return [count("members.list"), [...document.querySelectorAll("[data-user]")].map((row) => row.dataset.user)];
    """) == [4, ["ann", "ben", "cem"]]


@pytest.mark.parametrize(("failure", "is_gone"), [("not_found", True), ("internal", False)])
def test_a_thread_of_the_assistant_that_was_erased_elsewhere_shows_nothing(run, failure, is_gone):
    """What cannot be read for another reason stays."""
    assert run(BEGIN + """
        const { assistantPage } = await load("chat/assistant/assistant-page.js");
        const time = "2026-01-01T09:00:00Z";
        responses["assistant.thread"] = () => ({ thread: { id: "t1", title: "A boat", updatedAt: time, runs: 1 },
            runs: [{ id: "r1", thread: "t1", question: "Who has a boat?", status: "cancelled", sentences: [], askedAt: time, for: "me" }] });
        const page = assistantPage("assistant", "t1");
        show(page.node);
        await until("the question", () => find(".run"));
        await settle();
        problems.set("assistant.thread", failure === "not_found" ? gone : { type: "invalid_request", status: 400 });
        document.dispatchEvent(new Event("visibilitychange"));
        await until("the request", () => count("assistant.thread") === 2);
        await settle();
        const state = [Boolean(find(".nothing-here")), Boolean(find(".run"))];
        page.close();
        return state;
    """, failure=failure) == [is_gone, not is_gone]
