// What the operator of the server has disabled: the page is marked with it, and styles hide what needs it, by
// `data-feature`.

import { Emitter } from "../state/emitter.js";
import { serverInfo } from "./api.js";

const root = document.documentElement;

/** What the server says of itself. Event: `change`. */
class Server extends Emitter {
    /** Whether it is known. */
    isKnown = false;
    /** Whether anything there translates messages. */
    translates = false;
    /** Whether anything there turns speech into text. */
    transcribes = false;
    /** Whether messages are found by their meaning. */
    findsMeaning = false;
    /** What translates, transcribes and compares meanings, each `{name, hosted}`. */
    translators = [];
    transcriber;
    embedder;
    /** What rewrites drafts, `{name, hosted}`; undefined without one. */
    languageModel;
    /** Whether that, or anything else there, suggests replies. */
    suggestsReplies = false;
    /** Whether it sends pushes at all, and its key for those to browsers. */
    pushes = false;
    pushKey;

    note({ translates = false, transcribes = false, findsMeaning = false, suggestsReplies = false, translators = [], transcriber, embedder, languageModel, push }) {
        Object.assign(this, { isKnown: true, translates, transcribes, findsMeaning, suggestsReplies, translators, transcriber, embedder, languageModel,
            pushes: push !== undefined, pushKey: push?.web?.publicKey });
        this.emit("change");
    }
}

export const server = new Server();

export async function markFeatures() {
    try {
        const info = await serverInfo();
        const { features = {} } = info;
        server.note(info);
        root.dataset.disabled = Object.keys(features).filter((name) => !features[name]).join(" ");
    } catch { /* Everything is shown, and the server refuses what it has not. */ }
}

export const hasFeature = (name) => !(root.dataset.disabled ?? "").split(" ").includes(name);
