// Going to a day of a conversation: to its first message, or to the next that there is.

import { attempt } from "../../elements/attempt.js";
import { open } from "../../elements/dialogs.js";
import { button, field, h, toast } from "../../elements/dom.js";
import { t } from "../../language/texts.js";
import { localText } from "../../state/send-times.js";
import { serverNow } from "../../store/clock.js";

const dayOf = (date) => localText(date).slice(0, 10);

/** `show(number)` goes to a message, and `day` is a time of the day that is offered. */
export function openGoToDate(thread, show, day = serverNow()) {
    if (document.getElementById("go-to-date")) return;
    const { createdAt } = thread.state.conversation ?? {};
    const go = async (event) => {
        event.preventDefault();
        const date = new Date(`${form.elements.day.value}T00:00`);
        dialog.close();
        await attempt(async () => {
            const number = await thread.firstFrom(date);
            if (number === undefined) toast(t("goToDate.none")); else await show(number);
        });
    };
    const form = h("form", { class: "ask-form", onsubmit: go },
        field({ label: t("goToDate.day"), name: "day", type: "date", required: true, value: dayOf(new Date(day)), max: dayOf(new Date(serverNow())),
            min: createdAt && dayOf(new Date(createdAt)) }),
        h("div", { class: "choices" }, h("button", { type: "submit", class: "primary", data: { choice: "go" } }, t("goToDate.go")),
            button({ label: t("common.cancel"), class: "quiet", onclick: () => dialog.close() })));
    const dialog = open({ id: "go-to-date", "aria-labelledby": "go-to-date-title" }, h("h2", { id: "go-to-date-title" }, t("goToDate.title")), form);
}
