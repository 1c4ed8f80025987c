extension DatabaseSchema {
    /// Conversations, their members and messages.
    ///
    /// `conversations.pair` is that of a direct conversation or of notes: there is one of each. Nothing is written per member
    /// when a message is sent: a send is a row of `messages`, its entry in `messages_sent`, and the counters of the
    /// conversation. `spans` are the numbers after `from_number` up to `until_number`. `messages.withheld` and
    /// `text_withheld` are what only the author sees.
    static let messaging: [Migration] = [
        Migration(
            36, "conversations",
            [
                """
                CREATE TABLE conversations (
                    id TEXT PRIMARY KEY, kind TEXT NOT NULL, pair TEXT, name TEXT, created_at BIGINT NOT NULL,
                    last_number BIGINT NOT NULL, last_sent_at BIGINT NOT NULL, sequence BIGINT NOT NULL,
                    member_count BIGINT NOT NULL, who_writes TEXT NOT NULL, who_adds TEXT NOT NULL,
                    who_renames TEXT NOT NULL, version BIGINT NOT NULL) WITHOUT ROWID
                """,
                "CREATE UNIQUE INDEX conversations_pair ON conversations (pair) WHERE pair IS NOT NULL",
                """
                CREATE TABLE members (
                    conversation_id TEXT NOT NULL, user_id TEXT NOT NULL, role TEXT NOT NULL, state TEXT NOT NULL,
                    joined_at BIGINT NOT NULL, version BIGINT NOT NULL, PRIMARY KEY (conversation_id, user_id))
                    WITHOUT ROWID
                """,
                "CREATE INDEX members_user ON members (user_id, conversation_id)",
                """
                CREATE TABLE spans (
                    conversation_id TEXT NOT NULL, user_id TEXT NOT NULL, from_number BIGINT NOT NULL,
                    until_number BIGINT, until_sequence BIGINT, PRIMARY KEY (conversation_id, user_id, from_number))
                    WITHOUT ROWID
                """,
                "CREATE INDEX spans_user ON spans (user_id)",
                """
                CREATE TABLE messages (
                    conversation_id TEXT NOT NULL, number BIGINT NOT NULL, client_id TEXT NOT NULL, author TEXT NOT NULL,
                    sent_at BIGINT NOT NULL, kind TEXT NOT NULL, text TEXT, ranges TEXT, version BIGINT NOT NULL,
                    text_version BIGINT NOT NULL, reply_to BIGINT, edited_at BIGINT, deleted_at BIGINT,
                    withheld BIGINT NOT NULL, text_withheld BIGINT NOT NULL, digest BLOB NOT NULL,
                    PRIMARY KEY (conversation_id, number)) WITHOUT ROWID
                """,
                "CREATE UNIQUE INDEX messages_sent ON messages (author, client_id)",
                """
                CREATE TABLE edits (
                    conversation_id TEXT NOT NULL, number BIGINT NOT NULL, text_version BIGINT NOT NULL,
                    text TEXT NOT NULL, written_at BIGINT NOT NULL, withheld BIGINT NOT NULL,
                    PRIMARY KEY (conversation_id, number, text_version)) WITHOUT ROWID
                """,
            ])
    ]

    /// Which conversations are somebody's: what others have invited them to, and what came of it, is no part of their lists,
    /// searches and limits.
    static let listedConversations: [Migration] = [
        Migration(
            67, "listed conversations",
            [
                """
                CREATE INDEX members_listed ON members (user_id, state, conversation_id)
                WHERE state <> 'left' OR at_leaving IS NOT NULL
                """,
                "CREATE INDEX members_gone ON members (user_id, counter) WHERE state = 'left' AND at_leaving IS NULL",
                "CREATE INDEX members_waiting ON members (user_id, joined_at) WHERE state = 'invited'",
            ])
    ]

    /// Those who are in a conversation, however many have left it.
    static let membersInside: [Migration] = [
        Migration(
            70, "members inside",
            ["CREATE INDEX members_inside ON members (conversation_id, user_id) WHERE state = 'member'"])
    ]

    /// `edits.ranges` is what is in the text, as `messages.ranges`; NULL where it was not stored: it is found when it is read.
    static let rangesOfEdits = [
        Migration(71, "ranges of former texts", ["ALTER TABLE edits ADD COLUMN ranges TEXT"])
    ]

    /// What streams and inboxes resume by.
    ///
    /// `messages.born` is the conversation's sequence when the message was sent: it rises with the number, so that
    /// `messages_changed` holds only what changed later, and a send writes no entry. `log.counter` rises with every commit
    /// that changes an inbox; `counter` is its value at the last change of a conversation or of a member's own part, and
    /// `activity` that at its last message. `members.at_leaving` is the conversation as the member left it.
    static let messagingStreams: [Migration] = [
        Migration(
            39, "streams of conversations",
            [
                "ALTER TABLE log ADD COLUMN counter BIGINT NOT NULL DEFAULT 0",
                "ALTER TABLE conversations ADD COLUMN counter BIGINT NOT NULL DEFAULT 0",
                "ALTER TABLE conversations ADD COLUMN activity BIGINT NOT NULL DEFAULT 0",
                "ALTER TABLE members ADD COLUMN counter BIGINT NOT NULL DEFAULT 0",
                "ALTER TABLE members ADD COLUMN activity BIGINT NOT NULL DEFAULT 0",
                "ALTER TABLE members ADD COLUMN at_leaving TEXT",
                "ALTER TABLE messages ADD COLUMN born BIGINT NOT NULL DEFAULT 0",
                "CREATE INDEX messages_changed ON messages (conversation_id, version) WHERE version > born",
                "CREATE INDEX members_changed ON members (conversation_id, version)",
            ])
    ]
}
