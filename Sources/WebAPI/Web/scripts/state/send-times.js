// When a message that is sent later can be sent.

const HOUR = 3_600_000;

/** Some times that people want, `{name, time}`, from `now` on; those of the clock are local. */
export function laterChoices(now) {
    const at = (days, hour) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
    const choices = [{ name: "hour", time: new Date(now.getTime() + HOUR) }];
    if (now.getHours() < 17) choices.push({ name: "evening", time: at(0, 19) });
    choices.push({ name: "tomorrow", time: at(1, 9) });
    choices.push({ name: "monday", time: at((8 - now.getDay()) % 7 || 7, 9) });
    return choices;
}

/** A time for a field of the kind `datetime-local`. */
export function localText(date) {
    const two = (value) => String(value).padStart(2, "0");
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** How long a conversation can be muted, `{name, until?}`. */
export const muteChoices = (now) => [
    { name: "hour", until: new Date(now.getTime() + HOUR) }, { name: "hours", until: new Date(now.getTime() + 8 * HOUR) },
    { name: "week", until: new Date(now.getTime() + 7 * 24 * HOUR) }, { name: "always" },
];
