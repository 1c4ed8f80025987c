// The sound of voice messages before it is sent, and what the server allows.

import { authorized, serverInfo } from "../connection/api.js";
import { randomID } from "../connection/identity.js";
import { request, withRetries } from "../connection/requests.js";
import { storage } from "../store/storage.js";

const RETRY_TIMEOUT = 60_000;
const UPLOAD_TIMEOUT = 120_000;
let limits;

/** The maximum length and size of a message, and whether one can be recorded on the server. */
export async function voiceLimits() {
    if (limits) return limits;
    try {
        limits = (await serverInfo()).voice;
        storage.cache.saveValue("voice", limits);
    } catch (error) {
        // As they were when the server could be reached.
        limits = await storage.cache.value("voice");
        if (!limits) throw error;
    }
    return limits;
}

/** Uploads an audio file, with retries for that long, and returns what the server made of it, which can be sent. */
export async function uploadVoice(blob, clientID = randomID(), retryTimeout = RETRY_TIMEOUT) {
    const file = typed(blob);
    const upload = () => authorized("POST", `/v1/voice-files?${new URLSearchParams({ clientID })}`, file, { timeout: UPLOAD_TIMEOUT });
    return (await withRetries(upload, retryTimeout)).file;
}

const typed = (blob) => new Blob([blob], { type: /webm|matroska/.test(blob.type) ? "audio/webm" : "audio/ogg" });

/** What is said in a recording, `{file}` or `{blob}`, as text. A file of the server is discarded then. */
export async function dictated({ file, blob }) {
    if (!file) return (await authorized("POST", "/v1/dictation", typed(blob), { timeout: UPLOAD_TIMEOUT })).text;
    const { text } = await authorized("POST", `/v1/voice-files/${file}/dictation`, {}, { timeout: UPLOAD_TIMEOUT });
    discardVoice({ file });
    return text;
}

/** Removes what the server has of a recording. Nobody has to wait for it: it is removed in any case after a day. */
export function discardVoice({ file }) { if (file) request("voice.discard", { file }).catch(() => {}); }

/** What can be sent of a chosen file: `{file}`, or the `{blob}` if the server cannot be reached. Throws if it is refused. */
export async function voiceFile(blob) {
    try {
        return { file: (await uploadVoice(blob, randomID(), 0)).id };
    } catch (error) {
        if (!error.isTransient) throw error;
        return { blob };
    }
}
