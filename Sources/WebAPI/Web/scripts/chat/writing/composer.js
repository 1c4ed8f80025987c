// Writing a message: Enter sends, unless it is to begin a line, as Shift and Enter do; Ctrl and Enter always send. Escape
// ends an edit or a reply, and the arrow up in an empty field edits the last message. What is written is kept: as a draft, which
// the user's other devices have too, and on this one alone what is written in a thread, or as another text of a message.

import { attempt } from "../../elements/attempt.js";
import { completionList } from "../../elements/completion-list.js";
import { button, h, toast } from "../../elements/dom.js";
import { t } from "../../language/texts.js";
import { isEmpty } from "../../state/draft-versions.js";
import { decoded, encoded } from "../../state/mentions.js";
import { heldMessages, lastEditable, messageOf, othersIn } from "../../state/thread-rows.js";
import { preferences } from "../../store/preferences.js";
import { drafts } from "../../sync/drafts.js";
import { editOf, localDrafts, recording, replyIn } from "../../sync/local-drafts.js";
import { voiceComposer } from "../../voice/voice-composer.js";
import { quote } from "../messages/message.js";
import { emojiCompletion, mentionCompletion } from "./completions.js";
import { openEmojiPicker } from "./emoji-picker.js";
import { sendLater } from "./scheduled.js";
import { openWritingHelp, replyChips } from "./writing-help.js";

/** The server's limit, in bytes of UTF-8. */
const MAX_BYTES = 65_536;
const encoder = new TextEncoder();

/**
 * `root` is the number of the message in whose thread it writes: there are no voice messages then. `onsend` is called when
 * something was sent.
 */
export function composer(thread, { root, onsend = () => {} } = {}) {
    /** What the text is for: `{reply: message}`, `{edit: message}` or neither. */
    let target = {};
    let mentions = [];
    let isOpened = false;
    let isClosed = false;
    const id = root ? "write-thread" : "write";
    const field = h("textarea", { id, rows: "1", placeholder: t("composer.placeholder"), "aria-label": root ? t("composer.replyInThread") : t("composer.placeholder"),
        "aria-autocomplete": "list", enterkeyhint: "send", dir: "auto" });
    const submit = button({ name: "send", label: t("composer.send"), bare: true, class: "round primary", type: "submit" });
    const later = button({ name: "clock", label: t("composer.sendLater"), bare: true, class: "round quiet later", data: { action: "send-later" }, onclick: () => schedule() });
    const smile = button({ name: "smile", label: t("emoji.title"), bare: true, class: "round quiet emoji-opener", "aria-haspopup": "dialog", data: { action: "emoji" },
        onclick: () => openEmojiPicker({ anchor: smile, pick: insertEmoji }) });
    const help = button({ name: "wand", label: t("writing.title"), bare: true, class: "round quiet help", "aria-haspopup": "dialog", data: { action: "writing-help" },
        onclick: () => openWritingHelp(thread, text(), replaceText) });
    const about = h("div", { class: "about", hidden: true });
    const list = completionList(field, {
        sources: [mentionCompletion(() => thread.state.conversation?.kind === "group" ? [...othersIn(thread.state, thread.me), { id: "all", displayName: "all" }]
            : othersIn(thread.state, thread.me)), emojiCompletion()],
        insert: ({ text, caret, mention }) => {
            setText(text, mention ? [...mentions, mention] : mentions);
            field.setSelectionRange(caret, caret);
            field.focus();
            keep();
        },
    });

    const nameOf = (user) => thread.state.people[user]?.displayName;
    const setText = (text, next) => {
        field.value = text;
        mentions = next;
        grow();
    };
    /** Where the caret is. */
    const insertEmoji = (text) => {
        field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
        noteInput();
        if (!document.querySelector("dialog.emoji-picker[open]")) field.focus();
    };
    /** For browsers that do not size a field by its content. */
    const grow = () => {
        if (CSS.supports("field-sizing", "content")) return;
        field.style.blockSize = "auto";
        field.style.blockSize = `${field.scrollHeight + 2}px`;
    };
    const showText = (stored) => {
        const { text, mentions: found } = decoded(stored, nameOf);
        setText(text, found);
    };
    const text = () => encoded(field.value, mentions).trim();
    /** What the user has chosen instead of what stands there. */
    const replaceText = (stored) => {
        showText(stored);
        keep();
        field.focus();
    };
    const chips = replyChips(thread, { take: (message, words) => {
        if (!target.edit) setTarget({ reply: message });
        replaceText(field.value === "" ? words : `${text()} ${words}`);
    } });
    /** Once it is closed, the same chat may have been opened anew, or somebody else be signed in. */
    const keep = () => {
        if (isClosed) return;
        const written = encoded(field.value, mentions);
        if (target.edit) keepEdit(target.edit, written);
        else if (!root) drafts.write(thread.id, written, target.reply?.number);
        else if (written !== "") localDrafts.write(thread.id, replyIn(root), { text: written });
        else localDrafts.end(thread.id, replyIn(root));
    };
    /** Only what has changed is worth it. One that `isOpen` is shown when the chat is opened the next time. */
    const keepEdit = (message, written, isOpen = true) => {
        const { number, clientID, textVersion } = message;
        if (written === message.text) localDrafts.end(thread.id, editOf(message));
        else localDrafts.write(thread.id, editOf(message), { number, clientID, textVersion, root, text: written, isOpen });
    };
    /** The message as it was when the edit of it was begun: where it has changed since, the server refuses the first try. */
    const asBegun = (message, edit) => ({ ...message, textVersion: edit?.textVersion ?? message.textVersion });

    const showTarget = () => {
        const message = target.edit ?? target.reply;
        about.hidden = !message;
        about.replaceChildren(...message ? [h("p", { class: "hint" }, target.edit ? t("composer.editing") : t("composer.replyingTo")),
            message.number && quote(thread, message.number),
            button({ name: "close", label: target.edit ? t("composer.stopEditing") : t("composer.doNotReply"), bare: true, class: "round quiet",
                data: { action: "cancel-target" }, onclick: () => { cancelTarget(); field.focus(); } })] : []);
    };
    /** An edit that something else takes the place of is kept, and goes on when its message is edited again. */
    const setTarget = (next) => {
        const { edit } = target;
        if (edit) keepEdit(edit, encoded(field.value, mentions), false);
        const kept = next.edit && localDrafts.of(thread.id, editOf(next.edit));
        target = next.edit ? { edit: asBegun(next.edit, kept) } : next;
        if (next.edit) showText(kept?.text ?? next.edit.text);
        else if (edit) showText(draftText());
        showTarget();
        if (next.edit ?? next.reply) field.focus();
        keep();
    };
    /** The edit or the reply is ended, and what was written before is back. */
    const endTarget = () => {
        const { edit } = target;
        target = {};
        if (edit) {
            localDrafts.end(thread.id, editOf(edit));
            showDraft();
        } else {
            showTarget();
            keep();
        }
    };
    const cancelTarget = () => {
        endTarget();
        showOffered();
    };

    // The draft

    const draftText = () => root ? localDrafts.of(thread.id, replyIn(root))?.text ?? "" : drafts.of(thread.id).text;
    /** Shows what is kept, here or by another device, but never over what is being typed. */
    let shown;
    const showDraft = () => {
        showText(draftText());
        if (root) return showTarget();
        const draft = drafts.of(thread.id);
        shown = draft;
        const message = draft.replyTo && messageOf(thread.state, draft.replyTo);
        target = message ? { reply: message } : {};
        showTarget();
    };
    const follow = () => {
        const draft = drafts.of(thread.id);
        if (root || target.edit || draft === shown) return;
        const isShown = draft.text === encoded(field.value, mentions) && draft.replyTo === target.reply?.number;
        shown = draft;
        if (!isShown) showDraft();
    };
    /** The message of an edit that was left, while it can be edited. */
    const editedMessage = async ({ number, clientID }) => {
        if (number) return messageOf(thread.state, number) ?? thread.find(number);
        return thread.outgoing.find((one) => one.clientID === clientID && one.isRevisable)
            ?? heldMessages(thread.state).find((one) => one.author === thread.me && one.clientID === clientID);
    };
    /** Goes on with an edit that was left here, or with one that has come back from the server. */
    const showEdit = async (wanted) => {
        const edit = localDrafts.openEdit(thread.id, { ...wanted, root });
        if (!edit || target.edit) return;
        const before = [field.value, target];
        let message;
        try { message = await editedMessage(edit); } catch (error) {
            // It cannot be asked for now, or nothing is left to be edited.
            if (error.isTransient) return;
        }
        if (isClosed || field.value !== before[0] || target !== before[1]) return;
        if (!message && !edit.number && !thread.isCurrent) return;
        if (!message || message.deletedAt) return localDrafts.end(thread.id, editOf(edit));
        target = { edit: asBegun(message, edit) };
        showText(edit.text);
        showTarget();
        // It has a number now.
        if (editOf(message) === editOf(edit)) return;
        localDrafts.end(thread.id, editOf(edit));
        keep();
    };
    /** What was refused or recorded meanwhile, once nothing else is being written. */
    const showOffered = () => {
        if (field.value !== "" || target.edit || target.reply || document.hidden) return;
        showEdit({ isRefused: true });
        voice?.restore();
    };
    const unsubscribe = [
        root ? () => {} : drafts.on("change", (conversation) => { if (conversation === thread.id) follow(); }),
        localDrafts.on("offered", (conversation) => { if (conversation === thread.id && isOpened) showOffered(); }),
        localDrafts.on("ended", ({ conversation, what }) => { if (conversation === thread.id) voice?.drop(what); }),
    ];
    const handleVisibility = () => { if (isOpened) showOffered(); };
    document.addEventListener("visibilitychange", handleVisibility);

    // Sending

    const take = () => {
        const words = text();
        if (!words) return undefined;
        if (encoder.encode(words).length > MAX_BYTES) {
            toast(t("composer.tooLong", { bytes: MAX_BYTES }), { error: true });
            return undefined;
        }
        return { text: words, ...(target.reply && { replyTo: target.reply.number }), ...(root && { thread: root }) };
    };
    const clear = () => {
        target = {};
        showTarget();
        setText("", []);
        if (!root) return { draft: drafts.takeForSending(thread.id) };
        localDrafts.end(thread.id, replyIn(root));
        return {};
    };
    /** One that has been sent meanwhile is edited as any other. */
    const revise = async ({ clientID }, words) => {
        if (await thread.revise(clientID, words)) return true;
        const stored = heldMessages(thread.state).findLast((one) => one.author === thread.me && one.clientID === clientID);
        if (!stored) toast(t("composer.mayBeSent"), { error: true });
        return Boolean(stored) && attempt(thread.edit(stored, words));
    };
    const send = async () => {
        list.close();
        const { edit } = target;
        const message = take();
        if (!message) return;
        if (!edit) {
            thread.send({ ...message, ...clear() });
            showOffered();
            return onsend();
        }
        const isDone = edit.number ? await attempt(thread.edit(edit, message.text)) : await revise(edit, message.text);
        if (!isDone) return;
        if (target.edit === edit) cancelTarget(); else localDrafts.end(thread.id, editOf(edit));
    };
    const schedule = async () => {
        const message = !target.edit && take();
        if (!message) return toast(target.edit ? t("composer.sentAlready") : t("composer.writeFirst"));
        const before = drafts.of(thread.id);
        if (!await sendLater(thread, message) || !thread.isSignedIn) return;
        const draft = drafts.of(thread.id);
        // What was typed meanwhile stays, and so does the text of an edit.
        if (draft.text !== before.text || draft.replyTo !== before.replyTo) return;
        if (isClosed || target.edit) drafts.takeForSending(thread.id); else clear();
    };

    const noteInput = (event) => {
        grow();
        list.update(event);
        keep();
        if (!target.edit) thread.noteTyping(field.value !== "");
    };
    field.addEventListener("input", noteInput);
    field.addEventListener("blur", () => { list.close(); });
    field.addEventListener("keydown", (event) => {
        // An input method uses Enter and Escape while it composes a word. Safari ends it before the key, with this code.
        if (event.isComposing || event.keyCode === 229 || list.handleKey(event)) return;
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey || preferences.get("enterSends") && !event.shiftKey)) {
            event.preventDefault();
            send();
        } else if (event.key === "Escape" && (target.edit || target.reply)) {
            event.preventDefault();
            cancelTarget();
        } else if (event.key === "ArrowUp" && field.value === "" && !target.edit && !root) {
            const message = thread.outgoing.findLast((one) => one.isRevisable && !one.thread) ?? lastEditable(thread.state, thread.me);
            if (!message) return;
            event.preventDefault();
            setTarget({ edit: message });
        }
    });
    const spaced = (before, words) => before === "" || /\s$/.test(before) ? words : ` ${words}`;
    /** What was dictated in a chat that has been left meanwhile. */
    const addToDraft = (words) => {
        if (!thread.isSignedIn) return;
        const { text: before, replyTo } = drafts.of(thread.id);
        drafts.write(thread.id, before + spaced(before, words), replyTo);
    };
    const voice = root ? undefined : voiceComposer({
        send: (sound) => {
            const { reply } = target;
            if (reply && !isClosed) endTarget();
            thread.send({ ...sound, ...(reply && { replyTo: reply.number }) });
            if (!isClosed) onsend();
        },
        write: (words) => {
            if (isClosed) return addToDraft(words);
            field.setRangeText(spaced(field.value.slice(0, field.selectionStart), words), field.selectionStart, field.selectionEnd, "end");
            noteInput();
            field.focus();
        },
        isSignedIn: () => thread.isSignedIn,
        unsent: {
            get: () => localDrafts.recordings(thread.id),
            // The same chat may have been opened anew.
            keep: (sound) => localDrafts.offer(thread.id, recording(), sound),
            end: (what) => localDrafts.end(thread.id, what),
        },
        note: (isRecording) => thread.noteTyping(isRecording, "recording"),
        show: (isRecording) => { node.dataset.recording = String(isRecording); },
    });
    const node = h("form", { class: "write", id: root ? "thread-composer" : "composer", data: { recording: "false" },
        onsubmit: (event) => { event.preventDefault(); send(); } }, chips.node, about, list.node, smile, field, voice?.buttons, help, !root && later, submit, voice?.row);
    return {
        node,
        /** Shows what was being written, once people and messages are there. */
        open() {
            if (isOpened) return;
            isOpened = true;
            // Whoever was quicker goes on.
            if (field.value !== "" || target.edit || target.reply) return;
            if (root ? draftText() !== "" : !isEmpty(drafts.of(thread.id))) showDraft();
            showEdit();
            if (field.value === "") voice?.restore();
        },
        focus: () => field.focus(),
        reply: (message) => setTarget({ reply: message }),
        edit: (message) => setTarget({ edit: message }),
        suggest: (message) => chips.suggest(message),
        /** Whether the user is in the middle of a text. */
        get isTyping() { return document.activeElement === field && field.value !== ""; },
        close() {
            isClosed = true;
            unsubscribe.forEach((one) => one());
            document.removeEventListener("visibilitychange", handleVisibility);
            voice?.close();
            if (!target.edit) thread.noteTyping(false);
            if (!root) drafts.save(thread.id);
        },
    };
}
