// When the user is asked whether they want to be notified: once they know what of.

/** Whether anybody has written here, the user or another one: notes to oneself, and what machines note, do not count. */
export const hasWritten = (inbox) => Object.values(inbox.rows).some(({ lastMessage, conversation }) => lastMessage && !lastMessage.notice
    && conversation?.kind !== "self");
