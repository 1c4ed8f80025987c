// Every request to the server by its realtime name.
//
// A request has the same meaning over the socket and over REST. It goes over the socket when that is up, since there
// its result follows the changes it caused, and over REST otherwise. When the connection breaks in between, the same
// request with the same client id is sent again: the server responds to a repeat with the first result.

import { authorized } from "./api.js";
import { Problem } from "./problems.js";
import { realtime } from "./realtime.js";

const post = (verb) => ["POST", `/v1/calls/{call}/${verb}`];

const conversation = (method, rest = "") => [method, `/v1/conversations/{conversation}${rest}`];
const message = (method, rest = "") => conversation(method, `/messages/{number}${rest}`);

const routes = {
    "calls.create": ["POST", "/v1/calls"],
    "calls.list": ["GET", "/v1/calls"],
    "calls.get": ["GET", "/v1/calls/{call}"],
    "calls.ringing": post("ringing"),
    "calls.accept": post("accept"),
    "calls.decline": post("decline"),
    "calls.cancel": post("cancel"),
    "calls.end": post("end"),
    "calls.leave": post("leave"),
    "calls.invite": post("invite"),
    "calls.leg": post("leg"),
    "calls.slots": ["PATCH", "/v1/calls/{call}/leg"],
    "calls.record": post("recording"),
    "calls.stopRecording": ["DELETE", "/v1/calls/{call}/recording"],
    "calls.caption": post("captions"),
    "calls.stopCaptions": ["DELETE", "/v1/calls/{call}/captions"],
    "calls.recordings": ["GET", "/v1/calls/{call}/recordings"],
    "recordings.transcript": ["GET", "/v1/recordings/{recording}/transcript"],
    "recordings.transcribe": ["POST", "/v1/recordings/{recording}/transcript"],
    "recordings.translateTranscript": ["POST", "/v1/recordings/{recording}/transcript/translations"],
    "recordings.get": ["GET", "/v1/recordings/{recording}"],
    "recordings.mix": ["POST", "/v1/recordings/{recording}/mix"],
    "recordings.remove": ["DELETE", "/v1/recordings/{recording}"],
    "calls.signals": post("signals"),
    "calls.connected": post("connected"),
    "calls.alive": post("alive"),
    "calls.quality": post("quality"),
    "calls.media": ["PATCH", "/v1/calls/{call}/participants/me"],
    "iceServers.get": ["GET", "/v1/ice-servers"],
    "me.get": ["GET", "/v1/me"],
    "me.update": ["PATCH", "/v1/me"],
    "me.password": ["POST", "/v1/me/password"],
    "me.makeLink": ["POST", "/v1/me/link"],
    "me.removeLink": ["DELETE", "/v1/me/link"],
    "push.register": ["PUT", "/v1/me/device/push"],
    "push.unregister": ["DELETE", "/v1/me/device/push"],
    "users.search": ["GET", "/v1/users"],
    "users.get": ["GET", "/v1/users/{user}"],
    "friends.list": ["GET", "/v1/friends"],
    "friends.request": ["POST", "/v1/friends"],
    "friends.accept": ["POST", "/v1/friends/{user}/accept"],
    "friends.decline": ["POST", "/v1/friends/{user}/decline"],
    "friends.remove": ["DELETE", "/v1/friends/{user}"],
    "reports.create": ["POST", "/v1/reports"],
    "blocks.list": ["GET", "/v1/blocks"],
    "blocks.add": ["PUT", "/v1/blocks/{user}"],
    "blocks.remove": ["DELETE", "/v1/blocks/{user}"],
    "sessions.list": ["GET", "/v1/sessions"],
    "sessions.revoke": ["DELETE", "/v1/sessions/{session}"],
    "devices.list": ["GET", "/v1/devices"],
    "devices.revoke": ["DELETE", "/v1/devices/{device}"],
    "inbox.list": ["GET", "/v1/inbox"],
    "conversations.create": ["POST", "/v1/conversations"],
    "conversations.get": conversation("GET"),
    "conversations.update": conversation("PATCH"),
    "conversations.delete": conversation("DELETE"),
    "conversations.clear": conversation("POST", "/clear?upTo={upTo}"),
    "conversations.mark": conversation("POST", "/marks"),
    "conversations.handOver": conversation("POST", "/owner"),
    "members.add": conversation("POST", "/members"),
    "members.list": conversation("GET", "/members"),
    "members.update": conversation("PATCH", "/members/{user}"),
    "members.remove": conversation("DELETE", "/members/{user}"),
    "members.updateMe": conversation("PATCH", "/members/me"),
    "members.leave": conversation("DELETE", "/members/me"),
    "members.accept": conversation("POST", "/members/me/accept"),
    "members.decline": conversation("POST", "/members/me/decline"),
    "links.get": ["GET", "/v1/links/{token}"],
    "links.join": ["POST", "/v1/links/{token}"],
    "links.list": conversation("GET", "/links"),
    "links.create": conversation("POST", "/links"),
    "links.remove": conversation("DELETE", "/links/{link}"),
    "priority.list": ["GET", "/v1/priority"],
    "messages.search": ["GET", "/v1/search"],
    "messages.starred": ["GET", "/v1/starred"],
    "messages.send": conversation("POST", "/messages"),
    "messages.list": conversation("GET", "/messages"),
    "messages.get": message("GET"),
    "messages.edit": message("PATCH"),
    "messages.delete": message("DELETE"),
    "messages.setLanguage": message("PUT", "/language"),
    "messages.edits": message("GET", "/edits"),
    "messages.receipts": message("GET", "/receipts"),
    "messages.pin": message("PUT", "/pin"),
    "messages.unpin": message("DELETE", "/pin"),
    "messages.star": message("PUT", "/star"),
    "messages.unstar": message("DELETE", "/star"),
    "messages.audio": message("GET", "/audio"),
    "messages.listen": message("PUT", "/listened"),
    "messages.transcribe": message("POST", "/transcript"),
    "messages.reactions": message("GET", "/reactions"),
    "messages.react": message("PUT", "/reactions/{emoji}"),
    "messages.removeReaction": message("DELETE", "/reactions/{emoji}"),
    "scheduled.list": conversation("GET", "/scheduled"),
    "scheduled.update": conversation("PATCH", "/scheduled/{clientID}"),
    "scheduled.delete": conversation("DELETE", "/scheduled/{clientID}"),
    "glossary.get": conversation("GET", "/glossary"),
    "glossary.set": conversation("PUT", "/glossary"),
    "translations.request": conversation("POST", "/translations"),
    "hints.request": message("POST", "/hints"),
    "replies.suggest": message("POST", "/replies"),
    "summaries.create": conversation("POST", "/summaries"),
    "drafts.check": conversation("POST", "/drafts/check"),
    "drafts.rewrite": conversation("POST", "/drafts/rewrite"),
    "assistant.ask": ["POST", "/v1/assistant"],
    "assistant.cancel": ["POST", "/v1/assistant/runs/{run}/cancel"],
    "assistant.threads": ["GET", "/v1/assistant/threads"],
    "assistant.thread": ["GET", "/v1/assistant/threads/{thread}"],
    "assistant.run": ["GET", "/v1/assistant/runs/{run}"],
    "assistant.eraseThread": ["DELETE", "/v1/assistant/threads/{thread}"],
    "assistant.eraseRun": ["DELETE", "/v1/assistant/runs/{run}"],
    "typing.note": conversation("POST", "/typing"),
    "voice.discard": ["DELETE", "/v1/voice-files/{file}"],
    "voice.record": ["POST", "/v1/voice-recordings"],
    "voice.finishRecording": ["POST", "/v1/voice-recordings/{recording}/finish"],
    "voice.discardRecording": ["DELETE", "/v1/voice-recordings/{recording}"],
};

/**
 * Sends a request, with retries after transient errors, for at most `timeout` milliseconds; `attempt` were made before.
 * What is not wanted any more when it fails, such as a search for fewer words, is not sent again.
 */
export function request(name, params = {}, { timeout = 15_000, attempt: before = 0, isWanted } = {}) {
    return withRetries((attempt) => sendOnce(name, params, before + attempt), timeout, isWanted);
}

/** Does `work` until it succeeds, is rejected or not wanted any more, or `timeout` milliseconds have passed. */
export async function withRetries(work, timeout, isWanted = () => true) {
    const end = Date.now() + timeout;
    for (let attempt = 0; ; attempt += 1) {
        try {
            return await work(attempt);
        } catch (error) {
            const pause = error.retryAfter ?? Math.min(300 * 2 ** attempt, 3_000) * (0.6 + 0.4 * Math.random());
            if (!(error instanceof Problem) || !error.isTransient || Date.now() + pause > end) throw error;
            await new Promise((resolve) => setTimeout(resolve, pause));
            if (!isWanted()) throw error;
        }
    }
}

/** The response depends on the host of the request, which only REST carries. */
const restOnly = new Set(["iceServers.get"]);

/** The first attempt uses the socket; retries alternate between REST and the socket. */
function sendOnce(name, params, attempt) {
    if (realtime.isOnline && attempt % 2 === 0 && !restOnly.has(name)) return realtime.request(name, params);
    return sendOverREST(name, params);
}

/** Sends a request once, over REST, for what takes longer than others and costs something. */
export const requestOnce = (name, params, timeout) => sendOverREST(name, params, { timeout });

function sendOverREST(name, params, options) {
    const [method, pattern] = routes[name];
    const body = { ...params };
    const path = pattern.replace(/\{(\w+)\}/g, (_, key) => {
        const value = encodeURIComponent(body[key]);
        delete body[key];
        return value;
    });
    if (method !== "GET" && method !== "DELETE") return authorized(method, path, body, options);
    const query = new URLSearchParams(body).toString();
    return authorized(method, query ? `${path}?${query}` : path, undefined, options);
}
