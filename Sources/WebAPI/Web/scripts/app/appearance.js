// Theme, text size and motion that the user has chosen, over what the browser prefers.
//
// The styles have rules for what a browser prefers. A choice takes the condition of such a rule away, or never lets it be met:
// so there are no colours twice, and none in scripts.

import { preferences } from "../store/preferences.js";

/** By preference: the condition of the rules, and of what values they are in force. */
const conditions = { theme: ["prefers-color-scheme", "dark"], motion: ["prefers-reduced-motion", "reduced"] };
/** In pixels; what styles are written for without a choice. */
const sizes = { small: 14, large: 18, larger: 21 };
/** What has a condition of its own, `{media, written}` by preference: rules and elements that name colours. */
const conditional = { theme: [], motion: [] };

/** Follows the preferences from now on, those that are changed in other tabs too. */
export function startAppearance() {
    for (const sheet of document.styleSheets) collect(sheet.cssRules);
    for (const node of document.querySelectorAll("meta[name=theme-color][media]")) {
        conditional.theme.push({ written: node.media, isDark: node.media.includes("dark"), set: (media) => { node.media = media; } });
    }
    for (const [name, apply] of Object.entries({ theme: applyConditions, motion: applyConditions, textSize: applySize })) {
        preferences.on(name, () => apply(name));
        apply(name);
    }
}

function collect(rules) {
    for (const rule of rules) {
        const written = rule.media?.mediaText ?? "";
        for (const [name, [condition]] of Object.entries(conditions)) {
            if (written.includes(condition)) conditional[name].push({ written, isDark: true, set: (media) => { rule.media.mediaText = media; } });
        }
        if (rule.cssRules) collect(rule.cssRules);
    }
}

function applyConditions(name) {
    const value = preferences.get(name);
    const isOn = value === conditions[name][1];
    for (const { written, isDark, set } of conditional[name]) set(value === "" ? written : isOn === isDark ? "all" : "not all");
    if (name === "theme") document.documentElement.style.colorScheme = value;
}

function applySize() {
    const size = sizes[preferences.get("textSize")];
    document.documentElement.style.fontSize = size ? `${size}px` : "";
}
