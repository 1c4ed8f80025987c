// The words of notices: what happened in a conversation. Pure: parts are texts, and `{name}` of somebody or something.

const SHOWN_NAMES = 3;
const UNITS = [[86_400, "day"], [3_600, "hour"], [60, "minute"], [1, "second"]];

/** The parts of a notice's sentence; none of a kind that is not known, of which nothing is shown. */
export function noticeParts({ notice, author }, me, nameOf) {
    if (!notice) return [];
    const person = (user, own = "you") => user === me ? own : { name: nameOf(user) };
    const by = notice.server ? "An administrator" : person(author, "You");
    switch (notice.kind) {
    case "added": return [by, " added ", ...list(notice, person), "."];
    case "joined": return [by, notice.via === "link" ? " joined by a link." : " joined by invitation."];
    case "left": return [by, " left."];
    case "removed": return [by, " removed ", ...list(notice, person), "."];
    case "renamed": return notice.name ? [by, " named the group ", { name: notice.name }, "."] : [by, " removed the group’s name."];
    case "settings": return [by, " changed the settings of the group."];
    case "role": return [by, " made ", ...list(notice, person), notice.role === "admin" ? " an administrator." : " a member."];
    case "owner": return owner(notice, person);
    case "disappearing": return notice.disappearAfter
        ? [by, ` set messages to disappear after ${duration(notice.disappearAfter)}.`] : [by, " turned disappearing messages off."];
    case "pinned": return [by, " pinned a message."];
    default: return [];
    }
}

/** The same as a text. */
export const noticeText = (message, me, nameOf) => noticeParts(message, me, nameOf).map((part) => part.name ?? part).join("");

export function duration(seconds) {
    const [length, unit] = UNITS.find(([length]) => seconds % length === 0);
    const count = seconds / length;
    return count === 1 ? `1 ${unit}` : `${count} ${unit}s`;
}

function owner(notice, person) {
    const [user] = notice.users ?? [];
    const next = person(user, "You");
    return next === "You" ? ["You own the group now."] : [next, " owns the group now."];
}

function list({ users = [], userCount = users.length }, person) {
    const shown = users.slice(0, userCount > SHOWN_NAMES ? SHOWN_NAMES - 1 : SHOWN_NAMES).map((user) => person(user));
    const left = userCount - shown.length;
    const all = left > 0 ? [...shown, left === 1 ? "1 other" : `${left} others`] : shown;
    return all.flatMap((part, index) => index === 0 ? [part] : [index === all.length - 1 ? " and " : ", ", part]);
}
