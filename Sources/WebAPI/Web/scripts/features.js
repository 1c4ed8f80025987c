// What the operator of the server has disabled: the page is marked with it, and styles hide what needs it, by
// `data-feature`.

import { serverInfo } from "./api.js";
import { Emitter } from "./emitter.js";

const root = document.documentElement;


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
