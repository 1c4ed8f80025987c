// What is completed while a message is written: names of people after an @, and of emoji after a colon.

import { avatar } from "../../elements/avatar.js";
import { h } from "../../elements/dom.js";
import { visible } from "../../elements/message-text.js";
import { t } from "../../language/texts.js";
import { emojiNamed, foundEmoji, toned } from "../../state/emoji-search.js";
import { emojiAt, wholeEmojiAt, withEmoji } from "../../state/emoji-writing.js";
import { matchingPeople, mentionAt, withMention } from "../../state/mentions.js";
import { emoji } from "./emoji.js";

/** `people()` are those who can be mentioned. */
export const mentionCompletion = (people) => ({
    label: t("members.list"),
    begin: mentionAt,
    find: ({ query }) => matchingPeople(people(), query),
    row: (person) => [avatar(person, { size: "small" }), h("bdi", { data: { user: person.id } }, visible(person.displayName))],
    complete: withMention,
});

/** A whole name is replaced at once. While an input method composes a word, nothing is an emoji. */
export const emojiCompletion = () => ({
    label: t("emoji.title"),
    begin: (text, caret, isComposing) => isComposing ? undefined : emojiAt(text, caret),
    find: ({ query }, again) => isLoaded(again) ? foundEmoji(emoji.all, query) : [],
    row: (item) => [h("span", { class: "emoji-shown" }, toned(item, emoji.tone)), h("bdi", { lang: emoji.all.language }, item.name)],
    complete: (text, begun, item) => used(text, begun, item),
    whole: (text, caret, again) => {
        const begun = wholeEmojiAt(text, caret);
        const item = begun && isLoaded(again) ? emojiNamed(emoji.all, begun.query) : undefined;
        return item && used(text, begun, item);
    },
});

function used(text, begun, item) {
    const chosen = toned(item, emoji.tone);
    emoji.noteUse(chosen);
    return withEmoji(text, begun, chosen);
}

/** Without the file nothing is completed: who looks for an emoji in the picker is told why. */
function isLoaded(again) {
    if (!emoji.all) emoji.load().then(again, (error) => console.info("without emoji:", error.message));
    return emoji.all !== undefined;
}
