import Foundation

@testable import SwitchboardClient

/// A conversation as a server has it, for one reader who does not see some of its messages.
struct ModelConversation {
    let id: ConversationID = "c1"
    var epoch = "e1"
    var sequence = 0
    var conversation: Conversation
    var members: [UserID: ConversationMember] = [:]
    private var messages: [Int: (message: Message, isSeen: Bool, born: Int)] = [:]
    private(set) var frames: [RowFrame<ConversationRow>] = []

    init() {
        conversation = Conversation(
            id: id, kind: .group, name: "0", createdAt: Date(timeIntervalSince1970: 0), members: 0, version: 0)
        join("ann")
    }

    var last: Int { messages.count }

    func seen(_ numbers: ClosedRange<Int>) -> [Message] {
        messages.values.filter { $0.isSeen && numbers.contains($0.message.number) }.map(\.message)
            .sorted { $0.number < $1.number }
    }

    mutating func send(_ text: String, isSeen: Bool = true, from author: UserID = "ann", clientID: String = newUUID()) {
        sequence += 1
        let number = last + 1
        let message = Message(
            conversation: id, number: number, version: sequence, clientID: MessageClientID(clientID), author: author,
            sentAt: Date(timeIntervalSince1970: Double(number)), kind: .text, text: text, textVersion: sequence)
        messages[number] = (message, isSeen, sequence)
        add(isSeen ? [.message(message)] : [])
    }

    mutating func edit(_ number: Int, _ text: String?) {
        guard var held = messages[number] else { return }
        sequence += 1
        held.message.version = sequence
        held.message.textVersion = sequence
        held.message.text = text
        messages[number] = held
        add(held.isSeen ? [.message(held.message)] : [])
    }

    mutating func delete(_ number: Int) {
        guard var held = messages[number] else { return }
        sequence += 1
        (held.message.version, held.message.textVersion) = (sequence, sequence)
        (held.message.text, held.message.deletedAt) = (nil, Date(timeIntervalSince1970: Double(sequence)))
        messages[number] = held
        add(held.isSeen ? [.message(held.message)] : [])
    }

    mutating func rename(_ name: String) {
        sequence += 1
        conversation.name = name
        conversation.version = sequence
        add([.conversation(conversation)])
    }

    mutating func join(_ user: UserID) {
        sequence += 1
        members[user] = ConversationMember(
            user: user, role: .member, state: members[user]?.state == .member ? .left : .member,
            joinedAt: Date(timeIntervalSince1970: 0), version: sequence)
        members[user].map { add([.member($0, person: nil)]) }
    }

    /// As after a restore: the epoch is another, and the sequence lower.
    mutating func restore() {
        epoch += "'"
        frames = []
    }

    private mutating func add(_ rows: [ConversationRow]) {
        frames.append(RowFrame(rows: rows, epoch: epoch, after: sequence - 1, upTo: sequence))
    }

    func snapshot(window: Int) -> (ConversationSnapshot, StreamPosition) {
        let first = max(1, last - window + 1)
        let range = last == 0 ? nil : [first, last]
        let snapshot = ConversationSnapshot(
            conversation: conversation,
            membership: Membership(
                role: .member, state: .member, joinedAt: Date(timeIntervalSince1970: 0), version: 1,
                spans: [.init(from: 0)]),
            members: members.values.sorted { $0.user.rawValue < $1.user.rawValue }, people: [],
            messages: last == 0 ? [] : seen(first...last), range: range, hasEarlier: first > 1)
        return (snapshot, StreamPosition(epoch: epoch, sequence: Int64(sequence)))
    }

    func page(_ numbers: ClosedRange<Int>) -> MessagePage {
        let numbers = numbers.clamped(to: 1...max(1, last))
        return MessagePage(
            messages: last == 0 ? [] : seen(numbers),
            range: last == 0 ? nil : [numbers.lowerBound, numbers.upperBound],
            hasEarlier: numbers.lowerBound > 1, hasLater: numbers.upperBound < last,
            position: StreamPosition(epoch: epoch, sequence: Int64(sequence)))
    }

    /// What resuming brings, as the server sends it: at most `part` rows in a frame; nil if it is a snapshot.
    func resume(_ position: StreamPosition?, window: Int, part: Int) -> [RowFrame<ConversationRow>]? {
        guard let position, position.epoch == epoch, position.sequence <= sequence else { return nil }
        var frames: [RowFrame<ConversationRow>] = []
        var reached = Int(position.sequence)
        var held = position.held.map { Int($0.lowerBound)...Int($0.upperBound) } ?? 1...Int.max
        while reached < sequence {
            let before = messages.values.count { $0.born <= reached }
            let first = max(before + 1, last - window + 1)
            var rows: [(Int, ConversationRow)] = []
            if conversation.version > reached { rows.append((conversation.version, .conversation(conversation))) }
            for member in members.values where member.version > reached {
                rows.append((member.version, .member(member, person: nil)))
            }
            for one in messages.values where one.isSeen && one.message.version > reached {
                let number = one.message.number
                if number >= first || (number <= before && held.contains(number)) {
                    rows.append((one.message.version, .message(one.message)))
                }
            }
            rows.sort { $0.0 < $1.0 }
            let sent = rows.prefix(part)
            let upTo = rows.count > part ? rows[part].0 - 1 : sequence
            frames.append(
                RowFrame(
                    rows: sent.map(\.1), epoch: epoch, after: reached, upTo: upTo,
                    gap: first > before + 1 ? (before + 1)...(first - 1) : nil))
            reached = upTo
            held = 1...Int.max
        }
        return frames
    }
}
