// The pages of a test, each in a frame with modules of its own, and whether two of them show the same.

const frames = new Map();
/** Pages that differ have not got everything for so long, or never do. */
const TIMEOUT = 2_000;
const LONGEST = 15_000;
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const clientOf = (name) => frames.get(name).contentWindow.client;

/** The server's pages may not be in a frame; an empty one, which has the origin and the policy of this page, may. */
async function open(name, options) {
    const frame = document.createElement("iframe");
    document.body.append(frame);
    const { contentDocument, contentWindow } = frame;
    const script = contentDocument.createElement("script");
    script.type = "module";
    script.src = contentWindow.trustedTypes.createPolicy("switchboard", { createScriptURL: (url) => url }).createScriptURL("/client.js");
    const loaded = new Promise((resolve, reject) => [script.onload, script.onerror] = [resolve, () => reject(new Error("no script"))]);
    contentDocument.head.append(script);
    await loaded;
    frames.set(name, frame);
    await clientOf(name).start(options);
    await clientOf(name).answered();
}

/** The page is gone at once, as when its process ends. */
function remove(name) {
    frames.get(name)?.remove();
    frames.delete(name);
}

async function step(name, method, values) {
    const client = clientOf(name);
    const result = await client[method](values);
    await client.answered();
    return result;
}

/** Waits until what a command has done has arrived at all pages that are connected. */
async function arrived(what) {
    const end = performance.now() + 1_000;
    while (performance.now() < end && ![...frames.keys()].every((name) => clientOf(name).has(what))) await sleep(2);
}

/** Waits until the page shows what another one shows that has loaded everything. Resolves to the differences. */
async function compare(name, fresh, isWhole) {
    let [found, end] = [[], performance.now() + TIMEOUT];
    const last = performance.now() + LONGEST;
    for (let turn = 0; performance.now() < end; turn += 1) {
        // No longer than a silent connection is kept.
        if (turn < 60) for (const one of frames.keys()) await clientOf(one).pass({ milliseconds: 500 });
        if (turn === 20) await clientOf(name).renew();
        const waiting = [name, fresh].flatMap((one) => clientOf(one).waiting());
        if (waiting.length === 0) for (const one of isWhole ? [fresh, name] : [fresh]) await clientOf(one).loadAll();
        const next = waiting.length > 0 ? waiting : differences(clientOf(name).shown(), clientOf(fresh).shown());
        if (next.length === 0) return next;
        // A machine that is busy takes its time to respond.
        if (waiting.length > 0 || next.join() !== found.join()) end = Math.min(last, performance.now() + TIMEOUT);
        found = next;
        await sleep(10);
    }
    return found;
}

function differences(shown, want) {
    const found = [];
    const same = (what, one, other) => {
        if (canonical(one) !== canonical(other)) found.push(`${what}: ${difference(one, other)}`);
    };
    same("errors", shown.errors, []);
    same("errors of the fresh page", want.errors, []);
    const { rows, unread, hasMore } = shown.inbox;
    // There are others that were not asked for.
    const ids = new Set(rows.map(({ id }) => id));
    same("the list's rows", rows, want.inbox.rows.filter(({ id }) => !hasMore || ids.has(id)));
    if (!hasMore) same("the list's unread", unread, want.inbox.unread);
    if (shown.inbox.hasArchive) same("the archive", shown.inbox.archived, want.inbox.archived);
    for (const [id, thread] of Object.entries(shown.threads)) {
        const { messages, first, past, hasEarlier, ...rest } = thread;
        const { messages: all, first: _, past: __, hasEarlier: ___, ...others } = want.threads[id];
        for (const field of new Set([...Object.keys(rest), ...Object.keys(others)])) same(`${field} of the thread`, rest[field], others[field]);
        const isIn = ({ number }) => number >= (first ?? 0) || past && number >= past[0] && number <= past[1];
        const expected = all.filter(isIn);
        same("numbers of the thread", messages.map((one) => one.number), expected.map((one) => one.number));
        for (const one of messages) same(`message ${one.number}`, one, expected.find(({ number }) => number === one.number) ?? {});
        if (!hasEarlier && !past) same("what is before the thread", [], all.filter((one) => one.number < (first ?? 0)).map((one) => one.number));
    }
    return found;
}

const canonical = (value) => JSON.stringify(value, (_, one) => one && typeof one === "object" && !Array.isArray(one)
    ? Object.fromEntries(Object.entries(one).sort(([first], [second]) => first < second ? -1 : 1)) : one);

/** Where two values differ: the paths, and what is there. */
function difference(one, other, path = "") {
    if (canonical(one) === canonical(other)) return "";
    if (!one || !other || typeof one !== "object" || typeof other !== "object" || Array.isArray(one) && one.length !== other.length) {
        return ` ${path || "it"} is ${shortened(one)} and not ${shortened(other)};`;
    }
    return [...new Set([...Object.keys(one), ...Object.keys(other)])].map((key) => difference(one[key], other[key], `${path}.${key}`)).join("");
}

const shortened = (value) => (JSON.stringify(value) ?? "absent").slice(0, 400);

globalThis.pages = { open, remove, arrived, compare, step, has: (name) => frames.has(name),
    reset() { for (const name of [...frames.keys()]) remove(name); } };
