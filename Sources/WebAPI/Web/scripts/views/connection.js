// Banners about the server: it cannot be reached, and it has a newer page.

import { button } from "../dom.js";
import { t } from "../language/texts.js";
import { realtime } from "../realtime.js";
import { updates } from "../updates.js";

/** Why the server cannot be reached. */
export const isolationText = () => (navigator.onLine ? t("connection.reconnecting")
    : t("connection.offline"));

/** Shows the banner after two seconds without the socket. */
export function watchConnection(banner) {
    let timer;
    const showBanner = () => {
        banner.textContent = isolationText();
        banner.hidden = false;
    };
    const watch = (state) => {
        document.documentElement.dataset.realtime = state;
        if (state !== "online") {
            // The state also changes between attempts: the two seconds count from the first loss.
            timer ??= setTimeout(showBanner, 2_000);
            return;
        }
        clearTimeout(timer);
        timer = undefined;
        banner.hidden = true;
    };
    watch(realtime.state);
    return realtime.on("state", watch);
}

/** Offers to load another build of the page. That is the person's to do: a text may be half written. */
export function watchUpdates(banner) {
    const show = () => {
        banner.replaceChildren(...t.rich("connection.newVersion", {
            reload: button({ label: t("connection.reload"), class: "link", data: { action: "reload" }, onclick: () => location.reload() }),
        }));
        banner.hidden = false;
    };
    if (updates.isReady) show();
    return updates.on("ready", show);
}
