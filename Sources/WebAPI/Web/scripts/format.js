// Texts about calls: how one ended, how long it took, when it was.

/** The other participant of a 1:1 call, and the local user. */
export function sides(call, me) {
    const mine = call.participants.find((participant) => participant.user === me);
    const other = call.participants.find((participant) => participant.user !== me);
    return { mine, other, outgoing: call.caller === me };
}

/** Everybody in the call but the local user. */
export const othersOf = (call, me) => call.participants.filter((participant) => participant.user !== me);

/** How a call ended, for its last screen and for the history: `{outcome, text}`. */
export function ending(call, me) {
    const { mine, other, outgoing } = sides(call, me);
    if (call.open || call.participants.length > 2) return groupEnding(call, mine, outgoing);
    const name = firstName(other?.displayName);
    switch (call.endReason) {
    case "hung_up": return { outcome: "answered", text: "Call ended" };
    case "declined":
        return outgoing ? { outcome: "declined", text: `${name} declined` } : { outcome: "declined", text: "Declined" };
    case "cancelled":
        return outgoing ? { outcome: "cancelled", text: "Cancelled" } : { outcome: "missed", text: "Missed" };
    case "missed":
        return outgoing ? { outcome: "unanswered", text: "No answer" } : { outcome: "missed", text: "Missed" };
    case "busy":
        return outgoing ? { outcome: "busy", text: `${name} is in another call` } : { outcome: "missed", text: "Missed" };
    case "unreachable":
        return outgoing ? { outcome: "unanswered", text: `${name} can’t be reached right now` }
            : { outcome: "missed", text: "Missed" };
    case "replaced":
        return call.answeredAt ? { outcome: "answered", text: "Replaced by a new call" }
            : { outcome: outgoing ? "cancelled" : "missed", text: outgoing ? "Replaced by a new call" : "Missed" };
    case "setup_timeout": return { outcome: "failed", text: "Couldn’t connect" };
    case "connection_lost": return { outcome: "failed", text: "Connection lost" };
    case undefined: return { outcome: "live", text: mine?.state === "joined" ? "In progress" : "Ringing" };
    default: return { outcome: "failed", text: "Call failed" };
    }
}

/** A voice message in one line. */
export const voiceText = ({ durationMs, transcript }) =>
    `Voice message, ${clockText(Math.max(durationMs, 1_000))}${transcript?.text ? `: ${transcript.text}` : ""}`;

/** A call as a message tells it. */
export function recordText(record, me) {
    const what = record.kind === "video" ? "Video call" : "Call";
    if (record.state === "ringing") return `${what}, ringing`;
    if (record.state === "active") return `${what} in progress`;
    const mine = record.participants.find((one) => one.user === me);
    if (mine?.state === "missed" || mine?.state === "busy") return `Missed ${what.toLowerCase()}`;
    if (record.duration !== undefined) return `${what}, ${lengthText(record.duration * 1000)}`;
    if (mine?.state === "declined" || record.reason === "declined") return `${what}, declined`;
    return record.participants.length > 0 ? `${what}, no answer` : what;
}

/** A group call ends differently for each participant. */
function groupEnding(call, mine, outgoing) {
    if (call.status !== "ended" && mine?.state === "joined") return { outcome: "live", text: "In progress" };
    switch (mine?.state) {
    case "declined": return { outcome: "declined", text: "Declined" };
    case "missed": case "busy": case "unreachable": return { outcome: "missed", text: "Missed" };
    case "invited": case "ringing": return { outcome: "live", text: "Ringing" };
    }
    if (mine?.reason === "connection_lost") return { outcome: "failed", text: "Connection lost" };
    if (mine?.reason === "setup_timeout" || call.endReason === "failed") return { outcome: "failed", text: "Couldn’t connect" };
    if (call.answeredAt || mine?.state === "left" && !outgoing) return { outcome: "answered", text: "Call ended" };
    return { outcome: call.endReason === "cancelled" ? "cancelled" : "unanswered",
        text: call.endReason === "cancelled" ? "Cancelled" : "Nobody answered" };
}

/** The status line during a call. */
export function progress(call) {
    switch (call.phase) {
    case "preparing": return "Starting…";
    case "calling": return "Calling…";
    case "ringing": return "Ringing…";
    case "connecting": return "Connecting…";
    case "ended": return call.ending;
    }
    if (call.connection === "reconnecting") return "Reconnecting…";
    if (call.held) return "On hold";
    if (call.heldByOther) return `${firstName(call.other.displayName)} put you on hold`;
    if (call.isPoor) return "Poor connection";
    return call.isGroup ? participantCountText(call.people) : "Connected";
}

function participantCountText(people) {
    const count = people.filter((one) => one.state === "joined").length;
    return count < 2 ? "Nobody else is here" : `${count} people`;
}

/** The names for a heading: `Ben Brook`, `Ben and Cem`, `Ben, Cem and 3 others`. */
export function namesOf(people) {
    if (people.length === 1) return people[0].displayName;
    const names = people.map((one) => firstName(one.displayName));
    if (names.length === 2) return names.join(" and ");
    if (names.length === 3) return `${names[0]}, ${names[1]} and ${names[2]}`;
    return names.length === 0 ? "Group call" : `${names[0]}, ${names[1]} and ${names.length - 2} others`;
}

/** Why the local user is out of a call that continues. */
export function departure(mine) {
    switch (mine?.reason) {
    case "connection_lost": return "Connection lost";
    case "setup_timeout": return "Couldn’t connect";
    case "removed": return "You are not in this group any more";
    default: return "Call ended";
    }
}

/** The state of a participant who has not joined. */
export function presenceInCall({ state }) {
    return { invited: "Calling…", ringing: "Ringing…", left: "Left", declined: "Declined", busy: "In another call",
        missed: "No answer", unreachable: "Can’t be reached" }[state];
}

export const firstName = (name) => name?.split(/\s+/)[0] || "The other person";

/** Two letters for an avatar. */
export function initials(name) {
    const parts = (name ?? "").trim().split(/\s+/).filter(Boolean);
    const letters = parts.length > 1 ? [parts[0], parts.at(-1)] : parts;
    return letters.map((part) => [...part][0]).join("").toUpperCase() || "?";
}

/** `1:05`, `1:02:09`. */
export function clockText(milliseconds) {
    const total = Math.max(0, Math.floor(milliseconds / 1000));
    const [hours, minutes, seconds] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
    const two = (value) => String(value).padStart(2, "0");
    return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

/** `45 s`, `12 min`, `1 h 4 min`. */
export function lengthText(milliseconds) {
    const seconds = Math.max(0, Math.round(milliseconds / 1000));
    if (seconds < 60) return `${seconds} s`;
    const minutes = Math.round(seconds / 60);
    return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short" });
const longDay = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const datedDay = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long", year: "numeric" });
const shortDay = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

/** The time today, `Yesterday, 14:05`, or the date. */
export function whenText(text, now = new Date()) {
    const then = new Date(text);
    const days = Math.round((midnight(now) - midnight(then)) / 86_400_000);
    if (days === 0) return time.format(then);
    return `${days === 1 ? "Yesterday" : day.format(then)}, ${time.format(then)}`;
}

/** The time of the day. */
export const timeText = (text) => time.format(new Date(text));

/** `Today`, `Yesterday`, or the date. */
export function dayText(text, now = new Date()) {
    const then = new Date(text);
    const days = Math.round((midnight(now) - midnight(then)) / 86_400_000);
    if (days === 0 || days === 1) return days === 0 ? "Today" : "Yesterday";
    return (then.getFullYear() === now.getFullYear() ? longDay : datedDay).format(then);
}

/** In a narrow list: the time today, `Yesterday`, or the date. */
export function shortWhenText(text, now = new Date()) {
    const then = new Date(text);
    const days = Math.round((midnight(now) - midnight(then)) / 86_400_000);
    if (days === 0) return time.format(then);
    return days === 1 ? "Yesterday" : shortDay.format(then);
}

function midnight(date) { return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime(); }

/** `1.2 Mbit/s`, `48 kbit/s`. */
export function rateText(bits) {
    return bits >= 1e6 ? `${(bits / 1e6).toFixed(1)} Mbit/s` : `${Math.round(bits / 1e3)} kbit/s`;
}
