import Foundation
import Testing

@testable import SwitchboardClient

/// Whatever is lost, refused or killed: every message is stored once, in the order it was written, with the last text.
struct WriteQueueProperties {
    @Test(arguments: 0..<400)
    func nothingIsLostAndNothingComesTwice(seed: UInt64) {
        var run = QueueRun(seed: seed)
        for _ in 0..<250 { run.step() }
        run.settle()
        #expect(run.violations.isEmpty, "seed \(seed): \(run.violations)")
        #expect(run.queue.entries.isEmpty && run.disk.isEmpty, "seed \(seed): \(run.queue.entries)")
        #expect(run.sounds.isEmpty, "seed \(seed): sounds")
        for conversation in run.conversations {
            let stored = run.server.messages[run.queue.resolve(conversation), default: []]
            #expect(Set(stored.map(\.clientID)).count == stored.count, "seed \(seed): twice")
            let order = stored.map(\.clientID).filter { !run.unordered.contains($0) }
            #expect(order == run.written[conversation, default: []].filter(order.contains), "seed \(seed): order")
            for clientID in run.written[conversation, default: []] {
                let message = stored.first { $0.clientID == clientID }
                switch run.wanted[clientID] {
                case .text(let text): #expect(message?.text == text, "seed \(seed): \(clientID)")
                case .forwarded: #expect(message != nil, "seed \(seed): \(clientID)")
                case .gone: #expect(message == nil || message?.deletedAt != nil, "seed \(seed): deleted")
                case nil: Issue.record("seed \(seed): \(clientID) was not written")
                }
            }
        }
        #expect(run.differingStates.isEmpty, "seed \(seed): \(run.differingStates)")
        #expect(run.server.cleared == run.cleared, "seed \(seed): cleared")
        #expect(run.server.scheduled == run.scheduled, "seed \(seed): scheduled")
    }

    @Test("every kind of write is generated")
    func allKinds() {
        var kinds: Set<WriteEntry.Kind> = []
        for seed in 0..<20 {
            var run = QueueRun(seed: UInt64(seed))
            for _ in 0..<250 { run.step() }
            kinds.formUnion(run.server.kinds)
        }
        #expect(kinds == Set(WriteEntry.Kind.allCases))
    }

    /// Without an answer as many are on their way as may be, each after the one before it; what is refused brings those behind
    /// it back, and they go out after the last one that was stored.
    @Test func whatFollowsARefusedMessageIsSentAgain() throws {
        var queue = WriteQueue(seed: 1)
        for number in 0..<100 {
            try queue.send("\(number)", replyTo: nil, in: "c1", as: MessageClientID("m\(number)"), at: 0)
        }
        let first = queue.next(at: 0, wallClock: 0)
        #expect(first.map(\.text) == (0..<queue.limits.inFlight).map { "\($0)" })
        #expect(first.map(\.after) == [nil] + first.dropLast().map(\.clientID))
        #expect(queue.next(at: 0, wallClock: 0).isEmpty)
        var server = QueueServer()
        for entry in first {
            guard entry.text != "20" else {
                queue.complete(entry.id, .refused(.test(.invalidRequest, 400)), at: 0)
                continue
            }
            switch server.handle(entry) {
            case .refused(let problem): queue.complete(entry.id, .refused(problem), at: 0)
            case let outcome: queue.complete(entry.id, outcome, at: 0)
            }
            // Nothing overtakes those that come back.
            if Int(entry.text ?? "") ?? 0 > 20, entry.id != first.last?.id { #expect(queue.draining == ["c1"]) }
        }
        while case let ready = queue.next(at: 0, wallClock: 0), !ready.isEmpty {
            for entry in ready {
                guard case .done(let message) = server.handle(entry) else {
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

        var full = WriteQueue(seed: 1)
        for number in 0..<300 {
            let conversation = ConversationID(number < 297 ? "c1" : "c\(number)")
            try full.send("\(number)", replyTo: nil, in: conversation, as: MessageClientID("m\(number)"), at: 0)
        }
        let texts = full.next(at: 0, wallClock: 0).map(\.text)
        #expect(texts.count == full.limits.inFlight && texts.suffix(3) == ["297", "298", "299"])
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
}
