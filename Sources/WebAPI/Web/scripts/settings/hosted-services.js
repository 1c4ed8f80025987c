// The hosted services that a level allows, by their names: whoever allows it has to know them.

import { server } from "../connection/features.js";
import { engineName } from "../language/names.js";
import { listText, t } from "../language/texts.js";
import { hostedNames } from "../state/hosted-names.js";

const named = (names) => listText(names.map(engineName));

/** All that `full` allows, in one text. */
export const allHosted = () => named(hostedNames(server, "full"));

/** Asks for `full`: the `question` is about the language model, and what is allowed along with it follows. */
export function consentText(question) {
    const others = hostedNames(server, "full").filter((name) => name !== server.languageModel?.name);
    return others.length === 0 ? question : `${question} ${t("languages.alsoAllowed", { engines: named(others) })}`;
}

/** What `elsewhere` means in a choice of levels. */
export function elsewhereText() {
    const [translating, all] = ["translate", "full"].map((level) => hostedNames(server, level));
    // One that translates may do the rest as well.
    const others = hostedNames({ embedder: server.embedder, languageModel: server.languageModel }, "full");
    return [t("languages.elsewhere"), translating.length > 0 && t("languages.elsewhereTranslating", { engines: named(translating) }),
        others.length > 0 && t("languages.elsewhereAll", { engines: named(others) }), server.isKnown && all.length === 0 && t("languages.elsewhereNone")].filter(Boolean).join(" ");
}
