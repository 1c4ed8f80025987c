// What is configured, and what differs from the defaults.

import { h } from "../../scripts/elements/dom.js";
import { get } from "../session.js";
import { heading, pill } from "../widgets.js";

export const configuration = {
    id: "configuration",
    title: "Configuration",

    open(root) {
        const filter = h("input", { id: "filter", type: "search", autocomplete: "off", oninput: show });
        const only = h("input", { id: "only", type: "checkbox", onchange: show });
        const count = h("p", { class: "hint", role: "status" });
        const groups = h("div", { class: "stack" }, h("p", { class: "hint" }, "Loading…"));
        let settings = [];
        root.append(heading("Configuration"),
            h("div", { class: "search" },
                h("div", { class: "field" }, h("label", { for: "filter" }, "Filter"), filter),
                h("div", { class: "check" }, only, h("label", { for: "only" }, "Only what differs from the default"))),
            count, groups);

        function show() {
            const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
            const shown = settings.filter((one) => (!only.checked || !one.isDefault)
                && words.every((word) => `${one.key} ${one.meaning}`.toLowerCase().includes(word)));
            count.textContent = `${shown.length} of ${settings.length} settings; `
                + `${settings.filter((one) => !one.isDefault).length} differ from the default.`;
            const sections = Map.groupBy(shown, (one) => one.key.split(".")[0]);
            groups.replaceChildren(...[...sections].map(([name, members]) => h("section", { class: "card" },
                h("h2", {}, name), h("ul", { class: "settings" }, members.map(item)))));
        }

        get("/admin/v1/settings").then((document) => {
            settings = document.settings;
            show();
        }, ({ message }) => groups.replaceChildren(h("p", { class: "form-error", role: "alert" }, message)));
    },
};

const item = (setting) => h("li", { class: setting.isDefault ? "setting" : "setting changed" },
    h("div", { class: "setting-name" }, h("code", {}, setting.key),
        !setting.isDefault && pill("Changed", "warm"), setting.isSecret && pill("Secret")),
    h("p", { class: "setting-value" }, h("code", {}, setting.value),
        !setting.isDefault && h("span", { class: "hint" }, " default ", h("code", {}, setting.defaultValue))),
    h("p", { class: "hint" }, setting.meaning, setting.reloads && " Reloads.",
        setting.source && ` From ${setting.source.replace(/^The /, "the ")}.`));
