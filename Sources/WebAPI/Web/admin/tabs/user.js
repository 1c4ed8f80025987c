// One user: profile, sessions, devices, registrations for pushes, and what can be done.

import { busy, h, toast } from "../../scripts/elements/dom.js";
import { kindName } from "../push-services.js";
import { get, request } from "../session.js";
import { confirm, facts, fail, heading, table, time } from "../widgets.js";
import { statePill, userActions } from "./user-actions.js";

export function openUser(root, id) {
    const path = `/admin/v1/users/${encodeURIComponent(id)}`;
    const content = h("div", { class: "stack" }, h("p", { class: "hint" }, "Loading…"));
    root.append(h("p", { class: "back" }, h("a", { href: "#/users" }, "All users")), content);

    async function load() {
        try {
            show(await get(path));
        } catch (error) {
            content.replaceChildren(heading("User"), h("p", { class: "form-error", role: "alert" }, error.message));
        }
    }

    function show({ user, devices, sessions, pushes }) {
        const names = new Map(devices.map((device) => [device.id, device.name]));
        content.replaceChildren(
            heading(h("bdi", {}, user.displayName), statePill(user)),
            h("section", { class: "card", "aria-label": "Profile" }, facts([
                ["Id", h("code", {}, user.id)],
                ["App’s id", user.ext ? h("code", {}, `ext:${user.ext}`) : "–"],
                ["E-mail", user.email ?? "–"],
                ["Languages", user.languages.join(", ") || "–"],
                ["Created", time(user.createdAt)],
            ]), h("div", { class: "actions" }, userActions.filter((one) => !user.deleted && one.isOffered(user)).map((one) => button(one, user)))),
            h("section", { class: "card" }, h("h2", {}, `Sessions (${sessions.length})`), sessions.length
                ? table("Sessions", ["Device", "Client", "Opened by", "Since", "Last used"], sessions.map((one) => [
                    names.get(one.device) ?? "–", one.client ? `${one.client.name} ${one.client.version}` : "–",
                    one.openedBy ?? "the user", time(one.createdAt), time(one.lastUsedAt)]))
                : h("p", { class: "hint" }, "Not signed in.")),
            h("section", { class: "card" }, h("h2", {}, `Devices (${devices.length})`), devices.length
                ? table("Devices", ["Name", "Platform", "Since", "Last seen"], devices.map((one) => [
                    one.name, one.platform, time(one.createdAt), time(one.lastSeenAt)]))
                : h("p", { class: "hint" }, "None.")),
            h("section", { class: "card" }, h("h2", {}, `Pushes (${pushes.length})`), pushes.length
                ? table("Pushes", ["Device", "By", "Since", "Renewed", "What to do"], pushes.map((one) => [
                    names.get(one.device) ?? h("code", { class: "long" }, one.device), kindName(one.kind),
                    time(one.createdAt), time(one.updatedAt), removeButton(one, names.get(one.device))]))
                : h("p", { class: "hint" }, "No device is told of messages and calls when it sleeps.")));
    }

    function removeButton({ device, kind }, name) {
        return button({
            label: "Remove",
            style: "soft danger-text small",
            question: () => ({
                title: `Push no more to ${name ?? "this device"}?`, action: "Remove",
                text: `By ${kindName(kind)} it is told of no messages and calls while it sleeps, until its app is opened again.`,
            }),
            async run() {
                await request("DELETE", `${path}/devices/${encodeURIComponent(device)}/push/${encodeURIComponent(kind)}`);
                return "The registration is removed";
            },
        });
    }

    function button({ label, style, question, run }, user) {
        const element = h("button", { type: "button", class: style, onclick: async () => {
            if (question && !await confirm(question(user))) return;
            await busy(element, async () => {
                toast(await run(path));
                await load();
            }, fail);
        } }, label);
        return element;
    }

    load();
}
