// How the page looks in this browser, and what Enter does in the field of a message.

import { h, toggle } from "../elements/dom.js";
import { t } from "../language/texts.js";
import { preferences } from "../store/preferences.js";
import { section } from "./settings-section.js";

const choices = { theme: ["", "light", "dark"], textSize: ["small", "", "large", "larger"], motion: ["", "reduced", "full"] };

export function appearanceSection() {
    return section("appearance", t("appearance.title"), Object.entries(choices).map(([name, values]) => {
        const input = h("select", { id: `setting-${name}`, onchange: () => preferences.set(name, input.value) },
            values.map((value) => h("option", { value, selected: value === preferences.get(name) }, t(`appearance.${name}_${value || "default"}`))));
        return h("div", { class: "field" }, h("label", { for: `setting-${name}` }, t(`appearance.${name}`)), input);
    }), toggle({ id: "enter-sends", label: t("appearance.enterSends"), hint: t("appearance.enterSendsHint"), checked: preferences.get("enterSends"),
        onchange: (on) => preferences.set("enterSends", on) }));
}
