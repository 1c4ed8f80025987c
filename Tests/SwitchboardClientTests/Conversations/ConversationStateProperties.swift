import Foundation
import Testing

@testable import SwitchboardClient

/// Whatever comes twice, late, in another order or not at all: a client that reads what it must ends with what the
/// server has.
struct ConversationStateProperties {
    @Test(arguments: Array(0..<600) + [9173])
    func anyOrderEndsInTheSameState(seed: UInt64) { check(Run(seed: seed), seed) }

    /// Responses bring some of the messages before the stream does, or while it is broken.
    @Test(arguments: 0..<400)
    func responsesMayBeFirst(seed: UInt64) { check(Run(seed: seed, acknowledges: true), seed) }

    private func check(_ start: Run, _ seed: UInt64) {
        var run = start
        for _ in 0..<150 { run.step() }
        run.settle()
        let (state, server) = (run.state, run.server)
        #expect(state.position?.sequence == Int64(server.sequence), "seed \(seed)")
        #expect(state.conversation?.name == server.conversation.name, "seed \(seed)")
        #expect(state.members == server.members, "seed \(seed)")
        #expect(
            state.ranges.last?.last ?? 0 == server.seen(1...max(1, server.last)).last?.number ?? 0
                || state.ranges.last?.contains(server.seen(1...server.last).last?.number ?? 0) == true, "seed \(seed)")
        for range in state.ranges.all {
            let held = state.messages.values.filter { range.contains($0.number) }.sorted { $0.number < $1.number }
            #expect(held == server.seen(range.first...range.last), "seed \(seed), \(range)")
        }
        for (one, other) in zip(state.ranges.all, state.ranges.all.dropFirst()) {
            #expect(one.last < other.first, "seed \(seed)")
        }
        #expect(run.stored == state.messages, "seed \(seed): what is stored is not what is held")
    }

    /// A server, the network between, and a client that listens again after a hole.
    private struct Run {
        private enum Item {
            case frame(RowFrame<ConversationRow>)
            case snapshot(ConversationSnapshot, StreamPosition)
            case page(MessagePage)
            /// The result of a `listen`.
            case listening(Int)
        }

        var server = ModelConversation()
        var state = ConversationState(id: "c1")
        var stored: [Int: Message] = [:]
        private var random: SeededGenerator
        private var sent: [Item] = []
        private var isListening = false
        private var published = 0
        private var listens = 0
        private let acknowledges: Bool

        init(seed: UInt64, acknowledges: Bool = false) {
            random = SeededGenerator(seed: seed)
            self.acknowledges = acknowledges
        }

        mutating func step() {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<30:
                server.send("m\(server.sequence)", isSeen: Int.random(in: 0..<5, using: &random) > 0)
                acknowledge()
            case 30..<40: server.edit(anyNumber(), Bool.random(using: &random) ? "e\(server.sequence)" : nil)
            case 40..<43: server.rename("n\(server.sequence)")
            case 43..<46: server.join(["ann", "ben", "cleo"].randomElement(using: &random) ?? "ann")
            case 46..<52: readPage()
            case 52..<56: cut()
            case 56..<57: changeEpoch()
            case 57..<60: state.trim(to: 40)
            case 60..<75: publish()
            default: deliver()
            }
            record()
        }

        /// Delivers what is left, listens, and reads what is not current.
        mutating func settle() {
            cut()
            listen()
            while !sent.isEmpty { apply(sent.removeFirst()) }
            for range in state.ranges.all where range.asOf < server.sequence {
                #expect(state.apply(server.page(range.first...range.last)) == .applied)
            }
            record()
        }

        private mutating func anyNumber() -> Int { Int.random(in: 1...max(1, server.last), using: &random) }

        private mutating func acknowledge() {
            guard acknowledges, let sent = server.seen(server.last...server.last).first,
                Bool.random(using: &random)
            else { return }
            state.acknowledge(sent)
        }

        private mutating func readPage() {
            let first = anyNumber()
            sent.append(.page(server.page(first...(first + Int.random(in: 0..<12, using: &random)))))
        }

        private mutating func publish() {
            guard isListening else { return listen() }
            sent += server.frames.dropFirst(published).map { .frame($0) }
            published = server.frames.count
        }

        private mutating func listen() {
            isListening = true
            listens += 1
            state.resume()
            published = server.frames.count
            let part = Int.random(in: 1...8, using: &random)
            if let frames = server.resume(state.resumption, window: 10, part: part) {
                sent += frames.map { .frame($0) }
            } else {
                let (snapshot, position) = server.snapshot(window: 10)
                sent.append(.snapshot(snapshot, position))
            }
            sent.append(.listening(listens))
        }

        /// Delivers something: most often the next, sometimes another one, sometimes twice, sometimes not at all.
        private mutating func deliver() {
            guard !sent.isEmpty else { return }
            let isInOrder = Int.random(in: 0..<10, using: &random) > 0
            var index = isInOrder ? 0 : sent.indices.randomElement(using: &random) ?? 0
            // A result comes after the frames before it.
            if case .listening = sent[index] { index = 0 }
            apply(sent[index])
            if Int.random(in: 0..<10, using: &random) > 0 { sent.remove(at: index) }
        }

        private mutating func apply(_ item: Item) {
            switch item {
            case .frame(let frame): if state.apply(frame) == .hole { isListening = false }
            case .snapshot(let snapshot, let position): state.apply(snapshot, at: position)
            case .page(let page): _ = state.apply(page)
            case .listening(let number): if isListening, number == listens { state.resumed() }
            }
        }

        private mutating func cut() {
            sent = []
            isListening = false
            state.resume()
        }

        private mutating func changeEpoch() {
            cut()
            server.restore()
            published = 0
        }

        /// A store that only hears what has changed.
        private mutating func record() {
            let changes = state.takeChanges()
            if changes.isReplaced { stored = [:] }
            for number in changes.messages { stored[number] = state.messages[number] }
            // What was trimmed is in the store still.
            stored = stored.filter { state.messages[$0.key] != nil }
        }
    }
}
