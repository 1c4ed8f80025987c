// The languages of the user, how they read others, and what machines may make of what they write.

import { credentials } from "../connection/credentials.js";
import { server } from "../connection/features.js";
import { request } from "../connection/requests.js";
import { attempt } from "../elements/attempt.js";
import { h } from "../elements/dom.js";
import { redraw } from "../elements/keyed.js";
import { locale } from "../language/locale.js";
import { languageName } from "../language/names.js";
import { t } from "../language/texts.js";
import { readerOf } from "../state/reading.js";
import { elsewhereText } from "./hosted-services.js";
import { languageList, languageOptions } from "./language-list.js";
import { section } from "./settings-section.js";

const MODES = ["automatic", "onRequest", "off"];
const TONES = ["formal", "informal"];
const LEVELS = ["off", "local", "translate", "full"];

/** `[value, text]` of how translations come, and of what machines may do. */
export const modeChoices = () => MODES.map((mode) => [mode, t(`translationModes.${mode}`)]);
export const hintChoices = () => MODES.map((mode) => [mode, t(`hintModes.${mode}`)]);
export const levelChoices = () => LEVELS.map((level) => [level, t(`intelligenceLevels.${level}`)]);

/** `{node, close()}`. */
export function languagesSection() {
    const reading = h("div", { class: "setting-fields" });
    const save = async (values) => {
        credentials.setUser(await request("me.update", values));
        draw();
    };
    const draw = () => {
        const me = credentials.user;
        const { mode, into, known } = readerOf(me);
        const { into: chosen, tone } = me.translation ?? {};
        const setReading = (change) => save({ translation: { ...me.translation, mode, ...change } });
        redraw(reading, [
            server.translates && choice({ id: "setting-translation", label: t("languages.translate"), value: mode, values: modeChoices(),
                save: (value) => setReading({ mode: value }) }),
            server.translates && mode !== "off" && intoField({ id: "setting-into", chosen: me.translation?.into, known,
                save: (value) => save({ translation: { mode, ...(value && { into: value }), ...(tone && { tone }) } }) }),
            server.translates && mode !== "off" && toneField({ id: "setting-tone", chosen: tone,
                save: (value) => save({ translation: { mode, ...(chosen && { into: chosen }), ...(value && { tone: value }) } }) }),
            choice({ id: "setting-hints", label: t("hints.setting"), hint: t("hints.settingHint"), value: me.hints ?? "onRequest", values: hintChoices(),
                save: (value) => save({ hints: value }) }),
            choice({ id: "setting-intelligence", label: t("languages.machines"), hint: `${t("languages.machinesHint")} ${elsewhereText()}`, value: me.intelligence ?? "",
                values: [...me.intelligence ? [] : [["", t("languages.asServer")]], ...levelChoices()], save: (value) => save({ intelligence: value }) }),
            server.translates && mode !== "off" && !into && h("p", { class: "hint" }, t("translation.noLanguage")),
        ]);
    };
    const list = languageList({ id: "setting-languages", label: t("settings.languages"), hint: t("languages.hint"), languages: credentials.user.languages ?? [],
        change: (languages) => attempt(save({ languages })) });
    draw();
    // What the server has may be known only later.
    return { node: section("languages", t("languages.title"), list.node, reading), close: server.on("change", draw) };
}

/** Into which language; without a choice the first that the user knows. */
export function intoField({ id, chosen, known, save }) {
    const first = known[0] ? t("languages.firstOf", { language: languageName(known[0]) }) : t("languages.first");
    const input = h("select", { id, lang: locale().tag }, h("option", { value: "", selected: !chosen }, first),
        languageOptions(chosen ? [...new Set([chosen, ...known])] : known, chosen));
    return field(id, t("languages.into"), input, undefined, chosen ?? "", save);
}

/** How translations speak to the user, where who translates knows the difference. */
export function toneField({ id, chosen, save }) {
    return choice({ id, label: t("languages.tone"), value: chosen ?? "",
        values: [["", t("languages.asServer")], ...TONES.map((tone) => [tone, t(`translationTones.${tone}`)])], save });
}

/** A choice that is saved at once, and goes back if that fails. */
export function choice({ id, label, hint, value, values, save, disabled }) {
    const input = h("select", { id, disabled }, values.map(([one, text]) => h("option", { value: one, selected: one === value }, text)));
    return field(id, label, input, hint, value, save);
}

function field(id, label, input, hint, value, save) {
    input.addEventListener("change", async () => { if (!await attempt(save(input.value))) input.value = value; });
    return h("div", { class: "field" }, h("label", { for: id }, label), input, hint && h("p", { class: "hint" }, hint));
}
