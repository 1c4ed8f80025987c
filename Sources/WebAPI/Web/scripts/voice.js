// The sound of voice messages before it is sent, and what the server allows.

import { authorized, serverInfo } from "./api.js";
import { randomID } from "./identity.js";
import { withRetries } from "./requests.js";

const RETRY_TIMEOUT = 60_000;
const UPLOAD_TIMEOUT = 120_000;
let limits;

/** The maximum length and size of a message, and whether one can be recorded on the server. */
export async function voiceLimits() {
    limits ??= (await serverInfo()).voice;
    return limits;
}

/** Uploads an audio file, with retries, and returns what the server made of it, which can be sent. */
export async function uploadVoice(blob, clientID = randomID()) {
    const file = new Blob([blob], { type: /webm|matroska/.test(blob.type) ? "audio/webm" : "audio/ogg" });
    const upload = () => authorized("POST", `/v1/voice-files?${new URLSearchParams({ clientID })}`, file, { timeout: UPLOAD_TIMEOUT });
    return (await withRetries(upload, RETRY_TIMEOUT)).file;
}
