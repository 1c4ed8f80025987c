"""state/assistant-runs.js: threads and runs, and a run while it is written, by a scripted server."""

import random

import pytest

BEGIN = """
    const assistant = await load("state/assistant-runs.js");
    const run = (id, more = {}) => ({ id, thread: "t1", question: `What of ${id}?`, for: "me", status: "running", sentences: [], tools: [],
        askedAt: `2026-01-01T00:00:0${id}Z`, ...more });
    const sentence = (text, numbers = [], more = {}) => ({ text, citations: numbers.map((number) => ({ conversation: "c", number, of: 1 })), ...more });
    const piece = (from, text) => ({ type: "text", from, text });
    const apply = (state, ...events) => events.reduce((known, event) => assistant.withRunEvent(known, "1", event), state);
    const begun = () => assistant.withAsked(assistant.emptyAssistant(), run("1"));
    const text = (state) => [state.runs["1"].text, state.runs["1"].isStale];
"""


@pytest.mark.parametrize("seed", range(5))
def test_pieces_that_are_cut_anywhere_are_the_text(run, seed):
    """By a scripted server: it sends the whole in pieces, loses some, and says all so far to who listens anew."""
    # Offsets are in UTF-16 units.
    print("seed", seed)
    generator = random.Random(seed)
    whole = "".join(generator.choice(["a", "б", "😀", " ", "ع"]) for _ in range(120))
    cuts = sorted(generator.sample(range(1, len(whole)), 20))
    offset = [len(whole[:index].encode("utf-16-le")) // 2 for index in range(len(whole) + 1)]
    parts = [(offset[a], whole[a:b]) for a, b in zip([0, *cuts], [*cuts, len(whole)])]
    lost = generator.sample(range(1, len(parts) - 1), 3)
    script = BEGIN + """
        let state = begun();
        let listens = 0;
        let sent = "";
        parts.forEach(([from, words], index) => {
            sent += words;
            if (lost.includes(index)) return;
            state = apply(state, piece(from, words));
            if (!state.runs["1"].isStale) return;
            listens += 1;
            // What is on its way to the old listen changes nothing.
            state = apply(state, piece(from, words), piece(3, "x"));
            state = assistant.withRunSnapshot(state, { run: run("1"), text: sent });
        });
        return [state.runs["1"].text === sent, state.runs["1"].isStale, listens];
    """
    same, stale, listens = run(script, parts=parts, lost=lost)
    assert (same, stale) == (True, False) and 1 <= listens <= 3


def test_it_begins_anew_after_a_tool(run):
    script = BEGIN + """
        let state = apply(begun(), piece(0, "Let me "), piece(7, "look"));
        const before = text(state);
        state = apply(state, { type: "tool", name: "search" }, piece(0, "The boat"), { type: "sound" });
        return [before, text(state), state.runs["1"].tools, text(apply(state, piece(0, ""))), text(apply(state, piece(3, " cat is"))), text(apply(state, piece(9, "x")))];
    """
    assert run(script) == [["Let me look", False], ["The boat", False], ["search"], ["", False], ["The cat is", False], ["The boat", True]]


def test_what_has_ended_does_not_run_again(run):
    script = BEGIN + """
        const done = run("1", { status: "done", sentences: [sentence("The boat is blue.", [3])], tools: [{ name: "search" }] });
        let state = apply(begun(), piece(0, "The boat"), { type: "done", run: done });
        state = apply(state, piece(8, " is red"), { type: "tool", name: "people" });
        state = assistant.withRunSnapshot(state, { run: run("1"), text: "" });
        const { run: kept, tools } = state.runs["1"];
        return [kept.status, assistant.answerText(kept), tools, assistant.runningIn(state), assistant.withRunEvent(state, "9", piece(0, "x")) === state];
    """
    assert run(script) == ["done", "The boat is blue.", ["search"], [], True]


def test_sentences_are_paragraphs_with_numbered_sources(run):
    script = BEGIN + """
        const done = run("1", { status: "done", sentences: [sentence("It is blue.", [7, 7]), sentence("Ben says so.", [3, 7]), sentence("I like it."),
            sentence("", [9], { withdrawn: true, startsLine: true }), sentence("", [9], { withdrawn: true }), sentence("", [], { withdrawn: true, startsLine: true }), sentence("It is sold.", [3], { startsLine: true })] });
        const parts = assistant.paragraphsOf(done).map((sentences) => sentences.map((one) => [one.text, one.sources, one.isUncited, one.isWithdrawn]));
        return [parts, assistant.sourcesOf(done).map((one) => one.number), assistant.answerText(done), assistant.paragraphsOf(run("2"))];
    """
    assert run(script) == [
        [
            [["It is blue.", [1], False, False], ["Ben says so.", [2, 1], False, False], ["I like it.", [], True, False]],
            [["", [], False, True]],
            [["It is sold.", [2], False, False]],
        ],
        [7, 3], "It is blue. Ben says so. I like it.\nIt is sold.", [],
    ]  # fmt: skip


def test_threads_are_listed_continued_and_erased(run):
    script = BEGIN + """
        const thread = (id, hour, runs = 1) => ({ id, title: id, createdAt: "2026-01-01T00:00:00Z", updatedAt: `2026-01-01T0${hour}:00:00Z`, runs });
        const listed = (state) => state.threads.map((one) => [one.id, one.runs]);
        let state = assistant.withThreads(assistant.emptyAssistant(), { threads: [thread("t3", 9), thread("t2", 8)], nextCursor: "x" }, { isFirst: true });
        state = assistant.withThreads(state, { threads: [thread("t2", 8), thread("t1", 1)] });
        const pages = [listed(state), state.nextCursor ?? null];
        // The newest question brings its thread to the top, once.
        const asked = run("1", { askedAt: "2026-01-02T00:00:00Z", conversation: "c", for: "conversation" });
        state = assistant.withAsked(assistant.withAsked(state, asked), asked);
        const continued = listed(state);
        state = assistant.withThread(state, { thread: thread("t1", 9, 2), runs: [run("2", { askedAt: "2025-12-31T00:00:00Z" }), asked] });
        const order = assistant.runsOf(state, "t1").map((one) => one.run.id);
        const scope = [assistant.scopeOf(assistant.runsOf(state, "t1")), assistant.scopeOf([])];
        state = assistant.withoutRun(state, "2");
        const erased = [listed(state).find(([id]) => id === "t1"), assistant.runsOf(state, "t1").length, assistant.withoutRun(state, "2") === state];
        const last = listed(assistant.withoutRun(state, "1"));
        state = assistant.withoutThread(state, "t1");
        return [last, pages, continued, order, scope, erased, listed(state), Object.keys(state.runs)];
    """
    assert run(script) == [
        [["t3", 1], ["t2", 1]],
        [[["t3", 1], ["t2", 1], ["t1", 1]], None],
        [["t1", 2], ["t3", 1], ["t2", 1]],
        ["2", "1"], [{"conversation": "c", "for": "conversation"}, {"for": "me"}],
        [["t1", 1], 1, True], [["t3", 1], ["t2", 1]], [],
    ]  # fmt: skip


def test_runs_that_were_erased_elsewhere_go_and_there_are_not_too_many(run):
    script = BEGIN + """
        let state = assistant.withRuns(assistant.emptyAssistant(), [run("1"), run("2"), run("3", { thread: "t2" })]);
        state = assistant.withThread(state, { thread: { id: "t1", updatedAt: "" }, runs: [run("2")] });
        const left = Object.keys(state.runs);
        // Read again, it stays the same unless it is another.
        const again = assistant.withRuns(state, [run("2")]).runs["2"] === state.runs["2"];
        const changed = assistant.withRuns(state, [run("2", { status: "done" })]).runs["2"].run.status;
        const many = Array.from({ length: 300 }, (_, index) => run(`n${index}`, { askedAt: `2026-02-01T00:00:${String(index).padStart(3, "0")}Z`, status: "done" }));
        state = assistant.withRuns(state, many);
        return [left, again, changed, Object.keys(state.runs).length, Boolean(state.runs["2"]), Boolean(state.runs.n299), Boolean(state.runs.n0)];
    """
    assert run(script) == [["2", "3"], True, "done", 200, True, True, False]
