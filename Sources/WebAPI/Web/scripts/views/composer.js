// Writing a message: Enter sends, Shift and Enter begin a line, Escape ends an edit or a reply.

import { button, h, toast } from "../dom.js";
import { errorMessage } from "../problems.js";
import { quote } from "./message.js";
import { voiceComposer } from "./voice-composer.js";

/** The server's limit, in bytes of UTF-8. */
const MAX_BYTES = 65_536;
const encoder = new TextEncoder();

export function composer(thread) {
    /** What the text is for: `{reply: message}`, `{edit: message}` or neither. */
    let target = {};
    const field = h("textarea", { id: "write", rows: "1", placeholder: "Message", "aria-label": "Message", enterkeyhint: "send", dir: "auto" });
    const submit = button({ name: "send", label: "Send", bare: true, class: "round primary", type: "submit" });
    const about = h("div", { class: "about", hidden: true });
    const setTarget = (next) => {
        const wasEdit = target.edit;
        target = next;
        const message = next.edit ?? next.reply;
        about.hidden = !message;
        about.replaceChildren(...message ? [h("p", { class: "hint" }, next.edit ? "Editing" : "Replying to"),
            quote(thread, message.number),
            button({ name: "close", label: next.edit ? "Stop editing" : "Do not reply", bare: true, class: "round quiet",
                data: { action: "cancel-target" }, onclick: () => { setTarget({}); field.focus(); } })] : []);
        if (next.edit) field.value = next.edit.text;
        else if (wasEdit) field.value = "";
        if (message) field.focus();
    };
    const send = async () => {
        const text = field.value.trim();
        if (!text) return;
        if (encoder.encode(text).length > MAX_BYTES) return toast(`A message has at most ${MAX_BYTES} bytes.`, { error: true });
        const { edit, reply } = target;
        if (!edit) {
            field.value = "";
            setTarget({});
            return thread.send(text, reply?.number);
        }
        try {
            await thread.edit(edit, text);
            if (target.edit === edit) setTarget({});
        } catch (error) { toast(errorMessage(error), { error: true }); }
    };
    field.addEventListener("input", () => { if (!target.edit) thread.noteTyping(field.value !== ""); });
    field.addEventListener("keydown", (event) => {
        // An input method uses Enter and Escape while it composes a word.
        if (event.isComposing) return;
        if (event.key === "Enter" && !event.shiftKey) {
            event.preventDefault();
            send();
        } else if (event.key === "Escape" && (target.edit || target.reply)) setTarget({});
    });
    const voice = voiceComposer({
        send: (file) => {
            const { reply } = target;
            if (!target.edit) setTarget({});
            thread.sendVoice(file, reply?.number);
        },
        note: (isRecording) => thread.noteTyping(isRecording, "recording"),
        show: (isRecording) => { node.dataset.recording = String(isRecording); },
    });
    const node = h("form", { class: "write", id: "composer", data: { recording: "false" },
        onsubmit: (event) => { event.preventDefault(); send(); } }, about, field, voice.buttons, submit, voice.row);
    return {
        node,
        reply: (message) => setTarget({ reply: message }),
        edit: (message) => setTarget({ edit: message }),
        close() {
            voice.close();
            if (!target.edit) thread.noteTyping(false);
        },
    };
}
