// What happened in a conversation, and who is writing, in words.

import { listNodes, t } from "../../language/texts.js";

const SHOWN_NAMES = 3;
const UNITS = [[86_400, "days"], [3_600, "hours"], [60, "minutes"], [1, "seconds"]];

/**
 * The parts of a notice's sentence: texts, and `{name}` of somebody or something. There are none of a kind that is not
 * known, of which nothing is shown.
 */
export function noticeParts({ notice, author }, me, nameOf) {
    if (!notice) return [];
    const isOwn = !notice.server && author === me;
    const by = notice.server ? t("notices.administrator") : { name: nameOf(author) };
    const said = (what, values = {}) => isOwn ? t.rich(`ownNotices.${what}`, values) : t.rich(`notices.${what}`, { by, ...values });
    const people = () => list(notice, (user) => user === me ? t("notices.you") : { name: nameOf(user) });
    switch (notice.kind) {
    case "added": return said("added", { people: people() });
    case "joined": return said(notice.via === "link" ? "joinedByLink" : "joinedByInvitation");
    case "left": return said("left");
    case "removed": return said("removed", { people: people() });
    case "renamed": return notice.name ? said("named", { group: { name: notice.name } }) : said("unnamed");
    case "settings": return said("settings");
    case "role": return said(notice.role === "admin" ? "madeAdmin" : "madeMember", { people: people() });
    case "owner": return ownerParts(notice.users?.[0], me, nameOf);
    case "disappearing": return notice.disappearAfter ? said("disappearing", { time: duration(notice.disappearAfter) }) : said("staying");
    case "pinned": return said("pinned");
    default: return [];
    }
}

/** The same as a text. */
export const noticeText = (message, me, nameOf) => noticeParts(message, me, nameOf).map((part) => part.name ?? part).join("");

/** `7 days`, `90 seconds`. */
export function duration(seconds) {
    const [length, unit] = UNITS.find(([length]) => seconds % length === 0);
    return t(`duration.${unit}`, { count: seconds / length });
}

/** `Ben is typing…`, `Ben and Cem are typing…`; `typing…` beside the name of a conversation of two. */
export function writersText(writers, nameOf, { isDirect = false } = {}) {
    const users = Object.keys(writers);
    if (users.length === 0) return "";
    if (users.length > 2) return t("typing.several");
    const [first, second] = users.map(nameOf);
    if (second !== undefined) return t("typing.two", { first, second });
    const what = writers[users[0]].state === "recording" ? "recording" : "typing";
    return isDirect ? t(`typingHere.${what}`) : t(`typing.${what}`, { name: first });
}

const ownerParts = (user, me, nameOf) => user === me ? [t("ownNotices.owner")] : t.rich("notices.owner", { name: { name: nameOf(user) } });

function list({ users = [], userCount = users.length }, personOf) {
    const shown = users.slice(0, userCount > SHOWN_NAMES ? SHOWN_NAMES - 1 : SHOWN_NAMES).map(personOf);
    const left = userCount - shown.length;
    return listNodes(left > 0 ? [...shown, t("names.others", { count: left })] : shown);
}
