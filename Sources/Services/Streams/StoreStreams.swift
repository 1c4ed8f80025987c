import Accounts
import Assistant
package import Calls
import Friends
import Languages
package import Messaging
package import Model
package import Realtime
package import Storage

/// Reads streams from the store for realtime sessions: access, snapshot and position in one read transaction.
package struct StoreStreams: StreamSource {
    /// Replaying more changes than this costs more than a snapshot.
    static let maxResumedChanges = 1000

    let store: Store
    private let commands: CallCommands
    let conversations: ConversationCommands
    let inboxes: InboxReader
    let translations: TranslationService
    let hints: HintService
    /// Nil where there is none.
    private let assistant: AssistantService?
    private let hub: RealtimeHub
    private let captionReaders: CaptionReaders
    private let lastSeen: LastSeenRecorder

    package init(
        store: Store, commands: CallCommands, conversations: ConversationCommands,
        translations: TranslationService, hints: HintService, captionReaders: CaptionReaders, hub: RealtimeHub,
        lastSeen: LastSeenRecorder, assistant: AssistantService? = nil
    ) {
        self.captionReaders = captionReaders
        self.store = store
        self.commands = commands
        self.conversations = conversations
        self.translations = translations
        self.hints = hints
        self.assistant = assistant
        inboxes = InboxReader(commands: conversations)
        self.hub = hub
        self.lastSeen = lastSeen
    }

    package func moved(
        _ conversations: Set<ConversationID>, in inbox: UserID, after sequence: Int64, upTo position: Position
    ) async throws -> StateOpening {
        let inboxes = inboxes
        return try await store.read { transaction in
            let rows = try inboxes.rows(conversations, of: inbox, in: transaction)
            return StateOpening(.rows(rows, after: sequence), position)
        }
    }

    package func open(_ stream: StreamName, after: Position?, for principal: Principal) async throws -> StreamOpening {
        // Whoever stops listening is not read for any more.
        try await SQLReads.$endWithTask.withValue(true) { try await read(stream, after: after, for: principal) }
    }

    private func read(
        _ stream: StreamName, after: Position?, for principal: Principal
    ) async throws -> StreamOpening {
        if case .presence(let user) = stream { return try await openPresence(of: user, for: principal) }
        switch stream {
        case .conversation(let id): return try await openConversation(id, after: after, for: principal)
        case .inbox(let user): return try await openInbox(of: user, after: after, for: principal)
        case .marks(let id): return try await openMarks(of: id, after: after, for: principal)
        case .translations(let id): return try await openTranslations(of: id, after: after, for: principal)
        case .run(let id):
            guard let assistant else { throw Problem.notFound("stream", field: "stream") }
            let (run, text) = try await assistant.run(id, of: principal.user)
            var writer = JSONWriter(capacity: 1024)
            writer.object { writer in
                writer.name("run")
                run.write(to: &writer)
                writer.member("text", text)
            }
            return .snapshot(writer.bytes, .ephemeral)
        case .typing(let id):
            let conversations = conversations
            try await store.read { try conversations.checkTyping(in: id, by: principal.user, store: $0) }
            return .snapshot(Array("{}".utf8), .ephemeral)
        default: break
        }
        let commands = commands
        if case .captions(let call) = stream {
            try await store.read { try commands.checkCaptions(of: call, by: principal, in: $0) }
            return .snapshot(Array("{}".utf8), .ephemeral)
        }
        if case .captionTranslations(let call, let language) = stream {
            return try await openCaptions(of: call, in: language, for: principal)
        }
        return try await store.read { transaction in
            try Self.checkAccess(to: stream, for: principal, commands, in: transaction)
            guard let after else {
                return .snapshot(
                    try Self.snapshot(of: stream, commands, in: transaction), try transaction.position(of: stream))
            }
            switch try transaction.changes(of: stream, after: after, limit: Self.maxResumedChanges) {
            case .changes(let changes, let position, true): return .changes(changes, position)
            case .changes(_, _, false):
                return .reset(
                    .gap, try Self.snapshot(of: stream, commands, in: transaction), try transaction.position(of: stream)
                )
            case .reset(let reason):
                return .reset(
                    reason, try Self.snapshot(of: stream, commands, in: transaction),
                    try transaction.position(of: stream))
            }
        }
    }

    private static func checkAccess(
        to stream: StreamName, for principal: Principal, _ commands: CallCommands, in transaction: StoreTransaction
    ) throws {
        switch stream {
        case .user(let user):
            guard user == principal.user else { throw Problem.notFound("stream", field: "stream") }
        case .call(let call): _ = try commands.get(call, by: principal, in: transaction)
        case .signals(let call, let endpoint):
            try commands.checkMailbox(of: endpoint, in: call, by: principal, store: transaction)
        case .presence, .captions, .captionTranslations, .conversation, .inbox, .marks, .translations, .typing, .run:
            break
        }
    }

    private static func snapshot(
        of stream: StreamName, _ commands: CallCommands, in transaction: StoreTransaction
    ) throws -> [UInt8] {
        let now = transaction.now
        switch stream {
        case .user(let user):
            guard let account = try transaction.user(user) else { throw Problem.notFound("stream", field: "stream") }
            let calls = try commands.liveCalls(of: user, in: transaction)
            let me = try StoreTransaction.json(account.ownProfile)
            let friends = try transaction.newestFriends(of: user, limit: FriendRules.snapshotLimit + 1)
            let shown = try friends.prefix(FriendRules.snapshotLimit).map {
                try StoreTransaction.json(FriendDocument($0.record, $0.user.profile))
            }
            var writer = JSONWriter(capacity: 1024)
            writer.object { writer in
                writer.name("me")
                writer.write(json: me)
                writer.name("calls")
                writer.array(calls) { $1.write(to: &$0, at: now) }
                writer.name("friends")
                writer.array(shown) { $0.write(json: $1) }
                if friends.count > shown.count { writer.member("moreFriends", true) }
            }
            return writer.bytes
        case .call(let id):
            guard let call = try transaction.call(id) else { throw Problem.notFound("stream", field: "stream") }
            var writer = JSONWriter(capacity: 1024)
            writer.object { writer in
                writer.name("call")
                call.write(to: &writer, at: now)
            }
            return writer.bytes
        case .signals(let call, let endpoint):
            return Array(try transaction.mailboxJSON(of: endpoint, in: call).utf8)
        case .presence, .captions, .captionTranslations, .conversation, .inbox, .marks, .translations, .typing, .run:
            throw Problem.notFound("stream", field: "stream")
        }
    }

    private func openCaptions(
        of call: CallID, in language: String, for principal: Principal
    ) async throws -> StreamOpening {
        let commands = commands
        try await store.read { try commands.checkCaptions(of: call, by: principal, in: $0) }
        guard let tag = LanguageTag(wellFormed: language)?.asTarget, tag.string == language else {
            throw Problem.invalid(
                "stream", "Captions are translated into a language with a code, written such as pt or pt-BR.")
        }
        guard !translations.engines.isEmpty else {
            throw Problem(.providerNotConfigured, "This server has nothing that translates.")
        }
        // A joined endpoint is one of the principal's.
        if let endpoint = principal.endpoint,
            let before = captionReaders.listen(endpoint, of: principal.user, to: call, in: tag)
        {
            hub.drop(endpoint: endpoint, from: .captionTranslations(call, language: before.string))
        }
        return .snapshot(Array("{}".utf8), .ephemeral)
    }

    /// For users who hide their presence, the hub publishes nothing.
    private func openPresence(of user: UserID, for principal: Principal) async throws -> StreamOpening {
        let (view, stored) = try await store.read { transaction in
            guard let view = try transaction.presenceView(of: user, for: principal.user) else {
                throw Problem.notFound("user", field: "stream")
            }
            return (view, view == .full ? try transaction.lastSeen(user) : nil)
        }
        // Read last: what is published from now on follows.
        var presence = hub.presence(of: user)
        if !presence.online { presence.lastSeenAt = lastSeen.pending(user) ?? stored }
        return .presence(presence, view)
    }
}
