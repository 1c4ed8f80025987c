// Notifies the user of messages, missed calls and requests while a tab is open.

import { calls } from "../calls/calls.js";
import { titleOf } from "../chat/list/conversation-row.js";
import { credentials } from "../connection/credentials.js";
import { request } from "../connection/requests.js";
import { recordText, voiceText } from "../language/format.js";
import { t } from "../language/texts.js";
import { notifications } from "../notifications/notifications.js";
import { friendsIn } from "../state/friend-lists.js";
import { callTagOf, knownInbox, newsOf, settled, shownNews, tagOf } from "../state/news.js";
import { plainText } from "../state/pieces.js";
import { preferences } from "../store/preferences.js";
import { friends } from "../sync/friends.js";
import { inbox } from "../sync/inbox.js";

/** Of so many messages that come at once each has a notification. */
const MOST_AT_ONCE = 10;

/** Begins to notify; the result ends it, and removes what is shown. */
export function startNotifier() {
    const names = new Map();
    const me = credentials.user.id;
    let known;
    let requests;

    const nameOf = (user) => user === me ? credentials.user.displayName : names.get(user) ?? t("row.aMember");
    const learn = async (user) => {
        if (user === me || names.has(user)) return;
        try { names.set(user, (await request("users.get", { user })).displayName); } catch { /* They have no name here. */ }
    };

    const notify = async (row, message) => {
        const { id, conversation, membership, person } = row;
        const isRequest = membership.state === "invited";
        if (person) names.set(person.id, person.displayName);
        const mentioned = (message.ranges ?? []).map((one) => one.user).filter(Boolean);
        await Promise.all([message.author, ...mentioned].map(learn));
        const text = message.call ? recordText(message.call, me) : message.voice ? voiceText(message.voice)
            : plainText(message.text ?? "", message.ranges, nameOf);
        const body = isRequest ? t(person ? "notify.request" : "row.youAreInvited") : !preferences.get("notificationText") ? t("notify.message")
            : conversation.kind === "group" ? t("search.line", { author: nameOf(message.author), text }) : text;
        await notifications.show({ tag: tagOf(id, message), title: titleOf(row), body, page: `#/c/${id}`, address: `#/c/${id}/${message.number}`,
            conversation: id, number: message.number, ...(person?.photoURL?.startsWith("/v1/photos/") && { icon: person.photoURL }) });
    };

    const readRow = async (row, { after, upTo }) => {
        if (notifications.isShown(`#/c/${row.id}`) || !notifications.isOn) return;
        // Of several that came at once the row has the last.
        let messages = [row.lastMessage];
        if (after + 1 < upTo && row.membership.state === "member") {
            const from = Math.max(after, upTo - MOST_AT_ONCE - 1);
            const page = await request("messages.list", { conversation: row.id, after: from, limit: MOST_AT_ONCE }).catch(() => undefined);
            messages = [...page?.messages.filter((one) => one.number < upTo) ?? [], row.lastMessage];
        }
        for (const one of shownNews(messages, row, { me, blocked: friends.blocked })) await notify(row, one);
    };

    const watchInbox = () => {
        const { state } = inbox;
        if (!state.isLoaded) return;
        const before = known;
        known = knownInbox(state, me);
        const { read, deleted } = settled(before, state);
        if (Object.keys(read).length > 0) notifications.withdraw({ read });
        for (const tag of deleted) notifications.withdraw({ tag });
        for (const row of before ? Object.values(state.rows) : []) {
            const news = newsOf(before, state, row, { me, blocked: friends.blocked });
            if (news) readRow(row, news);
        }
    };

    const watchFriends = () => {
        const before = requests;
        requests = new Map(friendsIn(friends.state, "received").map(({ user }) => [user.id, user]));
        if (!before) return;
        for (const [id, user] of requests) {
            if (before.has(id)) continue;
            notifications.show({ tag: `friend-${id}`, title: user.displayName, body: t("notify.friendRequest"), page: "#/people",
                ...(user.photoURL?.startsWith("/v1/photos/") && { icon: user.photoURL }) });
        }
        for (const id of before.keys()) if (!requests.has(id)) notifications.withdraw({ tag: `friend-${id}` });
    };

    const noteMissed = ({ id, caller }) => notifications.show({ tag: callTagOf(id), title: caller.displayName, body: t("callRecord.missed"), page: "", address: "#/history" });

    watchInbox();
    const unsubscribe = [inbox.on("change", watchInbox), friends.on("change", watchFriends), calls.on("missed", noteMissed)];
    return () => {
        unsubscribe.forEach((one) => one());
        notifications.withdraw();
    };
}
