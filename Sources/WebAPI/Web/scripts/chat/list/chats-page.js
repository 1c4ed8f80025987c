// The list of conversations beside the one that is open; where there is no room for both, one of them.

import { h, icon } from "../../elements/dom.js";
import { t } from "../../language/texts.js";
import { threadPage } from "../thread/thread-page.js";
import { inboxList } from "./inbox-list.js";

/** `key` is `chats`, `archive` or `c`, with the conversation's id, the number of a message, and `thread` for what was answered to it. */
export function chatsPage(key, ...rest) {
    const list = inboxList();
    const side = h("aside", { class: "chat-list", "aria-label": t("chats.list") }, list.node);
    const nothing = h("div", { class: "empty" }, icon("chat"), h("p", {}, t("chats.choose")));
    const content = h("section", { class: "chat-main", "aria-label": t("chats.chat") });
    let thread;
    let isArchive = false;

    const navigate = (next, id, number, isThread) => {
        if (next === "c" && thread?.id === id) thread.goTo(number, isThread);
        else {
            thread?.close();
            thread = next === "c" ? threadPage(id, number, isThread) : undefined;
            content.replaceChildren(thread?.node ?? nothing);
        }
        if (next !== "c") isArchive = next === "archive";
        list.update(thread?.id, isArchive);
    };
    navigate(key, ...rest);
    return {
        node: h("div", { class: "chats" }, side, content),
        navigate,
        close() {
            thread?.close();
            list.close();
        },
    };
}
