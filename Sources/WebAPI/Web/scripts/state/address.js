// The addresses of the pages, which are fragments: `#/c/<conversation>/<number>` is a message of a conversation.

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const NUMBER = /^[1-9]\d{0,14}$/;
const NAME = /^[a-z-]+$/;
const TOKEN = /./;

/** What may follow the name of a page, each of them with those before it. */
const PAGES = {
    people: [ID], chats: [], history: [], diagnostics: [], settings: [NAME], archive: [], starred: [], assistant: [ID], ask: [ID],
    c: [ID, NUMBER, /^thread$/], l: [TOKEN],
};
/** So many have to follow. */
const REQUIRED = { ask: 1, c: 1, l: 1 };

/** The page of a fragment, `{key, rest}`; undefined if there cannot be one. Without a fragment it is the first page. */
export function pageOf(hash) {
    const [root, key, ...parts] = hash.split("/");
    if (!["", "#"].includes(root)) return undefined;
    if (!key) return parts.some(Boolean) ? undefined : { key: "people", rest: [] };
    const rest = parts.at(-1) === "" ? parts.slice(0, -1) : parts;
    if (!Object.hasOwn(PAGES, key) || rest.length > PAGES[key].length || rest.length < (REQUIRED[key] ?? 0)) return undefined;
    return rest.every((one, index) => PAGES[key][index].test(one)) ? { key, rest } : undefined;
}

/** The call of an address that is no page: whoever opens it answers that call. */
export function callToAnswer(hash) {
    const [root, key, call, ...more] = hash.split("/");
    return root === "#" && key === "answer" && ID.test(call) && more.length === 0 ? call : undefined;
}

/**
 * Where a path leads that is not the page's own: somebody may have left the `#` out. Undefined for the page itself.
 */
export function addressOfPath(pathname, hash) {
    if (pathname === "/") return undefined;
    return pathname === "/index.html" ? `/${hash}` : `/#${pathname}`;
}

/** The number in an address, if there is one. */
export const numberIn = (text) => NUMBER.test(text ?? "") ? Number(text) : undefined;
