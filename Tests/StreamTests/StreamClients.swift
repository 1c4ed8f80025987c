import Languages
import Messaging
import Model
import Realtime
import Storage
import TestSupport
import Wire

@testable import Services

/// The clients of all users of a harness, and others of theirs that were away for some time.
struct StreamClients {
    private let harness: StreamHarness
    private var present: [StreamListener]
    /// One of each user that was away: it has what there was then.
    private var away: [StreamListener]
    private let sessions: [EventSession]
    private var typing = ExpectedTyping()
    private var movements = InboxMovements()

    init(_ harness: StreamHarness) {
        self.harness = harness
        present = harness.users.map { StreamListener($0, in: harness, demands: true) }
        away = harness.users.map { StreamListener($0, in: harness) }
        sessions = harness.users.map { EventSession($0, in: harness) }
    }

    /// Carries a command out, delivers what it publishes, and compares what everybody has with what is there.
    mutating func differences(after command: StreamCommand) async throws -> [String] {
        for index in present.indices { try await present[index].listen() }
        for session in sessions { try await session.listen() }
        for publication in harness.takePublications() { try await deliver(publication) }
        let done = try await harness.run(command)
        let publications = done ?? []
        for publication in publications { try await deliver(publication) }
        // Who begins anew demands what they read automatically.
        for publication in harness.takePublications() { try await deliver(publication) }
        // Who is erased has no clients any more; what is sent to a new one is compared.
        if command.kind == .eraseUser {
            present[command.user] = StreamListener(harness.users[command.user], in: harness, demands: true)
            away[command.user] = StreamListener(harness.users[command.user], in: harness)
            try await present[command.user].listen()
        }
        var found = try await eventDifferences(after: command, publications)
        found += harness.violations.update { exchange(&$0, with: []) }
        found += try await harness.store.read { [json = harness.json] store in
            var stored = StoredDerivations(store, json)
            return try stored.violations()
        }
        if done == nil { return found }
        if command.kind == .goAway { away[command.user].copy(present[command.user]) }
        for (index, client) in present.enumerated() {
            let fresh = try await Fresh(client.user, in: harness)
            found += fresh.differences(from: client).map { "user \(index) \($0)" }
            guard command.kind == .resume, command.user == index else { continue }
            try await away[index].resume()
            try await away[index].listen()
            found += fresh.differences(from: away[index]).map { "user \(index), resumed, \($0)" }
        }
        return found
    }

    private mutating func eventDifferences(
        after command: StreamCommand, _ publications: [StreamHarness.Publication]
    ) async throws -> [String] {
        var found: [String] = []
        let expected = try await typing.received(after: command, in: harness)
        for (index, session) in sessions.enumerated() {
            try await session.receive(publications)
            found += try await session.differences().map { "user \(index) \($0)" }
            let (received, wanted) = (session.takeTyping(), expected[session.user] ?? [])
            if received != wanted { found.append("user \(index) typing: received \(received), expected \(wanted)") }
        }
        return found
    }

    private mutating func deliver(_ publication: StreamHarness.Publication) async throws {
        switch publication {
        case .changes(let changes):
            for index in present.indices { try await present[index].receive(changes) }
        case .event, .presence: break
        case .receipts(let user):
            for index in present.indices where present[index].user == user { try await present[index].rereadMarks() }
        case .translations(let user):
            for index in present.indices where present[index].user == user {
                try await present[index].rereadTranslations()
            }
        case .updates(let updates):
            for update in updates {
                for index in present.indices { try await present[index].receive(update) }
            }
            try await deliverNotices(of: updates)
        }
    }

    /// Everything of one commit for one user is one notice.
    private mutating func deliverNotices(of updates: [ConversationUpdate]) async throws {
        guard let last = updates.last else { return }
        let (harness, position) = (harness, Position(epoch: last.epoch, sequence: last.counter))
        var moved: [UserID: Set<ConversationID>] = [:]
        for update in updates {
            let users = try await movements.users(of: update) { id in
                try await harness.store.read { try $0.inboxUsers(of: id) }
            }
            for user in users { moved[user, default: []].insert(update.conversation) }
        }
        for index in present.indices {
            guard let conversations = moved[present[index].user] else { continue }
            let notice = InboxNotice(user: present[index].user, conversations: conversations, position: position)
            try await present[index].receive(notice)
        }
    }
}

/// What is sent to who begins to listen now.
private struct Fresh {
    private let listener: StreamListener
    private let archive: HeldInbox
    private var messages: [ConversationID: [Int64: JSONValue]] = [:]
    private let translations: [ConversationID: ExpectedTranslations]
    private let hints: [ConversationID: ExpectedHints]
    /// What is wrong with what is sent now.
    private var violations: [String] = []
    private let closedCalls: Set<CallID>

    init(_ user: UserID, in harness: StreamHarness) async throws {
        var listener = StreamListener(user, in: harness)
        try await listener.listen()
        self.listener = listener
        let (inboxes, commands, coverage) = (harness.inboxes, harness.commands, harness.coverage)
        let (all, candidates, model) = (harness.conversations, harness.candidates.value, harness.model)
        let conversations = Array(listener.conversations.keys)
        let rows = listener.inbox.rows
        let (archived, texts, violations, translations, hints) = try await harness.store.read { store in
            let archived = try inboxes.page(of: user, isArchive: true, after: nil, limit: 100, in: store).rows
            let pages = try conversations.map { id in
                try commands.page(.newest, of: id, limit: .max, by: user, in: store)
            }
            let texts = pages.map { page in
                page.messages.map { message in
                    var writer = JSONWriter(capacity: 512)
                    message.write(to: &writer)
                    return writer.text
                }
            }
            let stored = StoredState(store: store, user: user)
            var violations: [String] = []
            for (id, page) in zip(conversations, pages) {
                violations += try stored.violations(of: page.messages.map(\.message), in: id)
                let row =
                    try rows[id.text] ?? archived.map { try JSONValue($0.utf8) }.first { $0["id"]?.string == id.text }
                if let row { violations += try stored.violations(of: row, messages: page) }
            }
            var served = ServedDerivations(store, commands, to: user)
            violations += try served.violations(in: all, candidates, by: model)
            coverage.update { coverage in
                coverage["messages found by meaning", default: 0] += served.meant
                coverage["blocks", default: 0] += served.blocks
                coverage["sentences", default: 0] += served.sentences
            }
            let translations = try zip(conversations, pages).map { id, page in
                (id, try ExpectedTranslations(of: page.messages.map(\.message), in: id, for: user, store))
            }
            let hints = try zip(conversations, pages).map { id, page in
                (id, try ExpectedHints(of: page.messages.map(\.message), in: id, for: user, store))
            }
            return (
                archived, texts, violations, Dictionary(uniqueKeysWithValues: translations),
                Dictionary(uniqueKeysWithValues: hints)
            )
        }
        self.violations = violations
        closedCalls = harness.closedCalls.value[user] ?? []
        (self.translations, self.hints) = (translations, hints)
        coverage.update { coverage in
            coverage["hints", default: 0] += hints.values.reduce(0) { $0 + $1.shownCount }
            coverage["hints with earlier messages", default: 0] += hints.values.reduce(0) { $0 + $1.onEarlierCount }
        }
        var archive = HeldInbox()
        archive.apply(try archived.map { try JSONValue($0.utf8) })
        self.archive = archive
        for (id, texts) in zip(conversations, texts) {
            let former = listener.inbox.memberships[id.text]?["spans"]?.items.filter { $0["until"] != nil } ?? []
            for message in try texts.map({ try harness.json.value(of: $0) }) {
                let number = message["number"]?.integer ?? 0
                let isFormer = former.contains { span in
                    span["from"]?.integer ?? 0 < number && number <= span["until"]?.integer ?? 0
                }
                messages[id, default: [:]][number] = isFormer ? message.removing("language") : message
            }
        }
    }

    func differences(from client: StreamListener) -> [String] {
        var found = client.inbox.differences(from: listener.inbox, archived: archive)
        found += client.own.differences(from: listener.own, closed: closedCalls)
        found += violations + client.violations
        if client.userListen?.position != listener.userListen?.position { found.append("another position of the user") }
        for (id, one) in client.conversations {
            guard let fresh = listener.conversations[id] else {
                found.append("still listens to \(id)")
                continue
            }
            if (one.messages == nil) != (fresh.messages == nil) || (one.marks == nil) != (fresh.marks == nil) {
                // One that may listen begins before the next command.
                if fresh.messages == nil || fresh.marks == nil { found.append("still listens to a part of \(id)") }
                continue
            }
            if one.messages?.position != fresh.messages?.position { found.append("another position of \(id)") }
            found += translationDifferences(of: one, fresh, in: id)
            found += one.held.differences(from: fresh.held, all: messages[id] ?? [:]).map { "in \(id), \($0)" }
        }
        return found
    }

    /// Who begins to listen now is sent all of the window, and so has each what rises after that.
    private func translationDifferences(
        of one: StreamListener.Conversation, _ fresh: StreamListener.Conversation, in id: ConversationID
    ) -> [String] {
        guard let expected = translations[id], let hints = hints[id], fresh.translations != nil else { return [] }
        var found: [String] = []
        for (what, side) in [("held", one), ("fresh", fresh)] where side.translations != nil {
            let held = side.held
            found += expected.differences(
                of: held.translations, language: held.language, since: held.translationsSince
            ).map { "in \(id), \(what) \($0)" }
            found += hints.differences(of: held.hints, mode: held.hintMode, since: held.translationsSince).map {
                "in \(id), \(what) \($0)"
            }
        }
        for number in fresh.held.messages.keys {
            if fresh.held.translations[number] == nil, expected.shown[number]?.row != nil {
                found.append("in \(id), the window has no translation of \(number)")
            }
            if fresh.held.hints[number] == nil, hints.shown[number]?.row != nil {
                found.append("in \(id), the window has no hints on \(number)")
            }
        }
        return found
    }
}
