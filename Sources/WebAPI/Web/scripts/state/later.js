// When a message that is sent later can be sent.

const HOUR = 3_600_000;

/** Some times that people want, `{label, time}`, from `now` on; those of the clock are local. */
export function laterChoices(now) {
    const at = (days, hour) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
    const choices = [{ label: "In an hour", time: new Date(now.getTime() + HOUR) }];
    if (now.getHours() < 17) choices.push({ label: "This evening", time: at(0, 19) });
    choices.push({ label: "Tomorrow morning", time: at(1, 9) });
    choices.push({ label: "On Monday morning", time: at((8 - now.getDay()) % 7 || 7, 9) });
    return choices;
}

/** A time for a field of the kind `datetime-local`. */
export function localText(date) {
    const two = (value) => String(value).padStart(2, "0");
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** How long a conversation can be muted, `{label, until?}`. */
export const muteChoices = (now) => [
    { label: "For an hour", until: new Date(now.getTime() + HOUR) }, { label: "For 8 hours", until: new Date(now.getTime() + 8 * HOUR) },
    { label: "For a week", until: new Date(now.getTime() + 7 * 24 * HOUR) }, { label: "Until I unmute it" },
];
