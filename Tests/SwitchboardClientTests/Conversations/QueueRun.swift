import Foundation
import Testing

@testable import SwitchboardClient

/// An app that writes all kinds of things, while answers are lost and the process is killed; and what is to come of it.
struct QueueRun {
    enum Outcome: Hashable {
        case text(String)
        /// With any text.
        case forwarded
        case gone
    }

    var queue: WriteQueue
    var server = QueueServer()
    var disk: [Int64: WriteEntry] = [:]
    /// The sounds in files.
    var sounds: Set<String> = []
    /// As the app knows them: some are made by the queue.
    var conversations: [ConversationID] = ["c1", "c2"]
    /// The messages in the order in which they were written.
    var written: [ConversationID: [MessageClientID]] = [:]
    var wanted: [MessageClientID: Outcome] = [:]
    /// Messages that have lost their position: they were refused, or are sent later.
    var unordered: Set<MessageClientID> = []
    var states: [QueueServer.StateKey: QueueServer.StateValue] = [:]
    var cleared: [ConversationID: Int] = [:]
    var scheduled: [MessageClientID: QueueServer.Scheduled] = [:]
    var violations: [String] = []
    var random: SeededGenerator
    private var created: [ConversationID: ConversationID] = [:]
    private var now: Int64 = 0
    private var inFlight: [WriteEntry] = []
    var texts = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        queue = WriteQueue(seed: seed)
    }

    mutating func step() {
        now += Int64.random(in: 0..<3_000, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<14: send()
        case 14..<19: sendVoice()
        case 19..<26: edit()
        case 26..<29: delete()
        case 29..<44: writeOther()
        case 44..<67: pump()
        case 67..<92: answer(refusing: true)
        case 92..<94: queue.connected()
        case 94..<97: kill()
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
        // What was written in conversations by their provisional ids is there now.
        states = Dictionary(
            states.map { key, value in
                var key = key
                key.conversation = queue.resolve(key.conversation)
                return (key, value)
            }, uniquingKeysWith: { $1 })
        cleared = Dictionary(cleared.map { (queue.resolve($0), $1) }, uniquingKeysWith: max)
        for id in scheduled.keys {
            guard let conversation = scheduled[id]?.conversation else { continue }
            scheduled[id]?.conversation = queue.resolve(conversation)
        }
    }

    /// What is other than it was written, once all is settled. What was reacted to and then deleted has no reactions.
    var differingStates: [QueueServer.StateKey] {
        Set(states.keys).union(server.states.keys).filter { key in
            let isDeleted = server.messages[key.conversation, default: []].contains { message in
                message.number == key.number && message.deletedAt != nil
            }
            guard key.name != "react" || !isDeleted else { return false }
            return (states[key] ?? .flag(false)) != (server.states[key] ?? .flag(false))
        }
    }

    mutating func makeText() -> String {
        texts += 1
        return "t\(texts)"
    }

    mutating func attempt(_ write: (inout WriteQueue) throws(SwitchboardError) -> Void) {
        do throws(SwitchboardError) { try write(&queue) } catch { violations.append("\(error)") }
    }

    /// Any message that is not deleted, and how the app names it.
    mutating func anyTarget(
        in app: ConversationID, where condition: (MessageClientID) -> Bool = { _ in true }
    ) -> (MessageClientID, WriteEntry.Target, Int?)? {
        let alive = written[app, default: []].filter { wanted[$0] != .gone && condition($0) }
        guard let clientID = alive.randomElement(using: &random) else { return nil }
        if queue.send(clientID) != nil { return (clientID, .waiting(clientID), nil) }
        guard let message = server.message(clientID, in: queue.resolve(app)) else { return nil }
        return (clientID, .number(message.number), message.textVersion)
    }

    mutating func anyConversation() -> ConversationID { conversations.randomElement(using: &random) ?? "c1" }

    mutating func write(_ clientID: MessageClientID, _ outcome: Outcome, in app: ConversationID) {
        written[app, default: []].append(clientID)
        wanted[clientID] = outcome
    }

    private mutating func pump() {
        inFlight += queue.next(at: now, wallClock: 0)
        store()
    }

    /// Answers something, in any order between conversations and in order within one, as the server takes requests; or
    /// loses the answer, before or after it was carried out.
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
        case 3 where mayRefuse(entry): queue.complete(entry.id, .refused(.test(.forbidden, 403)), at: now)
        case 4 where entry.isMessage:
            // The stream is faster than the answer.
            if case .done(let message) = server.handle(entry), !queue.observe(message) {
                violations.append("\(entry.clientID) was not waiting")
            }
            queue.complete(entry.id, .unanswered, at: now)
        default:
            let outcome = server.handle(entry)
            if case .refused(let problem) = outcome, problem.kind != .predecessorMissing {
                violations.append("\(entry) was refused: \(problem)")
            }
            queue.complete(entry.id, outcome, at: now)
        }
    }

    /// What changes something that is there is not refused here: retried later, it would undo what was written since.
    private func mayRefuse(_ entry: WriteEntry) -> Bool {
        switch entry.kind {
        case .send, .voice, .forward: server.message(entry.clientID, in: entry.conversation) == nil
        case .schedule: server.scheduled[entry.clientID] == nil
        case .create: true
        default: false
        }
    }

    /// The process dies; what is on disk is all that there is. What was on its way may still arrive.
    private mutating func kill() {
        for entry in inFlight where Bool.random(using: &random) { _ = server.handle(entry) }
        inFlight = []
        queue = WriteQueue(Array(disk.values), created: created, seed: 1)
        sounds.formIntersection(disk.values.compactMap(\.storedSound?.name))
    }

    /// The user sends what failed again, and gives up what answers a message that was given up.
    private mutating func retry() {
        for entry in queue.entries where queue.entry(entry.id)?.failure != nil {
            let needed = [entry.replyTo, entry.thread].compactMap { target -> MessageClientID? in
                guard case .waiting(let clientID) = target else { return nil }
                return queue.send(clientID) == nil ? clientID : nil
            }
            if needed.isEmpty {
                _ = queue.retry(entry.clientID, at: 0)
            } else if queue.discard(entry.clientID) {
                wanted[entry.clientID] = .gone
            }
        }
    }

    private mutating func store() {
        for entry in queue.entries {
            if entry.isMessage, let failure = entry.failure, failure != .conversationMissing {
                unordered.insert(entry.clientID)
            }
            if let sound = entry.storedSound, !sounds.contains(sound.name) { violations.append("\(sound) is gone") }
        }
        let changes = queue.takeChanges()
        for id in changes.removed { disk[id] = nil }
        for id in changes.stored { disk[id] = queue.entry(id) }
        if changes.created { created = queue.created }
        sounds.subtract(changes.sounds)
    }
}
