// The request that an entry of the queue is.

import { request } from "../connection/requests.js";
import * as queue from "../state/outbox-entries.js";
import { uploadVoice } from "../voice/voice-files.js";

/** Sends it once; so many have failed before. Resolves to the result. */
export async function execute({ clientID, conversation, name, params, blob }, failures) {
    const once = { timeout: 0, attempt: failures };
    if (name !== queue.MESSAGE) {
        return request(name, { ...(conversation && { conversation }), ...params, ...(name === "friends.request" && { clientID }) }, once);
    }
    // The upload of a sound and its message have the same client id.
    const message = blob ? { ...params, file: (await uploadVoice(blob, clientID, 0)).id } : params;
    return request(name, { conversation, ...queue.sendBody({ clientID, ...message }) }, once);
}
