import Accounts
import Assistant
import Bus
import Calls
import Friends
import Languages
import Logging
import Messaging
import Model
import NIOPosix
import Realtime
import Storage
import TestSupport
import Tokens
import Wire

@testable import Services

/// A store with users who are sent what is published, at a time that commands move.
final class StreamHarness: Sendable {
    /// What one command has published, in the order of the commits.
    enum Publication: Sendable {
        case changes([Change])
        case updates([ConversationUpdate])
        case event(EphemeralEvent)
        /// The user has changed whether they send receipts.
        case receipts(UserID)
        /// The user has changed how they read translations.
        case translations(UserID)
        /// The user has changed who sees their presence.
        case presence(UserID)
    }

    let store: Store
    /// As sessions are served: who listens to translations demands some.
    let streams: any StreamSource
    /// As they are, but nothing is demanded by reading.
    let views: any StreamSource
    let commands: ConversationCommands
    let inboxes: InboxReader
    let users: [UserID]
    let time: ManualClock<Timestamp>
    let bus = InProcessBus()
    let hub: RealtimeHub
    let lastSeen: LastSeenRecorder
    let translations: TranslationService
    /// As on a server with a hosted model, whose sessions are served; with one of its own; with none.
    let hints: [HintService]
    let assistant: AssistantCommands
    /// What engines and models were given, and have not responded to.
    let claims = Shared<[ClaimedWork]>([])
    let blocks = Shared<[PendingBlock]>([])
    let answers = Shared<[PendingAnswer]>([])
    let batches = Shared<[EmbeddingBatch]>([])
    /// Of the newest vectors that there have ever been, the newest first: a copy in memory may still propose what is gone.
    let candidates = Shared<[MeaningCandidate]>([])
    let model: VectorModel
    /// Messages whose texts have changed since somebody followed them.
    let texts: Shared<[ConversationID: Set<Int64>]>
    /// What was shown that may not be, for a moment that no client sees afterwards.
    let violations = Shared<[String]>([])
    let json = JSONCache()
    /// How often something of a kind was compared.
    let coverage = Shared<[String: Int]>([:])
    /// How many sessions users have, of those who have any.
    let sessions = Shared<[UserID: Int]>([:])
    /// Calls whose streams were closed for a user, who left their conversation.
    let closedCalls = Shared<[UserID: Set<CallID>]>([:])
    private let typing: TypingNotices
    private let principals: [Principal]
    private let calls = CallCommands()
    private let friends: FriendCommands
    private let locations = Shared<[Location: ConversationID]>([:])
    private let liveCalls = Shared<[Location: CallID]>([:])
    private let published: Shared<[Publication]>
    private let directory: ScratchDirectory
    private let database: SQLiteDatabase

    init(users count: Int) async throws {
        let (time, published) = (ManualClock<Timestamp>(), Shared<[Publication]>([]))
        let texts = Shared<[ConversationID: Set<Int64>]>([:])
        (self.time, self.published, self.texts) = (time, published, texts)
        directory = try ScratchDirectory()
        database = try SQLiteDatabase(path: directory.database, readers: 1)
        store = Store(
            database: database, clock: { time.now },
            publishUpdates: { new in published.update { $0.append(.updates(new)) } },
            publish: { new in published.update { $0.append(.changes(new)) } })
        try await store.prepare()
        // Windows that are smaller than what is written, so that who resumes has gaps.
        var limits = ConversationLimits()
        limits.window = 5
        // Whole conversations are compared.
        limits.page = 1_000
        commands = ConversationCommands(
            limits: limits, analyzer: TextAnalyzer(engine: EnglishIdentification()),
            intelligence: IntelligenceRules(isEmbedderHosted: true))
        model = try await store.write { try $0.vectorModel(named: Self.embedder) }.value
        inboxes = InboxReader(commands: commands)
        friends = FriendCommands(database: store, secrets: SystemSecrets())
        hub = RealtimeHub(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, bus: bus, clock: { time.now })
        lastSeen = LastSeenRecorder(clock: { time.now })
        let (store, commands, calls, hub, lastSeen) = (store, commands, calls, hub, lastSeen)
        assistant = AssistantCommands(conversations: commands)
        translations = TranslationService(
            store: store, commands: commands, engines: .ofTests, isListened: { _ in true },
            logger: Logger(label: "translations"))
        hints = Self.hintServices(store, commands)
        let sessions = StoreStreams(
            store: store, commands: calls, conversations: commands, translations: translations, hints: hints[0],
            captionReaders: CaptionReaders(), hub: hub, lastSeen: lastSeen)
        (streams, views) = (sessions, ReadStreams(sessions: sessions))
        store.observeTexts { changed in
            texts.update { texts in
                for (id, numbers) in changed { texts[id, default: []].formUnion(numbers) }
            }
        }
        typing = TypingNotices(
            service: ConversationService(store: store, commands: commands, secrets: SystemSecrets()), bus: bus,
            uptime: { time.now.milliseconds })
        bus.subscribe { message in
            if case .event(let event) = message { published.update { $0.append(.event(event)) } }
        }
        var random = SeededRandom(seed: 1)
        let users = (0..<count).map { _ in UserID.make(at: time.now, using: &random) }
        self.users = users
        principals = users.map { Principal(user: $0, endpoint: .make(at: time.now, using: &random)) }
        _ = try await store.write { store in
            for (index, user) in users.enumerated() {
                _ = try store.insert(
                    UserRecord(
                        id: user, displayName: "User \(index)",
                        languages: [["en"], ["uk"], ["de", "uk"], ["uk", "en"]][index % 4], reach: .everybody,
                        createdAt: store.now))
                // Who may have a session at any moment is rung.
                try store.link(ExternalIdentity(issuer: "https://issuer.example", subject: user.text), to: user)
            }
        }
        store.handleDepartures { [closedCalls] store, conversation, user in
            let outcome = try calls.leftConversation(conversation, user, at: store.now, in: store)
            if let outcome, outcome.effects.contains(.dropUser(user, .call(outcome.call.id))) {
                closedCalls.update { $0[user, default: []].insert(outcome.call.id) }
            }
            return nil
        }
    }

    func close() async {
        await database.close()
        directory.remove()
    }

    var conversations: [ConversationID] { locations.value.values.sorted { $0.text < $1.text } }

    func conversation(at location: Location) -> ConversationID? { locations.value[location] }

    func principal(_ user: UserID) -> Principal { Principal(user: user) }

    func publish(_ publication: Publication) { published.update { $0.append(publication) } }

    /// Carries a command out, and returns what it published; nil if it was refused, which changes nothing.
    func run(_ command: StreamCommand) async throws -> [Publication]? {
        do {
            try await apply(command)
        } catch is Problem {
            let publications = takePublications()
            return publications.isEmpty ? nil : publications
        }
        if command.kind == .level {
            let found = try await shownBeforeErasure()
            violations.update { $0 += found }
        }
        try await followMessages()
        return takePublications()
    }

    /// What was published since this was last called.
    func takePublications() -> [Publication] { published.update { exchange(&$0, with: []) } }
}

// What commands do.
extension StreamHarness {
    private func apply(_ command: StreamCommand) async throws {
        let (user, other) = (users[command.user], users[command.other])
        let principal = principals[command.user]
        switch command.kind {
        case .create: return try await create(command)
        case .goAway, .resume: return
        case .pass: return try await pass(seconds: [1, 9, 11, 60, 90_000][command.value % 5])
        case .eraseOld: return try await eraseOld()
        case .eraseUser: return try await erase(user)
        case .receipts:
            let isOn = command.value % 2 == 0
            _ = try await store.write { store in
                guard var record = try store.user(user) else { return }
                record.receipts = isOn
                try store.update(record)
            }
            return published.update { $0.append(.receipts(user)) }
        case .block: _ = try await friends.block(other, by: principal)
        case .unblock:
            _ = try await store.write { store in
                guard try store.unblock(other, by: user) else { return }
                try store.append(.block, ["user": other.text], to: user)
            }
        case .typing:
            guard let id = locations.value[command.location] else { return }
            try await typing.note(command.typing, of: user, in: id)
        case .arrive, .depart: try await changeSessions(of: user, hasArrived: command.kind == .arrive)
        case .presence: try await changePresence(of: user, command.value)
        case .claimWork: try await claimWork(command.value)
        case .completeWork: try await completeWork(command.value)
        case .completeSummary: try await completeSummary(command.value)
        case .answer: try await answer(command.value)
        case .completeEmbedding: try await completeEmbedding(command.value)
        case .translate, .translationChoices, .explain, .hintChoices, .level, .fill, .summarise, .ask, .embed:
            guard let id = locations.value[command.location] else { return }
            try await derive(command, by: user, in: id)
        case .befriend:
            _ = try await friends.request(.init(clientID: clientID(command), user: other), by: principal)
        case .acceptFriend: _ = try await friends.accept(other, by: principal)
        case .declineFriend: _ = try await friends.decline(other, by: principal)
        case .removeFriend: _ = try await friends.remove(other, by: principal)
        case .call, .acceptCall, .declineCall, .hangUp: return try await call(command, by: principal)
        default: return try await change(command, user, other)
        }
    }

    private func derive(_ command: StreamCommand, by user: UserID, in id: ConversationID) async throws {
        switch command.kind {
        case .translate: try await translate(command, by: user, in: id)
        case .explain: try await explain(command, by: user, in: id)
        case .level: try await changeLevel(command, of: user, in: id)
        case .hintChoices: try await changeHintChoices(command, of: user, in: id)
        case .fill: try await fill(command, in: id)
        case .embed: try await embed(command, in: id)
        case .summarise: try await summarise(command, by: user, in: id)
        case .ask: try await ask(command, clientID(command), by: user, in: id)
        default: try await changeTranslationChoices(command, of: user, in: id)
        }
    }

    private func create(_ command: StreamCommand) async throws {
        guard locations.value[command.location] == nil else { return }
        let (commands, users) = (commands, users)
        let user = users[command.user]
        var random = SeededRandom(seed: command.salt)
        let id = ConversationID.make(at: time.now, using: &random)
        let disappearAfter: Int64? = command.value == 7 ? 10 : nil
        let made = try await store.write { store in
            switch command.location {
            case .group:
                let members = users.indices.filter { command.value >> $0 & 1 == 1 }.map { users[$0] }
                return try commands.createGroup(
                    name: nil, members: members.filter { $0 != user }, id: id, disappearAfter: disappearAfter,
                    by: user, in: store
                ).conversation.id
            case .direct(let one, let other):
                guard command.user == one || command.user == other else { throw Problem(.forbidden, "Not theirs.") }
                return try commands.createDirect(
                    with: users[command.user == one ? other : one], id: id, disappearAfter: disappearAfter, by: user,
                    in: store
                ).found.conversation.id
            case .notes(let owner):
                return try commands.createNotes(id: id, by: users[owner], in: store).found.conversation.id
            }
        }.value
        locations.update { $0[command.location] = made }
    }

    private func clientID(_ command: StreamCommand) -> ClientID {
        var random = SeededRandom(seed: command.salt)
        return .make(at: Timestamp(milliseconds: 1_800_000_000_000), using: &random)
    }

    private func change(_ command: StreamCommand, _ user: UserID, _ other: UserID) async throws {
        guard let id = locations.value[command.location] else { return }
        let (commands, clientID) = (commands, clientID(command))
        let source = locations.value[.group(command.value % 2)] ?? id
        _ = try await store.write { store in
            let change = ConversationChange(
                command: command, user: user, other: other, id: id, source: source, clientID: clientID,
                commands: commands, store: store)
            if try !change.changeMembers(), try !change.changeMessages() { try change.changeOwn() }
        }
    }

    /// Lets time pass, and does what is due then.
    private func pass(seconds: Int64) async throws {
        time.advance(seconds: seconds)
        sweepPresence()
        let commands = commands
        while try await store.write({ try commands.expireMessages(limit: 2, in: $0) }).value > 0 {}
        for message in try await store.read({ try $0.dueScheduled(limit: 100) }) {
            do {
                _ = try await store.write { try commands.sendDue(message.clientID, by: message.author, in: $0) }
            } catch let problem as Problem {
                _ = try await store.write {
                    try commands.fail(message.clientID, by: message.author, because: problem, in: $0)
                }
            }
        }
        _ = try await friends.expire()
    }

    private func eraseOld() async throws {
        let commands = commands
        while try await store.write({ try commands.eraseOldMessages(keepDays: 1, limit: 2, in: $0) }).value.hasMore {}
    }

    private func erase(_ user: UserID) async throws {
        let commands = commands
        _ = try await store.write { store in
            var conversation: ConversationID?
            while let next = try commands.leaveGroups(of: user, after: conversation, limit: 3, in: store) {
                conversation = next
            }
        }
        _ = try await store.write { store in
            var last: ClientID?
            while let next = try commands.eraseMessages(of: user, after: last, limit: 3, in: store) { last = next }
        }
        while try await store.write({ try commands.eraseReactions(of: user, limit: 2, in: $0) }).value > 0 {}
        for rule in ErasurePlan.rowsToRemove where rule.name.hasPrefix("assistant_") {
            while try await store.write({ try $0.eraseRows(rule, of: user, limit: 2) }).value > 0 {}
        }
    }

    private func call(_ command: StreamCommand, by principal: Principal) async throws {
        let (calls, commands, now) = (calls, commands, time.now)
        var random = SeededRandom(seed: command.salt)
        let (clientID, callID) = (clientID(command), CallID.make(at: now, using: &random))
        guard command.kind == .call else {
            guard let id = liveCalls.value[command.location] else { return }
            _ = try await store.write { store -> CallID in
                switch command.kind {
                case .acceptCall: return try calls.accept(id, by: principal, at: now, in: store).call.id
                case .declineCall: return try calls.decline(id, by: principal, at: now, in: store).call.id
                default:
                    let kind: Call.HangUp = command.value % 2 == 0 ? .leave : .end
                    return try calls.hangUp(id, kind, by: principal, at: now, in: store).call.id
                }
            }
            return
        }
        guard let id = locations.value[command.location] else { return }
        let made = try await store.write { store -> Call in
            let called = try commands.callees(in: id, by: principal.user, limit: 3, store: store)
            return try calls.create(
                // There is no media gateway.
                CreateCall(clientID: clientID, kind: .audio, mode: .direct, conversation: id),
                of: CallConversation(id: id, isGroup: called.kind == .group, callees: called.users), by: principal,
                id: callID, at: now, in: store
            ).call
        }.value
        if made.participants.count > 2 { coverage.update { $0["calls of several", default: 0] += 1 } }
        liveCalls.update { $0[command.location] = made.id }
    }
}

/// Streams as they are: who reads them demands nothing.
private struct ReadStreams: StreamSource {
    let sessions: StoreStreams

    func open(_ stream: StreamName, after: Position?, for principal: Principal) async throws -> StreamOpening {
        guard case .translations(let id) = stream else {
            return try await sessions.open(stream, after: after, for: principal)
        }
        return try await sessions.readTranslations(of: id, after: after, for: principal)
    }

    func moved(
        _ conversations: Set<ConversationID>, in inbox: UserID, after sequence: Int64, upTo position: Position
    ) async throws -> StateOpening {
        try await sessions.moved(conversations, in: inbox, after: sequence, upTo: position)
    }
}
