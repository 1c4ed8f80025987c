// Notifications in the settings: of this browser, while a tab is open and without one, and of all devices of the account.

import { credentials } from "../connection/credentials.js";
import { server } from "../connection/features.js";
import { errorMessage } from "../connection/problems.js";
import { request } from "../connection/requests.js";
import { button, h, toggle } from "../elements/dom.js";
import { redraw } from "../elements/keyed.js";
import { t } from "../language/texts.js";
import { notifications } from "../notifications/notifications.js";
import { push } from "../notifications/push.js";
import { preferences } from "../store/preferences.js";
import { quietHoursPart } from "./settings-quiet-hours.js";
import { report, section } from "./settings-section.js";

const levels = ["full", "name", "none"];

export function notificationsSection() {
    const content = h("div", { class: "setting-group", id: "notification-settings" });
    const closed = pushPart();
    const parts = [levelPart(), quietHoursPart()];
    const account = h("div", { class: "setting-group" }, parts.map(({ node }) => node));
    const preference = (name) => toggle({ id: `setting-${name}`, label: t(`notifySettings.${name}`), hint: t(`notifyHints.${name}`),
        checked: preferences.get(name), onchange: (on) => preferences.set(name, on) });
    let drawn;
    /** What is asked for by a click, and what is shown then. */
    const draw = () => {
        const { permission } = notifications;
        if (permission !== drawn) redraw(content, {
            unsupported: () => [h("p", { class: "hint" }, isInstallable() ? t("notify.install") : t("notify.unsupported"))],
            denied: () => [h("p", { class: "hint" }, t("notify.blocked"))],
            default: () => [button({ name: "bell", label: t("settings.notificationsOn"), class: "soft", data: { action: "turn-on-notifications" },
                onclick: () => notifications.ask() })],
            granted: () => [preference("notifications"), preference("notificationText"), closed.node],
        }[permission]());
        drawn = permission;
        closed.draw();
        account.hidden = !server.pushes;
    };
    draw();
    const unsubscribe = [notifications, push].map((one, index) => one.on(["permission", "change"][index], draw));
    return { node: section("notifications", t("notify.title"), content, account), close: () => [...unsubscribe, ...parts.map(({ close }) => close)].forEach((one) => one()) };
}

/** Whether the browser is reached without a tab. Why it is not is said below. */
function pushPart() {
    const state = h("p", { class: "hint", id: "push-state", role: "status" });
    const choice = toggle({ id: "setting-push", label: t("notifySettings.push"), hint: t("notifyHints.push"), checked: preferences.get("push"),
        onchange: (on) => preferences.set("push", on) });
    const input = choice.querySelector("input");
    const draw = () => {
        // Nothing can be chosen here where there is none.
        input.disabled = ["unsupported", "absent", "temporary"].includes(push.state) || !preferences.get("notifications");
        input.checked = preferences.get("push") && !input.disabled;
        state.dataset.state = push.state;
        const text = push.state === "failed" ? t("pushStates.failed", { reason: errorMessage(push.problem) })
            : push.state === "unknown" ? "" : t(`pushStates.${push.state}`);
        if (state.textContent !== text) state.textContent = text;
    };
    return { node: h("div", { class: "setting-group" }, choice, state), draw };
}

/** What the server sends of the account's messages and calls, to all of its devices. */
function levelPart() {
    const value = credentials.user.notifications ?? "full";
    const input = h("select", { id: "setting-notificationLevel", name: "notificationLevel", "aria-describedby": "notification-level-hint" },
        levels.map((one) => h("option", { value: one, selected: one === value }, t(`notifyLevels.${one}`))));
    let last = value;
    input.addEventListener("change", async () => {
        try {
            credentials.setUser(await request("me.update", { notifications: input.value }));
            last = input.value;
        } catch (error) {
            input.value = last;
            report(error);
        }
    });
    // Another device may have changed it.
    const close = credentials.on("user", (user) => { input.value = last = user.notifications ?? "full"; });
    const node = h("div", { class: "field" }, h("label", { for: "setting-notificationLevel" }, t("notifySettings.level")), input,
        h("p", { class: "hint", id: "notification-level-hint" }, t("notifyHints.level")));
    return { node, close };
}

/** On iPhones and iPads pages have notifications once they are on the home screen. */
const isInstallable = () => navigator.standalone === false;
