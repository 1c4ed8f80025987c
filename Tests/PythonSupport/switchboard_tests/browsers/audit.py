"""Scripts that find faults in what a page shows. Each returns a list of texts, which is empty where all is well."""

from switchboard_tests.versions import WEB_CLIENT

# What is cut off, or reaches out of the window, unless it scrolls or ends with an ellipsis.
CLIPPED = """
const found = new Set();
const { scrollWidth } = document.documentElement;
if (scrollWidth > innerWidth) found.add(`the page is ${scrollWidth} wide`);
const scrolls = (element) => {
    for (let one = element.parentElement; one; one = one.parentElement) {
        if (getComputedStyle(one).overflowX !== "visible") return true;
    }
    return false;
};
const kinds = "button, a, label, h1, h2, h3, p, select, input, textarea, dt, dd, span, time, .card, .row";
for (const element of document.body.querySelectorAll(kinds)) {
    if (!element.checkVisibility({ visibilityProperty: true }) || element.closest(".unseen, .skip")) continue;
    const { left, right, width, height } = element.getBoundingClientRect();
    if (width === 0 || height === 0) continue;
    const text = element.textContent.trim().slice(0, 40);
    const what = `${element.localName}.${element.className}#${element.id} ${text}`;
    if ((left < -1 || right > innerWidth + 1) && !scrolls(element)) found.add(`${what}: from ${left} to ${right}`);
    if (element.matches("input, select, textarea")) continue;
    const { overflowX, overflowY, textOverflow, display } = getComputedStyle(element);
    if (display === "inline") continue;
    // It is read aloud alone.
    if (getComputedStyle(element).clipPath !== "none") continue;
    // A count at the edge of a button is meant to reach out of it, and so is what makes its target larger.
    const parts = [...[...element.children].map((one) => [one]), [element, "::before"], [element, "::after"]];
    if (parts.some((part) => getComputedStyle(...part).position === "absolute")) continue;
    const isCut = overflowX === "visible" || ["hidden", "clip"].includes(overflowX) && textOverflow !== "ellipsis";
    const { scrollWidth: wide, clientWidth, scrollHeight: high, clientHeight } = element;
    if (isCut && wide > clientWidth + 1) found.add(`${what}: ${wide} in ${clientWidth}`);
    // Lines of a text may reach out of their box by a little, when it is no higher than the type.
    const isCutBelow = ["hidden", "clip"].includes(overflowY) && text !== "" && !element.querySelector("video, img");
    if (isCutBelow && high > clientHeight + 6) found.add(`${what}: ${high} high in ${clientHeight}`);
}
return [...found];
"""

# Controls with a target that is too small, in pixels. A link in a text may be as high as its line; a label counts, and
# so does an area that a pseudo-element adds.
SMALL = """
const [least] = arguments;
const found = new Set();
const scope = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
const fits = ({ width, height }) => width >= least - 0.5 && height >= least - 0.5;
const added = (element) => ["::before", "::after"].map((name) => getComputedStyle(element, name))
    .filter(({ content, position }) => content !== "none" && position === "absolute")
    .map(({ width, height }) => ({ width: parseFloat(width), height: parseFloat(height) }));
const kinds = "a[href], button, input, select, textarea, summary, [role=option], [role=slider]";
for (const element of scope.querySelectorAll(kinds)) {
    if (!element.checkVisibility({ visibilityProperty: true }) || element.disabled) continue;
    if (element.closest("[inert], .unseen, .skip") || getComputedStyle(element).display === "inline") continue;
    const sizes = [element, ...element.labels ?? []].map((one) => one.getBoundingClientRect());
    if (sizes[0].width < 2 || [...sizes, ...added(element)].some(fits)) continue;
    const { width, height } = sizes[0];
    const what = `${element.localName}.${element.className}#${element.id} “${element.textContent.trim().slice(0, 30)}”`;
    found.add(`${what}: ${Math.round(width)} by ${Math.round(height)}`);
}
return [...found];
"""

# Controls whose middle takes no click, since something else is over it. What floats over the page may cover what can be
# scrolled away from under it.
COVERED = """
const found = new Set();
const scope = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
const floats = (element) => {
    for (let one = element; one && one !== document.body; one = one.parentElement) {
        if (["fixed", "sticky"].includes(getComputedStyle(one).position)) return one;
    }
    return undefined;
};
const seen = (element) => {
    let { left, top, right, bottom } = element.getBoundingClientRect();
    for (let one = element.parentElement; one; one = one.parentElement) {
        const isRoot = one === document.documentElement || one === document.body;
        if (!isRoot && getComputedStyle(one).overflow === "visible") continue;
        const box = isRoot ? { left: 0, top: 0, right: innerWidth, bottom: innerHeight } : one.getBoundingClientRect();
        [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
        [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
    }
    return { left, top, width: right - left, height: bottom - top };
};
for (const element of scope.querySelectorAll("a[href], button, input, select, textarea, summary, [role=option]")) {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (element.closest("[inert], .unseen, .skip")) continue;
    const whole = element.getBoundingClientRect();
    const { left, top, width, height } = seen(element);
    if (width < whole.width * 0.6 || height < whole.height * 0.6 || width < 2) continue;
    const over = document.elementFromPoint(left + width / 2, top + height / 2);
    if (!over || element.contains(over) || over.contains(element)) continue;
    if (over.closest("label")?.control === element) continue;
    if (floats(over) && floats(over) !== floats(element) || over.closest("[role=listbox]")) continue;
    const what = `${element.localName}.${element.className}#${element.id} “${element.textContent.trim().slice(0, 30)}”`;
    found.add(`${what} is under ${over.localName}.${over.className}`);
}
return [...found];
"""

# Controls that cannot be scrolled to where they take a click.
UNREACHABLE = """
const found = new Set();
const scope = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
for (const element of scope.querySelectorAll("a[href], button, input, select, textarea, summary")) {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || element.disabled) continue;
    if (element.closest("[inert], .unseen, .skip") || element.type === "file") continue;
    element.scrollIntoView({ block: "center", inline: "nearest" });
    const { left, top, width, height } = element.getBoundingClientRect();
    const over = document.elementFromPoint(left + width / 2, top + height / 2);
    if (over && (element.contains(over) || over.contains(element))) continue;
    if (over?.closest("label")?.control === element || over?.closest("[role=listbox]")) continue;
    const what = `${element.localName}.${element.className}#${element.id} “${element.textContent.trim().slice(0, 30)}”`;
    found.add(`${what} at ${Math.round(left)} ${Math.round(top)} is under ${over?.localName}.${over?.className}`);
}
return [...found];
"""

# What moves although the user wants no motion.
MOVING = """
return document.getAnimations().filter((one) => one.playState === "running").map((one) => {
    const { target, pseudoElement } = one.effect;
    return `${target.localName}.${target.className}${pseudoElement ?? ""}`;
});
"""

# What is told by a background alone, where colours are forced and there is none: a button without a border, and what is
# on or chosen but looks as if it were not.
INDISTINCT = """
const found = new Set();
const scope = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
const look = (element) => {
    const { backgroundColor, borderTopColor } = getComputedStyle(element);
    return `${backgroundColor} ${borderTopColor}`;
};
const shown = (selector) => [...scope.querySelectorAll(selector)]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }));
for (const one of shown("button:not(.quote, .line)")) {
    if (getComputedStyle(one).borderTopStyle === "none") found.add(`a button without a border: ${one.className}`);
}
for (const [kind, is, isNot] of [
    [".nav-link", "[aria-current]", ":not([aria-current])"],
    [".chat-row .who", "[aria-current]", ":not([aria-current])"],
    [".filter", "[aria-pressed=true]", "[aria-pressed=false]"],
    [".filter", "[aria-expanded=true]", "[aria-expanded=false], .filter[aria-pressed=false]"],
    [".emoji-tones button", "[aria-pressed=true]", "[aria-pressed=false]"],
    [".select-box", "[aria-checked=true] .icon", "[aria-checked=false] .icon"],
    [".reaction", "[aria-pressed=true]", "[aria-pressed=false]"],
    ["[role=option]", "[aria-selected=true]", "[aria-selected=false]"], [".switch", ":checked", ":not(:checked)"],
]) {
    const [on, off] = [kind + is, kind + isNot];
    const [first, second] = [shown(on)[0], shown(off)[0]];
    if (first && second && look(first) === look(second)) found.add(`${on} looks like ${off}`);
}
for (const one of shown(".switch")) {
    const [knob, rail] = [getComputedStyle(one, "::after"), getComputedStyle(one)].map((each) => each.backgroundColor);
    if (knob === rail) found.add("a switch without a knob");
}
return [...found];
"""

# What is no text of the client: names of products, protocols, codecs and keys, and languages as `Intl` writes them.
KNOWN = [
    f"Switchboard-Web {WEB_CLIENT}", "Switchboard", "Chrome", "Linux", " on ", "Hello", "IPv4", "IPv6", "UDP", "TCP",
    "TLS", "opus", "VP8", "VP9", "H264", "AV1", "host", "prflx", "srflx", "relay", "AM", "PM", "American English",
    "English", "UTC", "Etc/UTC",
]  # fmt: skip

# Texts with Latin letters, which are not in the catalogue where the language is a pseudo-language.
UNTRANSLATED = """
const [known] = arguments;
// The names of months and days, and the word between the last two of a list.
const dates = Array.from({ length: 12 }, (_, index) => new Date(2026, index, index + 1));
const formats = ["long", "short"].flatMap((style) => [{ month: style }, { weekday: style }]);
const intl = formats.flatMap((one) => dates.map((date) => new Intl.DateTimeFormat("en", one).format(date)));
const found = new Set();
const note = (text, what) => {
    const rest = [...known, ...intl, "and"].reduce((left, one) => left.replaceAll(one, ""), text ?? "");
    if (/[A-Za-z]{2}/.test(rest)) found.add(`${what}: ${text.trim()}`);
};
for (const element of document.body.querySelectorAll("*")) {
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest("time, svg, code, script, noscript, [lang]:not(html)")) continue;
    if (element.closest(".transcript[data-status=complete], .caption-words, .said .words")) continue;
    const what = element.id || element.className || element.localName;
    for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) note(node.data, what);
    const names = ["aria-label", "title", "placeholder", "alt", "aria-valuetext"];
    for (const name of names) note(element.getAttribute(name), `${what} ${name}`);
}
return [...found];
"""

# What a person sees and hears of the page: texts, and the names of controls.
TEXTS = """
const found = new Set();
for (const element of document.body.querySelectorAll("*")) {
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest("time, svg, code, script, noscript, [lang]:not(html)")) continue;
    for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) found.add(node.data.trim());
    for (const name of ["aria-label", "title", "placeholder", "alt", "aria-valuetext"]) {
        found.add(element.getAttribute(name) ?? "");
    }
}
return [...found];
"""

# What axe-core finds, with all of its rules or with those that are listed. Under a modal dialog it takes the buttons of
# the dialog for the background of what lies below.
VIOLATIONS = """
const [rules, done] = arguments;
const options = { resultTypes: ["violations"], ...rules && { runOnly: rules } };
const dialog = [...document.querySelectorAll("dialog:modal")].at(-1);
const isBelow = (id, { target }) =>
    id === "color-contrast" && Boolean(dialog) && !dialog.contains(document.querySelector(target[0]));
const kept = ({ id, nodes }) => ({ id, nodes: nodes.filter((one) => !isBelow(id, one)) });
const shown = (violations) => violations.map(kept).filter(({ nodes }) => nodes.length > 0);
axe.run(document, options).then(({ violations }) => done(shown(violations).map(({ id, nodes }) =>
    `${id}: ${nodes.slice(0, 3).map((one) => `${one.html.slice(0, 200)} ${one.any[0]?.message ?? ""}`).join("; ")}`)));
"""
