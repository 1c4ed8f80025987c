// Choosing several people, for a new group call or for the current one.

import { credentials } from "../connection/credentials.js";
import { hasFeature } from "../connection/features.js";
import { errorMessage } from "../connection/problems.js";
import { request } from "../connection/requests.js";
import { avatar } from "../elements/avatar.js";
import { open } from "../elements/dialogs.js";
import { button, h } from "../elements/dom.js";
import { redraw } from "../elements/keyed.js";
import { visible } from "../elements/message-text.js";
import { t } from "../language/texts.js";
import { knownPeople } from "../sync/recent-people.js";

const SEARCH_DELAY = 250;

/**
 * Asks for people. `actions` are the dialog's buttons, `{value, label, name}`; `without` are users to leave out, `most` how many may be chosen.
 * Resolves to `{value, people}`, or undefined when the dialog is dismissed.
 */
export function pickPeople({ title, actions, without = [], most = Infinity }) {
    return new Promise((resolve) => {
        const chosen = new Map();
        const list = h("ul", { class: "rows flat picks", id: "picks" });
        const chips = h("ul", { class: "chips", "aria-label": t("picker.chosen") });
        const hint = h("p", { class: "hint", role: "status" });
        const search = h("input", { id: "pick-search", type: "search", placeholder: t("people.search"),
            autocomplete: "off", spellcheck: "false", enterkeyhint: "search", "aria-controls": "picks" });
        const buttons = actions.map(({ value, label, name }) => button({ name, label, class: "primary", disabled: true,
            data: { choice: value }, onclick: () => { resolve({ value, people: [...chosen.values()] }); dialog.close(); } }));
        let shown = [];
        let timer;
        let turn = 0;

        const show = () => {
            for (const one of buttons) one.disabled = chosen.size === 0;
            redraw(chips, [...chosen.values()].map((user) => h("li", {}, chip(user, () => set(user, false)))));
            redraw(list, shown.map((user) => pick(user, chosen.has(user.id), (on) => set(user, on))));
        };
        const set = (user, on) => {
            const focused = document.activeElement?.closest("[data-user]")?.dataset.user;
            if (on && chosen.size >= most) chosen.clear();
            if (on) chosen.set(user.id, user); else chosen.delete(user.id);
            show();
            (list.querySelector(`[data-user="${focused}"] input`) ?? search).focus();
        };
        const refresh = async () => {
            const mine = ++turn;
            const text = search.value.trim();
            try {
                const found = text.length >= 2 ? (await request("users.search", { query: text }, { isWanted: () => mine === turn })).users : await knownPeople();
                if (mine !== turn) return;
                shown = found.filter((user) => user.id !== credentials.user.id && !without.includes(user.id));
                hint.textContent = shown.length > 0 ? "" : text.length >= 2 ? t("people.nobody", { query: text })
                    : hasFeature("userSearch") ? t("picker.hint") : t("people.hintWithoutSearch");
            } catch (error) {
                if (mine === turn) hint.textContent = errorMessage(error);
            }
            if (mine === turn) show();
        };
        search.addEventListener("input", () => {
            clearTimeout(timer);
            timer = setTimeout(refresh, SEARCH_DELAY);
        });

        const dialog = open({ id: "picker", "aria-labelledby": "picker-title", class: "dialog picker" },
            h("h2", { id: "picker-title" }, title),
            h("div", { class: "search", data: { feature: "userSearch" } }, h("label", { for: "pick-search", class: "unseen" }, t("picker.find")), search),
            chips, hint, list,
            h("div", { class: "choices" }, buttons, button({ label: t("common.cancel"), class: "quiet", onclick: () => dialog.close() })));
        dialog.addEventListener("close", () => {
            clearTimeout(timer);
            turn += 1;
            resolve(undefined);
        });
        refresh();
    });
}

function pick(user, isChosen, onchange) {
    const id = `pick-${user.id}`;
    const input = h("input", { type: "checkbox", id, checked: isChosen, onchange: () => onchange(input.checked) });
    return h("li", { class: "row pick", data: { user: user.id } },
        h("label", { for: id, class: "who" }, avatar(user), h("span", { class: "name" }, h("bdi", {}, visible(user.displayName)))), input);
}

function chip(user, remove) {
    return button({ name: "close", label: t("picker.removeName", { name: user.displayName }), class: "chip", "aria-label": t("picker.removeName", { name: user.displayName }), onclick: remove },
        user.displayName);
}
