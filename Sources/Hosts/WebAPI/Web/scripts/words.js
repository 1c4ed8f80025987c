// Calls in words: how one ended, how long it took, when it was.

/** Who the other person of a 1:1 call is, and who oneself is. */
export function sides(call, me) {
    const mine = call.participants.find((participant) => participant.user === me);
    const other = call.participants.find((participant) => participant.user !== me);
    return { mine, other, outgoing: call.caller === me };
}

/** What became of a call, for its last screen and for the history: `{outcome, text}`. */
export function ending(call, me) {
    const { mine, other, outgoing } = sides(call, me);
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

/** The sentence under the other person's name while a call goes on. */
export function progress(call) {
    const name = firstName(call.other.displayName);
    switch (call.phase) {
    case "preparing": return "Starting…";
    case "calling": return "Calling…";
    case "ringing": return "Ringing…";
    case "connecting": return "Connecting…";
    case "ended": return call.ending;
    }
    if (call.connection === "reconnecting") return "Reconnecting…";
    if (call.held) return "On hold";
    if (call.heldByOther) return `${name} put you on hold`;
    return call.isPoor ? "Poor connection" : "Connected";
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

/** The time today, `Yesterday, 14:05`, or the date. */
export function whenText(text, now = new Date()) {
    const then = new Date(text);
    const days = Math.round((midnight(now) - midnight(then)) / 86_400_000);
    if (days === 0) return time.format(then);
    return `${days === 1 ? "Yesterday" : day.format(then)}, ${time.format(then)}`;
}

function midnight(date) { return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime(); }

/** `1.2 Mbit/s`, `48 kbit/s`. */
export function rateText(bits) {
    return bits >= 1e6 ? `${(bits / 1e6).toFixed(1)} Mbit/s` : `${Math.round(bits / 1e3)} kbit/s`;
}
