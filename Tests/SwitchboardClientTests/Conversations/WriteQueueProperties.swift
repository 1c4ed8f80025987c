import Foundation
import Testing

@testable import SwitchboardClient

/// Whatever is lost, refused or killed: every message is stored once, in the order it was written, with the last text.
struct WriteQueueProperties {
    @Test(arguments: 0..<400)
    func nothingIsLostAndNothingComesTwice(seed: UInt64) {
        var run = Run(seed: seed)
        for _ in 0..<200 { run.step() }
        run.settle()
        #expect(run.violations.isEmpty, "seed \(seed): \(run.violations)")
        for conversation in Run.conversations {
            let stored = run.server.messages[conversation, default: []]
            #expect(Set(stored.map(\.clientID)).count == stored.count, "seed \(seed): twice")
            // A message that was refused has lost its position.
            let order = stored.map(\.clientID).filter { !run.refused.contains($0) }
            #expect(order == run.written[conversation, default: []].filter(order.contains), "seed \(seed): order")
            for clientID in run.written[conversation, default: []] {
                let message = stored.first { $0.clientID == clientID }
                switch run.wanted[clientID] {
                case .some(.some(let text)): #expect(message?.text == text, "seed \(seed): \(clientID)")
                case .some(.none): #expect(message == nil || message?.deletedAt != nil, "seed \(seed): deleted")
                case nil: Issue.record("seed \(seed): \(clientID) was not written")
                }
            }
        }
        #expect(run.queue.entries.isEmpty && run.disk.isEmpty, "seed \(seed): \(run.queue.entries)")
    }

    /// Without an answer as many are on their way as may be, each after the one before it; what is refused brings those behind
    /// it back, and they go out after the last one that was stored.
    @Test func whatFollowsARefusedMessageIsSentAgain() throws {
        var queue = WriteQueue(seed: 1)
        for number in 0..<100 {
            try queue.send("\(number)", replyTo: nil, in: "c1", as: MessageClientID("m\(number)"), at: 0)
        }
        let first = queue.next(at: 0, wallClock: 0)
        #expect(first.map(\.text) == (0...queue.limits.followers).map { "\($0)" })
        #expect(first.map(\.after) == [nil] + first.dropLast().map(\.clientID))
        #expect(queue.next(at: 0, wallClock: 0).isEmpty)
        var server = Server()
        for entry in first {
            guard entry.text != "20" else {
                queue.complete(entry.id, .refused(.test(.invalidRequest, 400)), at: 0)
                continue
            }
            switch server.handle(entry) {
            case .success(let message): queue.complete(entry.id, .done(message), at: 0)
            case .failure(let problem): queue.complete(entry.id, .refused(problem), at: 0)
            }
            // Nothing overtakes those that come back.
            if Int(entry.text ?? "") ?? 0 > 20, entry.id != first.last?.id { #expect(queue.draining == ["c1"]) }
        }
        while case let ready = queue.next(at: 0, wallClock: 0), !ready.isEmpty {
            for entry in ready {
                guard case .success(let message) = server.handle(entry) else {
                    Issue.record("\(entry.text ?? "") was refused")
                    continue
                }
                queue.complete(entry.id, .done(message), at: 0)
            }
        }
        #expect(server.messages["c1"]?.map(\.text) == (0..<100).filter { $0 != 20 }.map { "\($0)" })
        #expect(queue.entries.map(\.text) == ["20"] && queue.entries.first?.failure != nil)
        #expect(queue.inFlight.isEmpty && queue.followers.isEmpty && queue.draining.isEmpty)
    }

    /// One conversation that has much to send leaves room for the others, and a pause is that of one conversation.
    @Test func conversationsDoNotWaitForEachOther() throws {
        var queue = WriteQueue(seed: 1)
        for number in 0..<100 {
            try queue.send("\(number)", replyTo: nil, in: "c1", as: MessageClientID("m\(number)"), at: 0)
        }
        let busy = queue.next(at: 0, wallClock: 0)
        try queue.send("other", replyTo: nil, in: "c2", as: "other", at: 0)
        #expect(queue.next(at: 0, wallClock: 0).map(\.text) == ["other"])
        queue.complete(busy[0].id, .later(.test(.rateLimited, 429), after: 5_000), at: 0)
        for entry in busy.dropFirst() {
            queue.complete(entry.id, .refused(.test(.predecessorMissing, 409)), at: 0)
        }
        try queue.send("third", replyTo: nil, in: "c3", as: "third", at: 0)
        #expect(queue.next(at: 1_000, wallClock: 0).map(\.text) == ["third"])
        #expect(queue.next(at: 60_000, wallClock: 0).prefix(2).map(\.text) == ["0", "1"])
    }

    /// An edit or a deletion of a message on its way follows it, by its client id; other changes wait.
    @Test func whatIsOnItsWayCanBeEdited() throws {
        var queue = WriteQueue(seed: 1)
        try queue.send("one", replyTo: nil, in: "c1", as: "m1", at: 0)
        #expect(queue.next(at: 0, wallClock: 0).count == 1)
        try queue.send("two", replyTo: .waiting("m1"), in: "c1", as: "m2", at: 0)
        try queue.edit(.waiting("m1"), to: "ONE", textVersion: nil, in: "c1", at: 0)
        try queue.send("three", replyTo: nil, in: "c1", as: "m3", at: 0)
        let ready = queue.next(at: 0, wallClock: 0)
        #expect(ready.map(\.text) == ["two", "ONE"] && ready.first?.replyTo == .waiting("m1"))
        #expect(ready.last?.target == .waiting("m1") && ready.last?.textVersion == nil)
    }

    /// A server that stores a client id once, and refuses it with another body.
    struct Server {
        var messages: [ConversationID: [Message]] = [:]
        private var bodies: [MessageClientID: String] = [:]
        private var version = 0

        mutating func handle(_ entry: WriteEntry) -> Result<Message, Problem> {
            version += 1
            switch entry.kind {
            case .send:
                let body = "\(entry.text ?? "")"
                if let known = messages[entry.conversation]?.first(where: { $0.clientID == entry.clientID }) {
                    return bodies[entry.clientID] == body ? .success(known) : .failure(.test(.clientIDReused, 409))
                }
                if let before = entry.after, !isStored(before, in: entry.conversation) {
                    return .failure(.test(.predecessorMissing, 409))
                }
                bodies[entry.clientID] = body
                let message = Message(
                    conversation: entry.conversation, number: messages[entry.conversation, default: []].count + 1,
                    version: version, clientID: entry.clientID, author: "ann", sentAt: Date(), kind: .text,
                    text: entry.text, textVersion: version)
                messages[entry.conversation, default: []].append(message)
                return .success(message)
            case .edit, .delete:
                var number = 0
                switch entry.target {
                case .number(let known): number = known
                case .waiting(let clientID):
                    guard let sent = messages[entry.conversation]?.first(where: { $0.clientID == clientID }) else {
                        return .failure(.test(.predecessorMissing, 409))
                    }
                    number = sent.number
                case nil: break
                }
                guard var message = messages[entry.conversation]?.first(where: { $0.number == number }) else {
                    return .failure(.test(.notFound, 404))
                }
                if entry.kind == .edit {
                    // What the host does after a lost answer: the text stands there already.
                    if message.text == entry.text { return .success(message) }
                    let isBased = message.textVersion == entry.textVersion || entry.target == .waiting(message.clientID)
                    guard message.deletedAt == nil, isBased else {
                        return .failure(.test(.conflict, 409))
                    }
                    message.text = entry.text
                    message.textVersion = version
                } else {
                    message.text = nil
                    message.deletedAt = Date()
                }
                message.version = version
                messages[entry.conversation]?[number - 1] = message
                return .success(message)
            default: return .failure(.test(.invalidRequest, 400))
            }
        }

        private func isStored(_ clientID: MessageClientID, in conversation: ConversationID) -> Bool {
            messages[conversation]?.contains { $0.clientID == clientID } ?? false
        }
    }

    private struct Run {
        static let conversations: [ConversationID] = ["c1", "c2"]

        var queue: WriteQueue
        var server = Server()
        var disk: [Int64: WriteEntry] = [:]
        var written: [ConversationID: [MessageClientID]] = [:]
        /// The text that each message should end with; nil if it was deleted.
        var wanted: [MessageClientID: String?] = [:]
        var refused: Set<MessageClientID> = []
        var violations: [String] = []
        private var random: SeededGenerator
        private var now: Int64 = 0
        private var inFlight: [WriteEntry] = []
        private var texts = 0

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
            queue = WriteQueue(seed: seed)
        }

        mutating func step() {
            now += Int64.random(in: 0..<3_000, using: &random)
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<25: send()
            case 25..<35: edit()
            case 35..<39: delete()
            case 39..<65: pump()
            case 65..<92: answer(refusing: true)
            case 92..<95: queue.connected()
            case 95..<98: kill()
            default: retry()
            }
            store()
        }

        mutating func settle() {
            for _ in 0..<2_000 where !(queue.entries.isEmpty && inFlight.isEmpty) {
                now += 60_000
                retry()
                pump()
                while !inFlight.isEmpty { answer(refusing: false) }
                store()
            }
        }

        private mutating func makeText() -> String {
            texts += 1
            return "t\(texts)"
        }

        private mutating func send() {
            let conversation = Self.conversations.randomElement(using: &random) ?? "c1"
            let clientID = MessageClientID("m\(wanted.count)")
            let text = makeText()
            attempt { (queue) throws(SwitchboardError) in
                try queue.send(text, replyTo: nil, in: conversation, as: clientID, at: 0)
            }
            written[conversation, default: []].append(clientID)
            wanted[clientID] = text
        }

        /// Any message that is not deleted, and how the app names it.
        private mutating func anyTarget() -> (MessageClientID, ConversationID, WriteEntry.Target, Int?)? {
            guard let conversation = Self.conversations.randomElement(using: &random),
                let clientID = written[conversation, default: []].filter({ wanted[$0] != .some(nil) })
                    .randomElement(using: &random)
            else { return nil }
            if queue.send(clientID) != nil { return (clientID, conversation, .waiting(clientID), nil) }
            guard let message = server.messages[conversation]?.first(where: { $0.clientID == clientID }) else {
                return nil
            }
            return (clientID, conversation, .number(message.number), message.textVersion)
        }

        private mutating func edit() {
            guard let (clientID, conversation, target, version) = anyTarget() else { return }
            let text = makeText()
            attempt { (queue) throws(SwitchboardError) in
                try queue.edit(target, to: text, textVersion: version, in: conversation, at: 0)
            }
            wanted[clientID] = text
        }

        private mutating func delete() {
            guard let (clientID, conversation, target, _) = anyTarget() else { return }
            attempt { (queue) throws(SwitchboardError) in try queue.delete(target, in: conversation, at: 0) }
            wanted[clientID] = .some(nil)
        }

        private mutating func attempt(_ write: (inout WriteQueue) throws(SwitchboardError) -> Void) {
            do throws(SwitchboardError) { try write(&queue) } catch { violations.append("\(error)") }
        }

        private mutating func pump() {
            inFlight += queue.next(at: now, wallClock: 0)
            store()
        }

        /// Answers something, in any order between conversations and in order within one, as the server takes requests; or
        /// loses the answer, before or after it was stored.
        private mutating func answer(refusing: Bool) {
            guard let conversation = inFlight.randomElement(using: &random)?.conversation,
                let index = inFlight.firstIndex(where: { $0.conversation == conversation })
            else { return }
            let entry = inFlight.remove(at: index)
            let roll = refusing ? Int.random(in: 0..<20, using: &random) : 19
            switch roll {
            case 0: queue.complete(entry.id, .unanswered, at: now)
            case 1:
                _ = server.handle(entry)
                queue.complete(entry.id, .unanswered, at: now)
            case 2: queue.complete(entry.id, .later(.test(.rateLimited, 429), after: 5_000), at: now)
            case 3 where entry.kind == .send && !isStored(entry.clientID):
                refused.insert(entry.clientID)
                queue.complete(entry.id, .refused(.test(.forbidden, 403)), at: now)
            case 4 where entry.kind == .send:
                // The stream is faster than the answer.
                if case .success(let message) = server.handle(entry), !queue.saw(message) {
                    violations.append("\(entry.clientID) was not waiting")
                }
                queue.complete(entry.id, .unanswered, at: now)
            default:
                switch server.handle(entry) {
                case .success(let message): queue.complete(entry.id, .done(message), at: now)
                // What is before it was not stored.
                case .failure(let problem) where problem.kind == .predecessorMissing:
                    queue.complete(entry.id, .refused(problem), at: now)
                case .failure(let problem):
                    violations.append("\(entry) was refused: \(problem)")
                    queue.complete(entry.id, .refused(problem), at: now)
                }
            }
        }

        private func isStored(_ clientID: MessageClientID) -> Bool {
            server.messages.values.contains { $0.contains { $0.clientID == clientID } }
        }

        /// The process dies; what is on disk is all that there is. What was on its way may still arrive.
        private mutating func kill() {
            for entry in inFlight where Bool.random(using: &random) { _ = server.handle(entry) }
            inFlight = []
            queue = WriteQueue(Array(disk.values), seed: 1)
        }

        private mutating func retry() {
            for entry in queue.entries where entry.failure != nil { _ = queue.retry(entry.clientID, at: 0) }
        }

        private mutating func store() {
            let changes = queue.takeChanges()
            for id in changes.removed { disk[id] = nil }
            for id in changes.stored { disk[id] = queue.entry(id) }
        }
    }
}

extension Problem {
    fileprivate static func test(_ kind: Kind, _ status: Int) -> Problem {
        Problem(kind: kind, title: "", status: status, detail: "")
    }
}
