extension DatabaseSchema {
    /// Calls, their participants, and the signals between their endpoints.
    ///
    /// A call's deadlines are columns (`ring_until`, `setup_until`, `empty_until`), since they are part of the
    /// document. `pair` and `conversation_id` are unique among live calls, so two people who call each other at the
    /// same time end up in one call. `participants.live` repeats whether the call is live, so that a user's current
    /// calls are found without scanning the user's history.
    static let calls: [Migration] = [
        Migration(
            3, "calls",
            [
                """
                CREATE TABLE calls (
                    id TEXT PRIMARY KEY, conversation_id TEXT, kind TEXT NOT NULL, mode TEXT NOT NULL,
                    created_at BIGINT NOT NULL, version BIGINT NOT NULL, status TEXT NOT NULL, pair TEXT,
                    answered_at BIGINT, empty_until BIGINT, ended_at BIGINT, end_reason TEXT, ended_by TEXT)
                """,
                """
                CREATE UNIQUE INDEX calls_live_pair ON calls (pair)
                    WHERE status <> 'ended' AND pair IS NOT NULL
                """,
                """
                CREATE UNIQUE INDEX calls_live_conversation ON calls (conversation_id)
                    WHERE status <> 'ended' AND conversation_id IS NOT NULL
                """,
                """
                CREATE TABLE participants (
                    call_id TEXT NOT NULL, place BIGINT NOT NULL, user_id TEXT NOT NULL, display_name TEXT NOT NULL,
                    photo_url TEXT, live BIGINT NOT NULL, withheld BIGINT NOT NULL, state TEXT NOT NULL,
                    ring_until BIGINT, endpoint_id TEXT, joined_at BIGINT, connected BIGINT NOT NULL, setup_until BIGINT,
                    detached_at BIGINT, taken_over BIGINT NOT NULL, left_at BIGINT, reason TEXT,
                    audio BIGINT NOT NULL, video BIGINT NOT NULL, screen BIGINT NOT NULL, held BIGINT NOT NULL,
                    loss DOUBLE PRECISION, jitter DOUBLE PRECISION, round_trip DOUBLE PRECISION, relayed BIGINT,
                    seconds DOUBLE PRECISION, PRIMARY KEY (call_id, place))
                """,
                "CREATE UNIQUE INDEX participants_user ON participants (user_id, call_id)",
                "CREATE INDEX participants_live ON participants (user_id) WHERE live = 1",
                """
                CREATE TABLE negotiations (
                    call_id TEXT NOT NULL, first_endpoint TEXT NOT NULL, second_endpoint TEXT NOT NULL,
                    generation BIGINT NOT NULL, offer_from TEXT, offer_delivered_at BIGINT, offer_seq BIGINT,
                    offer_answered BIGINT NOT NULL, held_first BIGINT NOT NULL, held_second BIGINT NOT NULL,
                    PRIMARY KEY (call_id, first_endpoint, second_endpoint))
                """,
                """
                CREATE TABLE signals (
                    call_id TEXT NOT NULL, user_id TEXT NOT NULL, client_id TEXT NOT NULL, body_hash BIGINT NOT NULL,
                    place BIGINT NOT NULL, endpoint_id TEXT NOT NULL, to_endpoint TEXT NOT NULL, kind TEXT NOT NULL,
                    generation BIGINT NOT NULL, status TEXT NOT NULL, data TEXT,
                    PRIMARY KEY (call_id, user_id, client_id))
                """,
            ]),
        Migration(4, "calls in the gateway", ["ALTER TABLE calls ADD COLUMN gateway_epoch BIGINT"]),
        Migration(5, "lives of the gateway", ["CREATE TABLE gateway (id BIGINT PRIMARY KEY, epoch BIGINT NOT NULL)"]),
        Migration(13, "sign-ins of participants", ["ALTER TABLE participants ADD COLUMN sign_in_id TEXT"]),
    ]
}
