import Languages
import Model
import TestSupport
import Testing
import Wire

@testable import Messaging

/// Two harnesses in which the same is done: in one of them somebody is blocked, who must not be able to tell which it is.
@Suite("What somebody sees who is blocked") struct BlockedTranscriptTests {
    private enum Step {
        case send(ClientID, String, replyTo: Int64?, thread: Int64?)
        case forward(ClientID, Int64)
        case schedule(ClientID, String, seconds: Int64)
        case edit(Int64, String)
        case delete(Int64)
        case language(Int64, String)
        case react(Int64, String)
        case removeReaction(Int64, String)
        case pin(Int64)
        case unpin(Int64)
        case star(Int64)
        case hide(Int64)
        case timer(Int64?)
        case read(Int64)
        /// Adds the other one to a group.
        case add
        case block
        /// What the other one does.
        case otherSends(ClientID, String)
        case otherReacts(Int64, String)
        case otherEdits(Int64, String)
        case otherDeletes(Int64)
        case pass(seconds: Int64)
    }

    /// Messages of before the block, which both see.
    private static let common: Int64 = 6

    private static func steps(_ random: inout SeededRandom) -> [Step] {
        func clientID() -> ClientID { .make(at: Timestamp(milliseconds: 1_800_000_000_000), using: &random) }
        func text() -> String {
            ["hello there", "Can you call me when you get home?", "<@all> look", "https://example.org/"]
                .randomElement(using: &random).map { "\($0) \(Int.random(in: 0..<1000, using: &random))" } ?? ""
        }
        func emoji() -> String { ["👍", "🎉", "❤️"].randomElement(using: &random) ?? "👍" }
        func number(_ last: Int64 = 14) -> Int64 { .random(in: 1...last, using: &random) }
        var sent: [Step] = []
        var steps: [Step] = (0..<common).map { index in
            index % 2 == 0
                ? .send(clientID(), text(), replyTo: nil, thread: nil) : .otherSends(clientID(), text())
        }
        steps.append(.block)
        for _ in 0..<60 {
            let step: Step
            switch Int.random(in: 0..<24, using: &random) {
            case 0...3:
                step = .send(
                    clientID(), text(), replyTo: Bool.random(using: &random) ? number() : nil,
                    thread: Int.random(in: 0..<3, using: &random) == 0 ? number() : nil)
                sent.append(step)
            case 4: step = sent.randomElement(using: &random) ?? .add
            case 5: step = .forward(clientID(), number())
            case 6: step = .schedule(clientID(), text(), seconds: .random(in: 10...60, using: &random))
            case 7...8: step = .edit(number(), text())
            case 9: step = .delete(number())
            case 10: step = .language(number(), Bool.random(using: &random) ? "es" : "en")
            case 11...12: step = .react(number(), emoji())
            case 13: step = .removeReaction(number(), emoji())
            case 14: step = .pin(number())
            case 15: step = .unpin(number())
            case 16: step = .star(number())
            case 17: step = Int.random(in: 0..<4, using: &random) == 0 ? .hide(number()) : .read(number())
            case 18: step = .timer([nil, 10, 60].randomElement(using: &random) ?? nil)
            case 19: step = .add
            case 20: step = .otherReacts(number(common), emoji())
            case 21: step = .otherEdits(number(common), text())
            case 22: step = .otherDeletes(number(common))
            default: step = .pass(seconds: .random(in: 1...40, using: &random))
            }
            steps.append(step)
        }
        return steps
    }

    /// Somebody who may be blocked, the other one, and a third who was invited to their group.
    private struct Harness {
        let isBlocked: Bool
        var chat = Chat(people: 3, areFriends: false)
        let here: ConversationID
        let group: ConversationID
        private(set) var said: [String] = []

        var ann: UserID { chat.people[0] }
        var ben: UserID { chat.people[1] }
        private var commands: ConversationCommands { chat.commands }
        private var store: InMemoryMessagingStore { chat.store }

        init(isBlocked: Bool) throws {
            self.isBlocked = isBlocked
            chat.commands = ConversationCommands(noticeID: { _, number, now in
                let digits = String(number)
                let zeros = String(repeating: "0", count: max(0, 12 - digits.count))
                return ClientID("00000000-0000-4000-8000-" + zeros + digits) ?? .make(at: now)
            })
            here = try chat.direct(0, 1)
            _ = try chat.commands.accept(here, by: chat.people[1], in: chat.store)
            group = try chat.group([2], name: "Team")
        }

        /// What it says, without the ids that differ between two harnesses.
        var transcript: [String] {
            let names = zip(
                chat.people.map(\.text) + [here.text, group.text], ["ann", "ben", "cleo", "here", "group"])
            return said.map { line in names.reduce(line) { $0.replacing($1.0, with: $1.1) } }
        }

        mutating func run(_ step: Step) throws {
            let outcome: String
            do {
                outcome = try response(to: step)
            } catch let problem as Problem {
                outcome = "\(problem.kind) \(problem.detail) \(problem.field ?? "")"
            }
            said.append("\(step): \(outcome)")
            said += try snapshot()
        }

        private func response(to step: Step) throws -> String {
            switch step {
            case .send(let clientID, let text, let replyTo, let thread):
                var outgoing = OutgoingMessage(
                    clientID: clientID, text: try MessageText(text), replyTo: replyTo, digest: Array(text.utf8))
                outgoing.thread = thread
                let sent = try commands.send(outgoing, to: here, by: ann, in: store)
                return "\(sent.isDuplicate) \(json { sent.message.write(to: &$0) })"
            case .forward(let clientID, let number):
                let outgoing = OutgoingMessage(
                    clientID: clientID, forward: MessageReference(here, number), digest: [1])
                let sent = try commands.send(outgoing, to: here, by: ann, in: store)
                return json { sent.message.write(to: &$0) }
            case .schedule(let clientID, let text, let seconds):
                let outgoing = OutgoingMessage(clientID: clientID, text: try MessageText(text), digest: [1])
                _ = try commands.schedule(
                    outgoing, at: store.now.adding(seconds: seconds), to: here, by: ann, in: store)
                return "waits"
            case .edit(let number, let text):
                return json(
                    try commands.edit(
                        number, in: here, text: MessageText(text), basedOn: nil, by: ann, store: store))
            case .delete(let number): return json(try commands.delete(number, in: here, by: ann, store: store))
            case .language(let number, let code):
                return json(
                    try commands.setLanguage(LanguageTag(code), of: number, in: here, by: ann, store: store))
            case .react(let number, let emoji):
                return json(
                    try commands.react(with: ReactionEmoji(emoji), to: number, in: here, by: ann, store: store))
            case .removeReaction(let number, let emoji):
                return json(
                    try commands.removeReaction(ReactionEmoji(emoji), to: number, in: here, by: ann, store: store))
            case .pin(let number):
                let found = try commands.pin(number, in: here, by: ann, store: store)
                return json { found.write(to: &$0) }
            case .unpin(let number):
                let found = try commands.unpin(number, in: here, by: ann, store: store)
                return json { found.write(to: &$0) }
            case .star(let number):
                let own = try commands.star(number, in: here, isStarred: true, by: ann, store: store)
                return json { own.write(to: &$0) }
            case .hide(let number):
                let own = try commands.hide(number, in: here, by: ann, store: store)
                return json { own.write(to: &$0) }
            case .timer(let seconds):
                let found = try commands.change(here, disappearAfter: seconds, by: ann, in: store)
                return json { found.write(to: &$0) }
            case .read(let number):
                let marks = try commands.mark(read: number, delivered: number, in: here, by: ann, store: store)
                return json { marks.writeOwn(to: &$0) }
            case .add:
                let found = try commands.add([ben], to: group, by: ann, in: store)
                return json { found.write(to: &$0) }
            case .block:
                if isBlocked { store.blocks.insert([ann, ben]) }
                return ""
            case .otherSends(let clientID, let text):
                let outgoing = OutgoingMessage(clientID: clientID, text: try MessageText(text), digest: [1])
                _ = try commands.send(outgoing, to: here, by: ben, in: store)
                return ""
            case .otherReacts(let number, let emoji):
                _ = try? commands.react(with: ReactionEmoji(emoji), to: number, in: here, by: ben, store: store)
                return ""
            case .otherEdits(let number, let text):
                _ = try? commands.edit(
                    number, in: here, text: MessageText(text), basedOn: nil, by: ben, store: store)
                return ""
            case .otherDeletes(let number):
                _ = try? commands.delete(number, in: here, by: ben, store: store)
                return ""
            case .pass(let seconds):
                store.now = store.now.adding(seconds: seconds)
                for due in store.dueScheduled(limit: 100) {
                    try commands.sendDue(due.clientID, by: due.author, in: store)
                }
                while try commands.expireMessages(limit: 100, in: store) > 0 {}
                return ""
            }
        }

        /// All that can be read.
        private func snapshot() throws -> [String] {
            var seen: [String] = []
            for id in [here, group] {
                let found = try commands.get(id, by: ann, in: store)
                let own = try commands.ownPart(of: ann, in: id, store: store)
                let page = try commands.page(.newest, of: id, limit: 100, by: ann, in: store)
                let noted = try commands.own(of: page.messages, in: id, by: ann, store: store)
                let members = try commands.members(of: id, after: nil, limit: 9, by: ann, in: store).members
                seen += [
                    json { found.write(to: &$0) }, json { found.writeMembership(own, to: &$0) },
                    json { page.write(to: &$0, own: noted, epoch: "e") },
                    "\(try commands.unread(of: ann, in: [id], store: store))",
                    "\(try commands.scheduled(in: id, by: ann, store: store).map(\.text))",
                ]
                // In the order of their ids, which differ.
                for member in members.sorted(by: { index(of: $0) < index(of: $1) }) {
                    seen.append(json { member.write(to: &$0) })
                }
                for message in page.messages {
                    let edits = try commands.edits(of: message.number, in: id, by: ann, store: store)
                    let receipts = try commands.receipts(
                        of: message.number, in: id, after: nil, limit: 9, by: ann, store: store
                    ).receipts
                    seen.append("\(message.number) \(edits.map(\.text)) \(receipts.count)")
                }
            }
            seen += try chat.search("hello", by: 0).map { message in json(message) }
            let starred = try commands.starred(by: ann, after: nil, limit: 100, in: store).messages
            return seen + starred.map { message in json(message) }
        }

        private func index(of member: Member) -> Int { chat.people.firstIndex(of: member.user) ?? 0 }

        private func json(_ message: SeenMessage) -> String { json { message.write(to: &$0) } }

        private func json(_ write: (inout JSONWriter) -> Void) -> String {
            var writer = JSONWriter(capacity: 512)
            write(&writer)
            return writer.text
        }
    }

    @Test("whatever they do, every response and every page is as if nobody had blocked them")
    func harnesses() throws {
        let seed = freshSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            let steps = Self.steps(&random)
            var (blocked, free) = (try Harness(isBlocked: true), try Harness(isBlocked: false))
            for step in steps {
                try blocked.run(step)
                try free.run(step)
            }
            for (one, other) in zip(blocked.transcript, free.transcript) where one != other {
                Issue.record("seed \(seed):\n\(one)\n\(other)")
                return
            }
            #expect(blocked.transcript.count == free.transcript.count, "seed \(seed)")
        }
    }
}
