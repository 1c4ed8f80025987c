// Texts about calls: how one ended, how long it took, when it was.

import { serverNow } from "../store/clock.js";
import { format } from "./locale.js";
import { listText, t } from "./texts.js";

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
    case "hung_up": return { outcome: "answered", text: t("ending.ended") };
    case "declined":
        return outgoing ? { outcome: "declined", text: t("announced.declined", { name }) } : { outcome: "declined", text: t("ending.declined") };
    case "cancelled":
        return outgoing ? { outcome: "cancelled", text: t("ending.cancelled") } : { outcome: "missed", text: t("ending.missed") };
    case "missed":
        return outgoing ? { outcome: "unanswered", text: t("ending.noAnswer") } : { outcome: "missed", text: t("ending.missed") };
    case "busy":
        return outgoing ? { outcome: "busy", text: t("ending.busy", { name }) } : { outcome: "missed", text: t("ending.missed") };
    case "unreachable":
        return outgoing ? { outcome: "unanswered", text: t("ending.unreachable", { name }) }
            : { outcome: "missed", text: t("ending.missed") };
    case "replaced":
        return call.answeredAt ? { outcome: "answered", text: t("ending.replaced") }
            : { outcome: outgoing ? "cancelled" : "missed", text: outgoing ? t("ending.replaced") : t("ending.missed") };
    case "setup_timeout": return { outcome: "failed", text: t("ending.notConnected") };
    case "connection_lost": return { outcome: "failed", text: t("ending.lost") };
    case undefined: return { outcome: "live", text: mine?.state === "joined" ? t("ending.inProgress") : t("ending.ringing") };
    default: return { outcome: "failed", text: t("ending.failed") };
    }
}

/** A voice message in one line. */
export function voiceText({ durationMs, transcript }) {
    const length = clockText(Math.max(durationMs, 1_000));
    return transcript?.text ? t("record.voiceWithText", { length, text: transcript.text }) : t("record.voice", { length });
}

/** A call as a message tells it. */
export function recordText(record, me) {
    const mine = record.participants.find((one) => one.user === me);
    const what = record.state === "ringing" || record.state === "active" ? record.state
        : mine?.state === "missed" || mine?.state === "busy" ? "missed"
            : record.duration !== undefined ? "length"
                : mine?.state === "declined" || record.reason === "declined" ? "declined"
                    : record.participants.length > 0 ? "unanswered" : "plain";
    const values = { length: lengthText((record.duration ?? 0) * 1000) };
    return record.kind === "video" ? t(`videoCallRecord.${what}`, values) : t(`callRecord.${what}`, values);
}

/** A group call ends differently for each participant. */
function groupEnding(call, mine, outgoing) {
    if (call.status !== "ended" && mine?.state === "joined") return { outcome: "live", text: t("ending.inProgress") };
    switch (mine?.state) {
    case "declined": return { outcome: "declined", text: t("ending.declined") };
    case "missed": case "busy": case "unreachable": return { outcome: "missed", text: t("ending.missed") };
    case "invited": case "ringing": return { outcome: "live", text: t("ending.ringing") };
    }
    if (mine?.reason === "connection_lost") return { outcome: "failed", text: t("ending.lost") };
    if (mine?.reason === "setup_timeout" || call.endReason === "failed") return { outcome: "failed", text: t("ending.notConnected") };
    if (call.answeredAt || mine?.state === "left" && !outgoing) return { outcome: "answered", text: t("ending.ended") };
    return { outcome: call.endReason === "cancelled" ? "cancelled" : "unanswered",
        text: call.endReason === "cancelled" ? t("ending.cancelled") : t("ending.nobodyAnswered") };
}

/** The status line during a call. */
export function progress(call) {
    switch (call.phase) {
    case "preparing": return t("progress.starting");
    case "calling": return t("progress.calling");
    case "ringing": return t("progress.ringing");
    case "connecting": return t("progress.connecting");
    case "ended": return call.ending;
    }
    if (call.connection === "reconnecting") return t("progress.reconnecting");
    if (call.held) return t("progress.onHold");
    if (call.heldByOther) return t("progress.heldBy", { name: firstName(call.other.displayName) });
    if (call.isPoor) return t("progress.poor");
    return call.isGroup ? participantCountText(call.people) : t("progress.connected");
}

function participantCountText(people) {
    const count = people.filter((one) => one.state === "joined").length;
    return count < 2 ? t("progress.alone") : t("progress.people", { count });
}

/** The names for a heading: `Ben Brook`, `Ben and Cem`, `Ben, Cem and 3 others`. */
export function namesOf(people) {
    if (people.length === 1) return people[0].displayName;
    const names = people.map((one) => firstName(one.displayName));
    if (names.length === 0) return t("people.groupCall");
    return listText(names.length <= 3 ? names : [names[0], names[1], t("names.others", { count: names.length - 2 })]);
}

/** Why the local user is out of a call that continues. */
export function departure(mine) {
    switch (mine?.reason) {
    case "connection_lost": return t("ending.lost");
    case "setup_timeout": return t("ending.notConnected");
    case "removed": return t("ending.removedFromGroup");
    default: return t("ending.ended");
    }
}

const absent = ["invited", "ringing", "left", "declined", "busy", "missed", "unreachable"];

/** The state of a participant who has not joined. */
export function presenceInCall({ state }) {
    return absent.includes(state) ? t(`participant.${state}`) : undefined;
}

export const firstName = (name) => name?.split(/\s+/)[0] || t("common.otherPerson");

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
    if (seconds < 60) return t("length.seconds", { count: seconds });
    const minutes = Math.round(seconds / 60);
    return minutes < 60 ? t("length.minutes", { count: minutes }) : t("length.hours", { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}

const time = { hour: "2-digit", minute: "2-digit" };
const day = { weekday: "short", day: "numeric", month: "short" };
const longDay = { weekday: "long", day: "numeric", month: "long" };
const datedDay = { day: "numeric", month: "long", year: "numeric" };
const shortDay = { day: "numeric", month: "short" };
const dateText = (date, options) => format(Intl.DateTimeFormat, options).format(date);

/** The time today, `Yesterday, 14:05`, or the date. */
export function whenText(text, now = new Date(serverNow())) {
    const then = new Date(text);
    const days = Math.round((midnight(now) - midnight(then)) / 86_400_000);
    if (days === 0) return dateText(then, time);
    return t("days.at", { day: days === 1 ? t("days.yesterday") : dateText(then, day), time: dateText(then, time) });
}

/** The time of the day. */
export const timeText = (text) => dateText(new Date(text), time);

/** The date and the time, whenever it is read. */
export const stampText = (text) => dateText(new Date(text), { dateStyle: "medium", timeStyle: "short" });

/** `Today`, `Yesterday`, or the date. */
export function dayText(text, now = new Date(serverNow())) {
    const then = new Date(text);
    const days = Math.round((midnight(now) - midnight(then)) / 86_400_000);
    if (days === 0 || days === 1) return days === 0 ? t("days.today") : t("days.yesterday");
    return dateText(then, then.getFullYear() === now.getFullYear() ? longDay : datedDay);
}

/** In a narrow list: the time today, `Yesterday`, or the date. */
export function shortWhenText(text, now = new Date(serverNow())) {
    const then = new Date(text);
    const days = Math.round((midnight(now) - midnight(then)) / 86_400_000);
    if (days === 0) return dateText(then, time);
    return days === 1 ? t("days.yesterday") : dateText(then, shortDay);
}

function midnight(date) { return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime(); }

/** `1.2 Mbit/s`, `48 kbit/s`. */
export function rateText(bits) {
    return bits >= 1e6 ? t("rate.mega", { rate: numberText(bits / 1e6, 1) }) : t("rate.kilo", { rate: Math.round(bits / 1e3) });
}

/** `48 ms`; with digits after the point if so many are asked for. */
export const millisecondsText = (value, digits = 0) => t("length.milliseconds", { time: numberText(value, digits) });

/** A number with so many digits after the point. */
export const numberText = (value, digits = 0) => format(Intl.NumberFormat, { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false }).format(value);
