// The hours in which the server pushes nothing to the devices of the account.

import { credentials } from "../connection/credentials.js";
import { request } from "../connection/requests.js";
import { field, h, toggle } from "../elements/dom.js";
import { t } from "../language/texts.js";
import { report } from "./settings-section.js";

const usual = { from: "22:00", to: "07:00" };

const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
/** Of the names of one zone that which the browser prefers; what it does not know stays. */
const preferred = (zone) => {
    try {
        return Intl.DateTimeFormat(undefined, { timeZone: zone }).resolvedOptions().timeZone;
    } catch {
        return zone;
    }
};
const shown = (zone) => zone.replaceAll("_", " ");

export function quietHoursPart() {
    const problem = h("p", { class: "form-error", id: "quiet-hours-problem", role: "alert", hidden: true });
    const zone = h("p", { class: "hint", id: "quiet-hours-zone" });
    const time = (name) => field({ label: t(`quietHours.${name}`), name: `quiet-${name}`, type: "time", required: true,
        "aria-describedby": `${problem.id} ${zone.id}`, onchange: () => changed() });
    const fields = { from: time("from"), to: time("to") };
    const inputs = Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, one.querySelector("input")]));
    const times = h("fieldset", { class: "times" }, h("legend", { class: "unseen" }, t("quietHours.title")), fields.from, fields.to, problem, zone);
    const choice = toggle({ id: "setting-quietHours", label: t("quietHours.title"), hint: t("quietHours.hint"), onchange: (on) => save(on ? usual : null) });
    const control = choice.querySelector("input");

    /** Shows what is stored. After a change of a time not the times: somebody may be writing there. */
    const draw = (withTimes = true) => {
        const stored = credentials.user?.quietHours;
        control.checked = Boolean(stored);
        if (withTimes) {
            for (const [name, input] of Object.entries(inputs)) input.value = (stored ?? usual)[name];
            showProblem();
        }
        times.hidden = !stored;
        const [its, own] = [stored?.zone ?? ownZone(), ownZone()];
        zone.textContent = preferred(its) === preferred(own) ? t("quietHours.zone", { zone: shown(own) }) : t("quietHours.otherZone", { zone: shown(its), own: shown(own) });
    };
    const showProblem = (text) => {
        problem.hidden = !text;
        problem.textContent = text ?? "";
        for (const input of Object.values(inputs)) {
            if (text) input.setAttribute("aria-invalid", "true");
            else input.removeAttribute("aria-invalid");
        }
    };
    const changed = () => {
        const [from, to] = [inputs.from.value, inputs.to.value];
        const wrong = !from || !to ? "quietHours.empty" : from === to ? "quietHours.same" : undefined;
        showProblem(wrong && t(wrong));
        if (!wrong) save({ from, to });
    };

    // One request at a time, and of what came meanwhile the last.
    let next;
    let isSaving = false;
    const save = async (hours) => {
        next = { quietHours: hours && { ...hours, zone: ownZone() } };
        if (isSaving) return;
        isSaving = true;
        let isWhole = !credentials.user.quietHours;
        try {
            while (next) {
                const values = next;
                next = undefined;
                credentials.setUser(await request("me.update", values));
                isWhole ||= !values.quietHours;
            }
        } catch (error) {
            next = undefined;
            isWhole = true;
            report(error);
        } finally {
            isSaving = false;
        }
        draw(isWhole);
    };
    draw();
    // Another device may have changed them; what somebody is writing here stays.
    const close = credentials.on("user", () => { if (!isSaving) draw(!times.contains(document.activeElement)); });
    return { node: h("div", { class: "setting-group", id: "quiet-hours" }, choice, times), close };
}
