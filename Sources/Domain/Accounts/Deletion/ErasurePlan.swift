/// What becomes of every kind of row and file when a user is deleted. This table is the only place that says so: a test
/// compares it with the schema, so that a new table or column of text fails the test until it is named here.
///
/// Others' messages and tracks stay, and so do calls, in which the user is shown as `DeletedUser.name`.
package enum ErasurePlan {
    package static let rules: [ErasureRule] =
        accounts + friends + conversations + imports + calls + voice + log + operation

    /// Rows that belong to the user alone, which the step `rows` removes.
    package static var rowsToRemove: [ErasureRule] { rules.filter { $0.moment == .step(.rows) && $0.fate == .removed } }

    private static let accounts = [
        // Only the id remains, and when the account was created and deleted.
        ErasureRule(
            "users", .cleared, .atOnce, users: ["id"],
            personal: [
                "email", "email_key", "password_hash", "display_name", "photo_url", "languages", "presence",
                "translation_mode", "translation_into", "translation_tone", "intelligence", "hints",
                "notifications", "quiet_zone",
            ], others: ["reach", "last_seen", "message_requests"]),
        ErasureRule("name_words", .removed, .atOnce, users: ["user_id"], personal: ["word"]),
        ErasureRule("outside_identities", .removed, .atOnce, users: ["user_id"], personal: ["issuer", "subject"]),
        // Digests, which name nobody and refuse the tokens of deleted users.
        ErasureRule("deleted_identities", .kept, .never, others: ["hash"]),
        // Of the user, and by others of the user.
        ErasureRule("blocks", .removed, .step(.rows), users: ["blocker", "user_id"], key: ["blocker", "user_id"]),
        ErasureRule(
            "devices", .removed, .step(.rows), users: ["user_id"], personal: ["name", "platform"], others: ["id"],
            key: ["user_id", "id"]),
        // Kept without the names of clients until no token of theirs is valid, since they refuse those tokens.
        ErasureRule(
            "sign_ins", .cleared, .step(.rows), users: ["user_id"], personal: ["client_name", "client_version"],
            others: ["id", "device_id", "family_hash", "used_hash", "next_hashes", "end_reason", "actor"]),
        ErasureRule(
            "endpoints", .removed, .step(.rows), users: ["user_id"], others: ["id", "secret_hash", "sign_in_id"],
            key: ["id"]),
        // Where the user's devices are pushed to, and what they are to be told.
        ErasureRule(
            "push_registrations", .removed, .atOnce, users: ["user_id"], personal: ["address", "digest"],
            others: ["device_id", "kind", "endpoint_id"]),
        ErasureRule("pushes", .removed, .atOnce, others: ["topic", "sent"]),
        ErasureRule("push_sources", .kept, .never, others: ["topic"]),
        ErasureRule("invites", .kept, .never, users: ["used_by"], others: ["hash"]),
        ErasureRule("files:photo", .removed, .step(.calls)),
    ]

    private static let friends = [
        // Others see that the friendship or request is over; the rest goes with the rows.
        ErasureRule(
            "friends", .removed, .step(.rows), users: ["owner", "user_id"], personal: ["note"], others: ["state"],
            key: ["owner", "user_id"]),
        ErasureRule(
            "contact_links", .removed, .step(.rows), users: ["user_id"], others: ["hash"], key: ["user_id"]),
        // Of reports by the user the text; those about the user keep the id and what others wrote, without the user's
        // messages.
        ErasureRule(
            "reports", .cleared, .step(.friends), users: ["reporter", "user_id"], personal: ["text", "evidence"],
            others: ["id", "reason", "conversation_id", "outcome", "resolved_by"]),
    ]

    private static let conversations = [
        // They are their members', and so are their names.
        ErasureRule(
            "conversations", .kept, .never, users: ["pair"],
            others: [
                "id", "kind", "name", "who_writes", "who_adds", "who_renames", "pins", "live_call", "withheld_timers",
                "withheld_versions", "withheld_end",
                "intelligence",
            ]),
        // The user has left all groups; others see a deleted user.
        ErasureRule(
            "members", .kept, .never, users: ["user_id", "invited_by"],
            others: ["conversation_id", "role", "state", "at_leaving"]),
        ErasureRule(
            "spans", .removed, .step(.rows), users: ["user_id"], others: ["conversation_id"],
            key: ["conversation_id", "user_id", "from_number"]),
        // What the user wrote; its number stays.
        ErasureRule(
            "messages", .cleared, .step(.messages), users: ["author", "forwarded_from"],
            personal: ["text", "ranges", "language", "digest", "voice", "notice"],
            others: ["conversation_id", "client_id", "kind", "reactions", "call"]),
        ErasureRule(
            "edits", .removed, .step(.messages), personal: ["text", "ranges", "language"],
            others: ["conversation_id"]),
        // What was made of the user's messages goes with them, and what is to be made.
        ErasureRule(
            "translations", .removed, .step(.messages), personal: ["text"],
            others: [
                "conversation_id", "language", "tone", "status", "reason", "engine", "kind", "level", "terms",
            ]),
        ErasureRule(
            "hints", .removed, .step(.messages), personal: ["items"],
            others: ["conversation_id", "language", "status", "reason", "engine", "kind", "level", "earlier"]),
        ErasureRule(
            "summary_blocks", .removed, .step(.messages), personal: ["items"],
            others: ["conversation_id", "language", "engine", "level"]),
        ErasureRule(
            "jobs", .removed, .step(.messages), users: ["author", "payer"],
            others: ["conversation_id", "language", "tone", "source", "purpose"]),
        // Of others who wrote the same the digests stay, and the translation as long as there are enough of them.
        ErasureRule("phrases", .cleared, .step(.messages), personal: ["text"], others: ["hash", "language"]),
        ErasureRule("phrase_authors", .removed, .step(.messages), others: ["hash", "author"]),
        // Vectors of the user's messages go with them; how far a conversation has some says nothing of anybody.
        ErasureRule("vectors", .removed, .step(.messages), personal: ["bytes"], others: ["conversation_id"]),
        ErasureRule("vector_models", .kept, .never, others: ["name"]),
        ErasureRule("embedded", .kept, .never, others: ["conversation_id"]),
        ErasureRule("reembed", .kept, .never, others: ["conversation_id"]),
        ErasureRule("vector_checks", .kept, .never, others: ["conversation_id"]),
        // What the user asked, and what was answered. Of others' answers that rest on the user's messages these go with them.
        ErasureRule(
            "assistant_threads", .removed, .step(.rows), users: ["user_id"], personal: ["title"], others: ["id"],
            key: ["id"]),
        ErasureRule(
            "assistant_runs", .removed, .step(.rows), users: ["user_id"], personal: ["question"],
            others: [
                "id", "thread_id", "conversation_id", "audience", "status", "reason", "tools", "model",
            ], key: ["id"]),
        ErasureRule(
            "assistant_sentences", .removed, .step(.rows), users: ["user_id"], personal: ["text"], others: ["run_id"],
            key: ["run_id", "position"]),
        ErasureRule(
            "assistant_citations", .removed, .step(.rows), users: ["user_id"], others: ["conversation_id", "run_id"],
            key: ["conversation_id", "number", "run_id", "position"]),
        ErasureRule(
            "assistant_sources", .removed, .step(.rows), users: ["user_id"], others: ["conversation_id", "run_id"],
            key: ["conversation_id", "number", "run_id"]),
        // They are the conversation's, as its name is.
        ErasureRule("glossaries", .kept, .never, others: ["conversation_id", "terms"]),
        // How much was given to hosted services, without a text.
        ErasureRule(
            "provider_calls", .removed, .step(.rows), users: ["payer"], others: ["purpose", "engine", "outcome"],
            key: ["id"]),
        ErasureRule(
            "provider_usage", .removed, .step(.rows), users: ["scope"], others: ["period"], key: ["scope", "period"]),
        ErasureRule("level_checks", .kept, .never, others: ["conversation_id"]),
        // Also those that the messages count and name.
        ErasureRule(
            "reactions", .removed, .step(.reactions), users: ["user_id"], personal: ["emoji"],
            others: ["conversation_id"]),
        ErasureRule(
            "own", .removed, .step(.rows), users: ["user_id"], others: ["conversation_id"],
            key: ["user_id", "conversation_id", "number"]),
        // Others' texts still have the id.
        ErasureRule(
            "mentions", .removed, .step(.rows), users: ["user_id"], others: ["conversation_id"],
            key: ["conversation_id", "number", "user_id"]),
        ErasureRule(
            "missed_calls", .removed, .step(.rows), users: ["user_id"], others: ["conversation_id"],
            key: ["conversation_id", "number", "user_id"]),
        ErasureRule(
            "scheduled", .removed, .step(.rows), users: ["author"], personal: ["text", "digest"],
            others: ["client_id", "conversation_id", "failure", "failure_detail"], key: ["author", "client_id"]),
        ErasureRule(
            "memberships", .removed, .step(.rows), users: ["user_id"],
            personal: ["draft", "translation_mode", "translation_into", "translation_tone", "intelligence", "hints"],
            others: ["conversation_id"],
            key: ["user_id", "conversation_id"]),
        ErasureRule(
            "marks", .removed, .step(.rows), users: ["user_id"], others: ["conversation_id", "shown"],
            key: ["conversation_id", "user_id"]),
        ErasureRule(
            "mark_rises", .removed, .step(.rows), users: ["user_id"], others: ["conversation_id", "kind"],
            key: ["conversation_id", "user_id", "kind", "to_number"]),
        // The words of deleted messages, with them.
        ErasureRule("postings", .removed, .step(.messages), personal: ["term"]),
        ErasureRule("message_terms", .removed, .step(.messages), personal: ["terms"]),
        ErasureRule("changed_texts", .removed, .step(.messages), others: ["conversation_id"]),
        ErasureRule("search_indexes", .kept, .never, others: ["conversation_id"]),
        // Those of groups ended when the user left them.
        ErasureRule(
            "group_links", .removed, .step(.rows), users: ["maker"], others: ["conversation_id", "id", "hash"],
            key: ["conversation_id", "id"]),
        // By the user, and of the user's invitations.
        ErasureRule(
            "declines", .removed, .step(.rows), users: ["user_id", "subject"], key: ["user_id", "subject"]),
    ]

    private static let imports = [
        // The keys are digests of ids elsewhere; the content's would confirm what is guessed.
        ErasureRule(
            "imported", .cleared, .atOnce, users: ["user_id"], personal: ["digest"], others: ["key", "kind", "entity"]),
        ErasureRule(
            "import_members", .removed, .step(.rows), users: ["user_id"], others: ["conversation_id", "role", "state"],
            key: ["conversation_id", "user_id"]),
    ]

    private static let calls = [
        ErasureRule(
            "calls", .kept, .never, users: ["ended_by", "recording_by", "captions_by", "pair"],
            others: [
                "id", "conversation_id", "kind", "mode", "status", "end_reason", "recording_id", "recording_end",
                "captions_failure",
            ]),
        ErasureRule(
            "participants", .cleared, .step(.participants), users: ["user_id"],
            personal: ["display_name", "photo_url"],
            others: ["call_id", "state", "endpoint_id", "sign_in_id", "reason"]),
        ErasureRule(
            "negotiations", .kept, .never,
            others: ["call_id", "first_endpoint", "second_endpoint", "offer_from"]),
        // Their data has addresses of the user's network.
        ErasureRule(
            "signals", .removed, .step(.signals), users: ["user_id"], personal: ["data"],
            others: ["call_id", "client_id", "endpoint_id", "to_endpoint", "kind", "status"]),
        ErasureRule("ended_mailboxes", .kept, .never, others: ["call_id"]),
        ErasureRule("gateway", .kept, .never),
        // Also those that the user started: they hold the tracks of others. Without one, they are removed.
        ErasureRule(
            "recordings", .kept, .never, users: ["user_id"], others: ["id", "call_id", "status", "failure", "reason"]),
        ErasureRule(
            "recording_tracks", .removed, .step(.recordings), users: ["user_id"],
            others: ["recording_id", "endpoint_id", "source", "file_id"]),
        ErasureRule(
            "recording_audience", .removed, .step(.rows), users: ["user_id"], others: ["recording_id"],
            key: ["recording_id", "user_id"]),
        // A mix that holds a track of the user has failed, and can be requested again.
        ErasureRule(
            "recording_mixes", .cleared, .step(.recordings), users: ["user_id"],
            others: ["recording_id", "status", "failure", "file_id"]),
        ErasureRule("files:recording", .removed, .step(.recordings)),
    ]

    private static let voice = [
        // With their messages, or by this step if they were not sent.
        ErasureRule(
            "voice_files", .removed, .step(.voiceMessages), users: ["author"], personal: ["waveform"],
            others: ["file_id", "conversation_id"]),
        // With the message or the track.
        ErasureRule(
            "transcripts", .removed, .step(.voiceMessages), personal: ["data"], others: ["file_id", "status"]),
        ErasureRule(
            "media_files", .removed, .step(.voiceMessages), users: ["owner"],
            others: ["id", "kind", "resource", "content_type"]),
        // The sum of what the user owns of recordings that stay.
        ErasureRule("media_usage", .kept, .never, users: ["user_id"]),
        ErasureRule("files:voice", .removed, .step(.voiceMessages)),
    ]

    private static let log = [
        // The user's own stream, and others' up to the last entry that names the user: who resumes from before it gets
        // a reset.
        ErasureRule("changes", .removed, .step(.log), personal: ["data"], others: ["stream", "type", "sender"]),
        ErasureRule("streams", .kept, .never, others: ["name", "epoch"]),
        ErasureRule("log", .kept, .never, others: ["epoch", "stream_epoch"]),
        ErasureRule(
            "client_ids", .removed, .step(.rows), users: ["user_id"],
            others: ["client_id", "body_hash", "entity", "scope"], key: ["user_id", "client_id"]),
    ]

    private static let operation = [
        ErasureRule(
            "server_keys", .kept, .never, others: ["id", "name", "hash", "previous_hash", "scopes", "addresses"]),
        // Ids only: the addresses are those of keys and of refused requests.
        ErasureRule(
            "audit", .kept, .never, users: ["subject"],
            others: ["actor_kind", "actor_id", "action", "outcome", "address", "request_id"]),
        ErasureRule(
            "webhooks", .kept, .never,
            others: ["id", "name", "url", "types", "secret", "previous_secret", "disabled_reason"]),
        ErasureRule("event_log", .kept, .never),
        // `user.deleted` keeps the app's own id, which the app needs to do the same.
        ErasureRule(
            "events", .cleared, .step(.events), users: ["user_id"], personal: ["data"],
            others: ["id", "type", "call_id", "recording_id"]),
        ErasureRule("deliveries", .kept, .never, others: ["webhook_id", "outcome", "reason"]),
        ErasureRule("erasures", .removed, .step(.checkpoint), users: ["user_id"], others: ["step", "cursor", "photo"]),
        ErasureRule("migrations", .kept, .never, others: ["name"]),
        ErasureRule("unfinished_migrations", .kept, .never),
    ]
}
