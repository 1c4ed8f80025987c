// Banners about the server: it cannot be reached, and it has a newer page.

import { realtime } from "../connection/realtime.js";
import { updates } from "../connection/updates.js";
import { button } from "../elements/dom.js";
import { redraw } from "../elements/keyed.js";
import { t } from "../language/texts.js";
import { storage } from "../store/storage.js";
import { outbox } from "../sync/outbox.js";

/** Why the server cannot be reached. */
export const isolationText = () => (navigator.onLine ? t("connection.reconnecting")
    : t("connection.offline"));

/** What becomes of what is written meanwhile, and how much of that there is. */
function queueText() {
    const { waiting } = outbox;
    return waiting === 0 ? t("connection.sentLater") : `${t("connection.sentLater")} ${t("connection.waiting", { count: waiting })}`;
}

/** Shows the banner after two seconds without the socket. */
export function watchConnection(banner) {
    let timer;
    const showBanner = () => {
        banner.textContent = `${isolationText()} ${queueText()}`;
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
    const unsubscribe = [realtime.on("state", watch), outbox.on("change", () => { if (!banner.hidden) showBanner(); })];
    return () => {
        clearTimeout(timer);
        unsubscribe.forEach((one) => one());
    };
}

/** Says once that this device keeps nothing. */
export function watchStorage(banner) {
    const show = () => {
        const dismiss = button({ label: t("connection.dismiss"), class: "link", data: { action: "dismiss" }, onclick: () => { banner.hidden = true; } });
        redraw(banner, t.rich("connection.noStorage", { dismiss }));
        banner.hidden = false;
    };
    if (storage.hasFailed) show();
    return storage.on("failed", show);
}

/** Offers to load another build of the page. That is the person's to do: a text may be half written. */
export function watchUpdates(banner) {
    const show = () => {
        redraw(banner, t.rich("connection.newVersion", {
            reload: button({ label: t("connection.reload"), class: "link", data: { action: "reload" }, onclick: () => location.reload() }),
        }));
        banner.hidden = false;
    };
    if (updates.isReady) show();
    return updates.on("ready", show);
}
