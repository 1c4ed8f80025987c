// What the assistant was asked, and what it said: threads of runs, and what comes of a run while it is written.
//
// A state is never changed: every function returns the next one.

/** So many runs are held that are not of the thread that is open. */
const MOST_RUNS = 200;

/**
 * `runs` have, by id, `{run, text, tools, isStale}`: the text so far, and whether a piece of it was missed, so that it has to be
 * listened to anew. `threads` are those that are listed, the one that was used last first.
 */
export const emptyAssistant = () => ({ isLoaded: false, threads: [], runs: {} });

// Threads

/** A page of the list; the first one replaces what was there. */
export function withThreads(state, { threads, nextCursor }, { isFirst = false } = {}) {
    const known = new Set(threads.map((one) => one.id));
    const before = isFirst ? [] : state.threads.filter((one) => !known.has(one.id));
    return { ...state, isLoaded: true, threads: [...before, ...threads], nextCursor };
}

/** A thread with all its runs. */
export function withThread(state, { thread, runs }) {
    const ids = new Set(runs.map((one) => one.id));
    const others = Object.fromEntries(Object.entries(state.runs).filter(([id, { run }]) => run.thread !== thread.id || ids.has(id)));
    return withRuns({ ...state, threads: listed(state.threads, thread), runs: others }, runs);
}

/** Runs as the server has them: one that has ended does not run again, and one that is the same stays the same. */
export function withRuns(state, runs) {
    const next = { ...state.runs };
    for (const run of runs) {
        const known = next[run.id];
        if (known && known.run.status !== "running" && run.status === "running") continue;
        if (known && !known.isStale && JSON.stringify(known.run) === JSON.stringify(run)) continue;
        next[run.id] = { text: "", isStale: false, ...known, run, tools: toolNames(run, known) };
    }
    return { ...state, runs: bounded(next) };
}

/** A question was taken: its thread is the one that was used last. */
export function withAsked(state, run) {
    const known = state.threads.find((one) => one.id === run.thread);
    const thread = { title: run.question, createdAt: run.askedAt, ...known, id: run.thread, updatedAt: run.askedAt, runs: (known?.runs ?? 0) + (state.runs[run.id] ? 0 : 1) };
    return withRuns({ ...state, threads: listed(state.threads, thread) }, [run]);
}

export function withoutThread(state, id) {
    return { ...state, threads: state.threads.filter((one) => one.id !== id),
        runs: Object.fromEntries(Object.entries(state.runs).filter(([, { run }]) => run.thread !== id)) };
}

export function withoutRun(state, id) {
    const found = state.runs[id];
    if (!found) return state;
    const { [id]: _, ...runs } = state.runs;
    // A thread goes with its last question.
    return { ...state, runs, threads: state.threads.map((one) => one.id === found.run.thread ? { ...one, runs: one.runs - 1 } : one).filter((one) => one.runs > 0) };
}

/** Those of a thread, in the order in which they were asked. */
export const runsOf = (state, thread) => Object.values(state.runs).filter(({ run }) => run.thread === thread)
    .sort(({ run: one }, { run: other }) => one.askedAt < other.askedAt ? -1 : one.askedAt > other.askedAt ? 1 : one.id < other.id ? -1 : 1);

/** The runs that are listened to. */
export const runningIn = (state) => Object.values(state.runs).filter(({ run }) => run.status === "running").map(({ run }) => run.id);

// A run while it is written

/** What the stream says at first: the run, and the text so far. */
export function withRunSnapshot(state, { run, text = "" }) {
    const next = withRuns(state, [run]);
    return { ...next, runs: { ...next.runs, [run.id]: { ...next.runs[run.id], text, isStale: false } } };
}

/**
 * What happens to it: a piece of `text` that takes the place of what was there `from` there on, in UTF-16 units, a `tool` that it uses,
 * or that it is `done`. At 0 the text begins anew. After a piece that was missed it `isStale`, until the next snapshot.
 */
export function withRunEvent(state, id, event) {
    const known = state.runs[id];
    if (!known) return state;
    const set = (change) => ({ ...state, runs: { ...state.runs, [id]: { ...known, ...change } } });
    if (event.type === "done") return withRuns(state, [event.run]);
    if (known.run.status !== "running" || known.isStale) return state;
    if (event.type === "tool") return set({ tools: [...known.tools, event.name] });
    if (event.type !== "text") return state;
    return event.from <= known.text.length ? set({ text: known.text.slice(0, event.from) + event.text }) : set({ isStale: true });
}

// What is shown

/**
 * The paragraphs of an answer, each a list of `{text, sources, isUncited, isWithdrawn}`. `sources` are the positions of what is cited in
 * `sourcesOf`, from 1. Of withdrawn ones that follow each other one is left.
 */
export function paragraphsOf(run) {
    const positions = new Map(sourcesOf(run).map((one, index) => [keyOf(one), index + 1]));
    const paragraphs = [];
    for (const { text, citations = [], startsLine, withdrawn } of run.sentences) {
        const sentence = { text, sources: [...new Set(citations.map((one) => positions.get(keyOf(one))))].filter(Boolean), isWithdrawn: Boolean(withdrawn),
            isUncited: citations.length === 0 && !withdrawn };
        if (withdrawn && paragraphs.at(-1)?.at(-1).isWithdrawn) continue;
        if (startsLine || paragraphs.length === 0) paragraphs.push([sentence]);
        else paragraphs.at(-1).push(sentence);
    }
    return paragraphs;
}

/** The messages that an answer rests on, each once, in the order in which they are cited. What is withdrawn rests on nothing. */
export function sourcesOf(run) {
    const found = new Map();
    for (const { citations = [], withdrawn } of run.sentences) {
        if (!withdrawn) for (const one of citations) if (!found.has(keyOf(one))) found.set(keyOf(one), one);
    }
    return [...found.values()];
}

/** An answer as plain text, to copy or to send. */
export const answerText = (run) => paragraphsOf(run).map((sentences) => sentences.filter((one) => !one.isWithdrawn).map((one) => one.text).join(" "))
    .filter((one) => one !== "").join("\n");

/** What a question that follows is about: the same as the last one. */
export function scopeOf(runs) {
    const { run } = runs.at(-1) ?? {};
    return { ...(run?.conversation && { conversation: run.conversation }), for: run?.for ?? "me" };
}

const keyOf = ({ conversation, number }) => `${conversation}/${number}`;

const listed = (threads, thread) => [...threads.filter((one) => one.id !== thread.id), thread]
    .sort((one, other) => one.updatedAt < other.updatedAt ? 1 : one.updatedAt > other.updatedAt ? -1 : 0);

/** The run names those that it has used once it has ended; events tell of them before. */
const toolNames = ({ tools = [] }, known) => tools.length >= (known?.tools.length ?? 0) ? tools.map((one) => one.name) : known.tools;

/** Of too many the ones that were asked first go, but for those that run. */
function bounded(runs) {
    const all = Object.values(runs);
    if (all.length <= MOST_RUNS) return runs;
    const kept = all.sort(({ run: one }, { run: other }) => Number(other.status === "running") - Number(one.status === "running")
        || (one.askedAt < other.askedAt ? 1 : -1)).slice(0, MOST_RUNS);
    return Object.fromEntries(kept.map((one) => [one.run.id, one]));
}
