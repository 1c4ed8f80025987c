// The lists in the settings: devices with their sessions, and blocked people.

import { realtime } from "../connection/realtime.js";
import { request } from "../connection/requests.js";
import { attempt } from "../elements/attempt.js";
import { avatar } from "../elements/avatar.js";
import { ask } from "../elements/dialogs.js";
import { busy, button, h, icon, toast } from "../elements/dom.js";
import { redraw } from "../elements/keyed.js";
import { whenText } from "../language/format.js";
import { t } from "../language/texts.js";
import { friends } from "../sync/friends.js";
import { names } from "../sync/known-names.js";
import { report, section } from "./settings-section.js";

/** A device is an installation with sign-ins; its sessions are listed under it. `{node, close}`. */
export function devicesSection() {
    const list = h("ul", { class: "rows flat", id: "devices" });
    const load = async () => {
        const [{ devices }, { sessions }] = await Promise.all([request("devices.list"), request("sessions.list")]);
        redraw(list, devices.map((device) =>
            deviceRow(device, sessions.filter((session) => session.device?.id === device.id), load)));
    };
    let hasFailed = false;
    const begin = async () => { hasFailed = !await attempt(load); };
    begin();
    return {
        node: section("devices", t("devices.title"), h("p", { class: "hint" }, t("settings.devicesHint")), list),
        close: realtime.on("state", (now) => { if (now === "online" && hasFailed) begin(); }),
    };
}

function deviceRow(device, sessions, reload) {
    const current = device.current || sessions.some((session) => session.current);
    const seen = current ? t("settings.thisDevice") : device.lastSeenAt ? t("settings.lastUsed", { time: whenText(device.lastSeenAt) }) : "";
    // The sessions come in the order of their last use.
    const state = [seen, clientText(sessions.find((session) => session.client))].filter(Boolean).join(" · ");
    const revoke = (event) => busy(event.target.closest("button"), async () => {
        if (!await ask({ title: t("settings.signOutDeviceSure", { name: device.name }), choices: [{ value: true, label: t("settings.signOut") }], danger: true })) return;
        // What could not be signed out may be so already.
        if (await attempt(request("devices.revoke", { device: device.id }))) toast(t("settings.deviceIsSignedOut", { name: device.name }));
        await reload();
    }, report);
    return h("li", { class: "row", data: { device: device.id, current: String(Boolean(current)) } },
        h("div", { class: "who" }, h("span", { class: "badge" }, icon("device")),
            h("span", { class: "name" }, device.name, h("span", { class: "state" }, state),
                sessions.filter((session) => !session.current).length > 0 && sessions.length > 1
                    && sessionList(sessions, reload))),
        !current && button({ label: t("settings.signOut"), class: "small quiet danger-text", data: { action: "revoke-device" },
            "aria-label": t("settings.signOutDevice", { name: device.name }), onclick: revoke }));
}

/** The program that last connected with a session, as it named itself. */
function clientText(session) {
    return session?.client ? `${session.client.name} ${session.client.version}` : "";
}

function sessionList(sessions, reload) {
    return h("details", { class: "sessions" }, h("summary", {}, t("settings.sessions", { count: sessions.length })),
        h("ul", {}, sessions.map((session) => h("li", { data: { session: session.id } },
            h("span", {}, [session.current ? t("settings.thisSession") : t("settings.since", { time: whenText(session.createdAt) }), clientText(session)]
                .filter(Boolean).join(" · ")),
            !session.current && button({ label: t("settings.endSession"), class: "link", data: { action: "revoke-session" },
                onclick: (event) => busy(event.target.closest("button"), async () => {
                    await attempt(request("sessions.revoke", { session: session.id }));
                    await reload();
                }, report) })))));
}

/** Who they are is asked for; who is one, and what waits to be sent, is known without. `{node, close}`. */
export function blockedSection() {
    const list = h("ul", { class: "rows flat", id: "blocked" });
    const nobody = h("p", { class: "hint" }, t("settings.nobodyBlocked"));
    let people = new Map();
    const personOf = (id) => people.get(id) ?? { id, displayName: names.of(id) ?? t("common.somebody") };
    const draw = () => {
        const users = [...friends.blocked].map(personOf);
        nobody.hidden = users.length > 0;
        redraw(list, users.map((user) => h("li", { class: "row", data: { user: user.id } },
            h("div", { class: "who" }, avatar(user), h("span", { class: "name" }, user.displayName)),
            button({ label: t("common.unblock"), class: "small quiet", data: { action: "unblock" },
                "aria-label": t("settings.unblockName", { name: user.displayName }), onclick: () => friends.unblock(user.id) }))));
    };
    const load = async () => {
        const { users } = await request("blocks.list");
        people = new Map(users.map((one) => [one.id, one]));
        draw();
    };
    const follow = () => {
        draw();
        if ([...friends.blocked].some((id) => !people.has(id))) load().catch(() => {});
    };
    draw();
    load().catch(report);
    return { node: section("blocked-people", t("settings.blockedPeople"), nobody, list), close: friends.on("change", follow) };
}
