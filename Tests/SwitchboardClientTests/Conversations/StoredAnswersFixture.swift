import Foundation
import GRDB
import Testing

@testable import SwitchboardClient

/// A store with two conversations of 30 messages, whose text versions are their numbers and one, and what was answered about
/// them.
struct StoredAnswersFixture {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    let store: ConversationStore
    var state = ConversationState(id: "c1")

    init(_ store: ConversationStore) throws {
        self.store = store
        var server = ModelConversation()
        for number in 1...30 { server.send("m\(number)") }
        let (snapshot, position) = server.snapshot(window: 30)
        state.apply(snapshot, at: position)
        try store.save(state, state.takeChanges())
        var other = ConversationState(id: "c2")
        for message in state.messages.values {
            var message = message
            message.conversation = "c2"
            other.keep(message)
        }
        try store.save(other, other.takeChanges())
    }

    init(limits: ConversationStore.Limits = .init()) throws {
        try self.init(ConversationStore(path: nil, limits: limits))
    }

    static func sentence(_ text: String, _ numbers: Int..., in id: ConversationID = "c1") -> AnswerSentence {
        AnswerSentence(
            text: text, citations: numbers.map { .init(conversation: id, number: $0, of: $0 + 1) }, startsLine: false,
            isWithdrawn: false)
    }

    static func run(
        _ id: AssistantRunID, in thread: AssistantThreadID = "t1", at seconds: Double = 0,
        _ sentences: AnswerSentence..., status: AssistantRun.Status = .done
    ) -> AssistantRun {
        AssistantRun(
            id: id, thread: thread, question: "What about \(id)?", audience: .me, status: status, sentences: sentences,
            tools: [], model: "m", cost: .init(calls: 1, characters: 9), askedAt: now.addingTimeInterval(seconds))
    }

    static func thread(_ id: AssistantThreadID, at seconds: Double = 0, runs: Int = 1) -> AssistantThread {
        let time = now.addingTimeInterval(seconds)
        return AssistantThread(id: id, title: "What about \(id)?", createdAt: time, updatedAt: time, runs: runs)
    }

    /// The texts of a stored run, nil where they are withdrawn.
    func texts(
        _ id: AssistantRunID = "r1", in thread: AssistantThreadID = "t1", at time: Date = now
    ) throws -> [String?]? {
        try store.thread(thread, at: time)?.runs.first { $0.id == id }?.sentences.map { sentence in
            sentence.isWithdrawn ? nil : sentence.text
        }
    }

    /// Whether a text is in any row that was derived.
    func hasStored(_ text: String) throws -> Bool {
        let rows = try store.database.read {
            try Data.fetchAll($0, sql: "SELECT json FROM derivations UNION ALL SELECT json FROM runs")
        }
        return rows.contains { String(decoding: $0, as: UTF8.self).contains(text) }
    }

    /// Stores a message as it is after a change.
    mutating func change(_ number: Int, _ body: (inout Message) -> Void) throws {
        guard var message = state.messages[number] else { return }
        message.version += 100
        body(&message)
        state.keep(message)
        try store.save(state, state.takeChanges())
    }

    /// A message of a number, as it was sent.
    func message(_ number: Int) throws -> Message {
        var message = try #require(state.messages[30])
        (message.number, message.version, message.textVersion) = (number, number + 1, number + 1)
        return message
    }

    /// Stores a message as it was sent, outside of what is held.
    mutating func receive(_ message: Message) throws {
        state.keep(message)
        try store.save(state, state.takeChanges())
    }

    /// Removes a message as one that there is no room for.
    func makeRoom(for number: Int) throws {
        try store.database.write { database in
            for sql in ["UPDATE citations SET isStored = 0 WHERE number = ?", "DELETE FROM messages WHERE number = ?"] {
                try database.execute(sql: sql, arguments: [number])
            }
        }
    }

    /// The membership after a change.
    func membership(_ body: (inout Membership) -> Void = { _ in }) -> Membership {
        var membership =
            state.membership
            ?? Membership(
                role: .member, state: .member, joinedAt: Date(timeIntervalSince1970: 0), version: 1,
                spans: [.init(from: 0)])
        membership.version += 1
        body(&membership)
        return membership
    }

    /// Stores a row of the inbox.
    func keep(_ row: InboxRow, epoch: String = "e1") throws {
        var inbox = try store.inbox()
        inbox.apply(
            InboxPage(conversations: [row], totals: .init(unread: 0)), at: StreamPosition(epoch: epoch, sequence: 1))
        try store.save(inbox, inbox.takeChanges())
    }

    /// A client of the user `u1` whose connection never opens, since its tokens take longer than any test.
    static func client(isFilled: Bool = true) async throws -> Switchboard {
        let switchboard = try Switchboard("http://127.0.0.1:1")
        await switchboard.credentials.use(
            .provider {
                try await Task.sleep(for: .seconds(60))
                return "token"
            })
        await switchboard.realtime.openStore(for: "u1")
        if isFilled { _ = try Self(try #require(await switchboard.realtime.openedStore)) }
        return switchboard
    }
}

extension RealtimeEndpoint {
    var openedStore: ConversationStore? { messaging.store }
}
