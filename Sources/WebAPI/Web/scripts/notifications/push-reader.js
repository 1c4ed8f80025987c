// Tells the service worker who reads in this browser, and in which words and language, for when no page is open.

import { credentials } from "../connection/credentials.js";
import { realtime } from "../connection/realtime.js";
import { language } from "../language/language.js";
import { t } from "../language/texts.js";
import { clockOffset } from "../store/clock.js";
import { preferences } from "../store/preferences.js";
import { eraseReader, writeReader } from "../store/push-reader-store.js";

let work = Promise.resolve();

export function watchReader() {
    language.on("change", tellWorker);
    preferences.on("notificationText", tellWorker);
    // The server has told its time.
    realtime.on("hello", tellWorker);
}

/** In a browser with a sign-in that is kept: others get no pushes. */
export function tellWorker() {
    const user = credentials.keptUser?.id;
    if (!user || !navigator.serviceWorker) return;
    const { lang, dir } = document.documentElement;
    const texts = { accept: t("common.accept"), decline: t("common.decline"), message: t("notify.message"), other: t("notify.otherAccount") };
    next(() => writeReader({ user, texts, hidesText: !preferences.get("notificationText"), lang, dir: dir || "auto", clockOffset: clockOffset() }));
}

/** After the kept sign-in has ended. */
export const forgetReader = () => next(eraseReader);

function next(step) {
    work = work.then(step).catch((error) => console.info("the service worker knows nobody:", error.message));
    return work;
}
