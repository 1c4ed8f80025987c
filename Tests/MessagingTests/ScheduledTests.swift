import Accounts
import Model
import Storage
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Messaging

@Suite("Scheduled messages", .timeLimit(.minutes(1)))
struct ScheduledTests {
    @Test("one waits for its author alone, and is sent at its time with its own client id, once")
    func sending() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        try chat.send("root", to: id, by: 1)
        let outgoing = try chat.outgoing("<@all> later", thread: 1)
        let scheduled = try #require(try chat.schedule(outgoing, in: 60, id, by: 0))
        #expect(try chat.scheduled(id, by: 0) == [scheduled] && chat.scheduled(id, by: 1) == [])
        #expect(try chat.texts(id, by: 0) == ["root"] && chat.unread(id, by: 1) == UnreadCount())
        // A repetition, whatever time it is.
        chat.store.now = chat.store.now.adding(seconds: 59)
        #expect(
            try chat.commands.schedule(outgoing, at: scheduled.sendAt, to: id, by: chat.people[0], in: chat.store)
                == .waits(scheduled, isDuplicate: true))
        try chat.sendDue()
        #expect(try chat.texts(id, by: 1) == ["root"])
        try chat.disappear(after: 60, id, by: 0)
        chat.store.now = chat.store.now.adding(seconds: 1)
        try chat.sendDue()
        try chat.sendDue()
        let sent = try #require(try chat.page(of: id, by: 1).messages.last)
        #expect(sent.number == 2 && sent.clientID == outgoing.clientID && sent.sentAt == chat.store.now)
        #expect(sent.thread == 1 && sent.expiresAt != nil, "the rule is that of the time when it is sent")
        #expect(try chat.scheduled(id, by: 0) == [] && chat.unread(id, by: 1) == UnreadCount(messages: 1, mentions: 1))
        let again = try chat.commands.schedule(
            outgoing, at: scheduled.sendAt, to: id, by: chat.people[0], in: chat.store)
        #expect(again == .sent(sent), "a repetition after it was sent")
        #expect(problem { try chat.unschedule(outgoing.clientID, id, by: 0) } == .conflict)
        #expect(problem { _ = try chat.change(outgoing.clientID, ScheduledChange(), id, by: 0) } == .conflict)
        var other = outgoing
        other.digest = [9]
        #expect(problem { _ = try chat.schedule(other, in: 60, id, by: 0) } == .clientIDReused)
    }

    @Test("text and time can be changed, and it can be sent at once or deleted")
    func changing() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        let first = try #require(try chat.schedule(chat.outgoing("one"), in: 60, id, by: 0))
        let later = first.sendAt.adding(seconds: 60)
        let changed = try chat.change(
            first.clientID, ScheduledChange(text: MessageText("uno"), sendAt: later), id, by: 0)
        guard case .waits(let scheduled, _) = changed else { return #expect(Bool(false), "it waits") }
        #expect(scheduled.text == "uno" && scheduled.sendAt == later && scheduled.counter > first.counter)
        #expect(try chat.change(first.clientID, ScheduledChange(), id, by: 0) == .waits(scheduled, isDuplicate: false))
        #expect(problem { _ = try chat.change(first.clientID, ScheduledChange(), id, by: 1) } == .notFound)
        guard case .sent(let sent) = try chat.change(first.clientID, ScheduledChange(sendAt: .some(nil)), id, by: 0)
        else { return #expect(Bool(false), "it is sent") }
        #expect(sent.text == "uno" && sent.number == 1 && chat.store.nextScheduled() == nil)

        let second = try #require(try chat.schedule(chat.outgoing("two"), in: 60, id, by: 0))
        try chat.unschedule(second.clientID, id, by: 1)
        #expect(try chat.scheduled(id, by: 0).count == 1, "another one's")
        for _ in 0..<2 { try chat.unschedule(second.clientID, id, by: 0) }
        chat.store.now = chat.store.now.adding(seconds: 600)
        try chat.sendDue()
        #expect(try chat.texts(id, by: 1) == ["uno"])
    }

    @Test("access is checked when it is due, and a refusal is kept until its author acts")
    func refusal() throws {
        let chat = Chat(people: 2)
        let id = try chat.group([1])
        let scheduled = try #require(try chat.schedule(chat.outgoing("one"), in: 60, id, by: 1))
        _ = try chat.commands.change(
            id, settings: ConversationSettings(write: .admins), by: chat.people[0], in: chat.store)
        chat.store.now = chat.store.now.adding(seconds: 60)
        try chat.sendDue()
        let failed = try #require(try chat.scheduled(id, by: 1).first)
        #expect(failed.failure?.kind == .forbidden && failed.text == "one" && failed.counter > scheduled.counter)
        #expect(chat.store.nextScheduled() == nil, "it is not tried again by itself")
        #expect(chat.store.scheduledSummary(of: chat.people[1], in: id).failed == 1)
        _ = try chat.commands.change(id, settings: ConversationSettings(), by: chat.people[0], in: chat.store)
        _ = try chat.change(
            failed.clientID, ScheduledChange(sendAt: chat.store.now.adding(seconds: 10)), id, by: 1)
        #expect(try chat.scheduled(id, by: 1).first?.failure == nil)
        chat.store.now = chat.store.now.adding(seconds: 10)
        try chat.sendDue()
        #expect(try chat.texts(id, by: 0) == ["one"])
    }

    @Test("who leaves or is removed has none any more, and outsiders may neither schedule nor list")
    func access() throws {
        let chat = Chat(people: 4, areFriends: false)
        let id = try chat.group([1])
        #expect(problem { _ = try chat.schedule(chat.outgoing("x"), in: 60, id, by: 1) } == .forbidden, "invited")
        #expect(problem { _ = try chat.scheduled(id, by: 1) } == .forbidden)
        #expect(problem { _ = try chat.schedule(chat.outgoing("x"), in: 60, id, by: 2) } == .notFound)
        #expect(problem { _ = try chat.scheduled(id, by: 2) } == .notFound)
        _ = try chat.commands.accept(id, by: chat.people[1], in: chat.store)
        _ = try chat.schedule(chat.outgoing("secret"), in: 60, id, by: 1)
        try chat.send("hello", to: id, by: 0)
        try chat.commands.remove(chat.people[1], from: id, by: chat.people[0], in: chat.store)
        #expect(chat.store.scheduled.isEmpty)
        #expect(problem { _ = try chat.schedule(chat.outgoing("x"), in: 60, id, by: 1) } == .forbidden)
        #expect(problem { _ = try chat.scheduled(id, by: 1) } == .forbidden)
        let request = try chat.direct(2, 3)
        #expect(problem { _ = try chat.schedule(chat.outgoing("x"), in: 60, request, by: 2) } == .forbidden)
    }

    @Test("times, numbers of messages and references are bounded and checked first")
    func bounds() throws {
        var chat = Chat(people: 2)
        var limits = ConversationLimits()
        (limits.scheduled, limits.scheduledOfUser) = (2, 3)
        chat.commands = ConversationCommands.quiet(limits)
        let (one, two) = (try chat.group([1]), try chat.group([1]))
        for seconds: Int64 in [-9_000_000_000_000, -1, 0, 9, 31_536_001, 9_000_000_000_000] {
            #expect(problem { _ = try chat.schedule(chat.outgoing("x"), in: seconds, one, by: 0) } == .invalidRequest)
        }
        var reply = try chat.outgoing("re")
        reply.replyTo = 1
        #expect(problem { _ = try chat.schedule(reply, in: 60, one, by: 0) } == .notFound)
        let forward = OutgoingMessage(clientID: chat.newID(), forward: MessageReference(one, 1), digest: [1])
        #expect(problem { _ = try chat.schedule(forward, in: 60, one, by: 0) } == .invalidRequest)
        for _ in 0..<2 { _ = try chat.schedule(chat.outgoing("x"), in: 60, one, by: 0) }
        #expect(problem { _ = try chat.schedule(chat.outgoing("x"), in: 60, one, by: 0) } == .conflict)
        _ = try chat.schedule(chat.outgoing("x"), in: 60, one, by: 1)
        _ = try chat.schedule(chat.outgoing("x"), in: 10, two, by: 0)
        #expect(problem { _ = try chat.schedule(chat.outgoing("x"), in: 60, two, by: 0) } == .conflict)
    }

    @Test("in the database: as in memory, and its author's devices are notified, nobody else")
    func stored() async throws {
        let time = Mutex(Timestamp(milliseconds: 1_800_000_000_000))
        let due = Mutex<[Timestamp]>([])
        let updates = Mutex<[ConversationUpdate]>([])
        let store = Store(
            database: try SQLiteDatabase(path: try ScratchDirectory().database), clock: { time.withLock { $0 } },
            publishUpdates: { new in updates.withLock { $0 += new } }, publish: { _ in })
        try await store.prepare()
        store.observeDue { at in due.withLock { $0.append(at) } }
        let commands = ConversationCommands.quiet()
        let (ann, ben) = (UserID.make(at: time.withLock { $0 }), UserID.make(at: time.withLock { $0 }))
        let id = try await store.write { store in
            for user in [ann, ben] {
                _ = try store.insert(
                    UserRecord(id: user, displayName: "Somebody", reach: .everybody, createdAt: store.now))
            }
            return try commands.createServerDirect(of: ann, and: ben, id: .make(at: store.now), in: store)
                .conversation.id
        }.value
        updates.withLock { $0 = [] }
        let start = time.withLock { $0 }
        let outgoing = OutgoingMessage(
            clientID: .make(at: start), text: try MessageText("secretword"), digest: [7])
        let outcome = try await store.write {
            try commands.schedule(outgoing, at: start.adding(seconds: 10), to: id, by: ann, in: $0)
        }.value
        #expect(due.withLock { $0 } == [start.adding(seconds: 10)])
        guard case .waits(let scheduled, _) = outcome else { return #expect(Bool(false), "it waits") }
        #expect(try await store.read { try commands.scheduled(in: id, by: ann, store: $0) } == [scheduled])
        let notices = updates.withLock { $0 }
        #expect(notices.count == 1 && notices[0].rows.isEmpty && notices[0].marksCounter == scheduled.counter)
        #expect(notices[0].marks.map(\.audience) == [.only(ann)])
        #expect(!notices[0].movesEverybody && notices[0].moved.isEmpty)
        #expect(
            notices[0].marks.first?.json == #"{"scheduled":{"count":1,"failed":0,"counter":\#(scheduled.counter)}}"#)
        #expect(try await store.read { try $0.dueScheduled(limit: 9) }.isEmpty)
        time.withLock { $0 = $0.adding(seconds: 10) }
        #expect(try await store.read { try $0.dueScheduled(limit: 9) } == [scheduled])
        // A transaction that notes a failure has read no conversation: it is not published as a new one.
        updates.withLock { $0 = [] }
        let problem = Problem(.forbidden, "No.")
        _ = try await store.write { try commands.fail(outgoing.clientID, by: ann, because: problem, in: $0) }
        #expect(updates.withLock { $0.map(\.rows) == [[]] && $0.map { $0.after == $0.upTo } == [true] })
        let failed = try await store.read { try commands.scheduled(in: id, by: ann, store: $0) }
        #expect(failed.map(\.failure) == [ScheduledMessage.Failure(kind: .forbidden, detail: "No.")])
        _ = try await store.write { [scheduled] in try $0.save(scheduled) }
        for _ in 0..<2 {
            _ = try await store.write { try commands.sendDue(outgoing.clientID, by: ann, in: $0) }
        }
        let page = try await store.read { try commands.page(.newest, of: id, limit: 9, by: ben, in: $0).messages }
        #expect(page.map(\.text) == ["secretword"] && page.map(\.clientID) == [outgoing.clientID])
        #expect(try await store.read { try $0.nextScheduled() } == nil)
        #expect(updates.withLock { $0.last?.marks.first?.json.contains(#""count":0"#) } == true)
    }
}

extension Chat {
    fileprivate func outgoing(_ text: String, thread: Int64? = nil) throws -> OutgoingMessage {
        var outgoing = OutgoingMessage(clientID: newID(), text: try MessageText(text), digest: Array(text.utf8))
        outgoing.thread = thread
        return outgoing
    }

    fileprivate func schedule(
        _ outgoing: OutgoingMessage, in seconds: Int64, _ id: ConversationID, by person: Int
    ) throws -> ScheduledMessage? {
        let at = store.now.adding(seconds: seconds)
        let outcome = try commands.schedule(outgoing, at: at, to: id, by: people[person], in: store)
        if case .waits(let scheduled, _) = outcome { return scheduled }
        return nil
    }

    fileprivate func scheduled(_ id: ConversationID, by person: Int) throws -> [ScheduledMessage] {
        try commands.scheduled(in: id, by: people[person], store: store)
    }

    fileprivate func change(
        _ clientID: ClientID, _ change: ScheduledChange, _ id: ConversationID, by person: Int
    ) throws -> ScheduledOutcome {
        try commands.change(scheduled: clientID, in: id, change, by: people[person], store: store)
    }

    fileprivate func unschedule(_ clientID: ClientID, _ id: ConversationID, by person: Int) throws {
        try commands.unschedule(clientID, in: id, by: people[person], store: store)
    }

    /// As the clock does: the memory has no transactions that it could roll back, so what is refused is put back.
    fileprivate func sendDue() throws {
        for scheduled in store.dueScheduled(limit: 9) {
            do {
                try commands.sendDue(scheduled.clientID, by: scheduled.author, in: store)
            } catch let problem as Problem {
                if store.scheduled(scheduled.clientID, by: scheduled.author) == nil { store.save(scheduled) }
                try commands.fail(scheduled.clientID, by: scheduled.author, because: problem, in: store)
            }
        }
    }
}
