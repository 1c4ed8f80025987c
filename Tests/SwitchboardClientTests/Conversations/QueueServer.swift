import Foundation

@testable import SwitchboardClient

/// A server that stores a client id once, and refuses it with another body; for every kind of write.
struct QueueServer {
    /// What is as it was last written: a reaction, a star, a member of a membership.
    struct StateKey: Hashable {
        var conversation: ConversationID
        var name: String
        var number = 0
        var emoji: String?
    }
    enum StateValue: Hashable {
        case flag(Bool)
        case membership(MembershipChange)
    }
    struct Scheduled: Hashable {
        var conversation: ConversationID
        var text: String
        var sendAt: Date
    }

    var messages: [ConversationID: [Message]] = [:]
    var states: [StateKey: StateValue] = [:]
    var cleared: [ConversationID: Int] = [:]
    var scheduled: [MessageClientID: Scheduled] = [:]
    /// What was carried out.
    var kinds: Set<WriteEntry.Kind> = []
    private var made: [MessageClientID: ConversationID] = [:]
    private var bodies: [MessageClientID: String] = [:]
    private var version = 0

    mutating func handle(_ entry: WriteEntry) -> WriteQueue.Outcome {
        version += 1
        let outcome = carryOut(entry)
        if case .refused = outcome { return outcome }
        kinds.insert(entry.kind)
        return outcome
    }

    private mutating func carryOut(_ entry: WriteEntry) -> WriteQueue.Outcome {
        if entry.conversation.isProvisional, entry.kind != .create { return .refused(.test(.notFound, 404)) }
        switch entry.kind {
        case .send, .voice, .forward: return send(entry)
        case .edit, .delete: return change(entry)
        case .create:
            let id = made[entry.clientID] ?? ConversationID("g\(made.count)")
            made[entry.clientID] = id
            return .created(id)
        case .react, .removeReaction: set(entry, "react", entry.kind == .react)
        case .star, .unstar: set(entry, "star", entry.kind == .star)
        case .pin, .unpin: set(entry, "pin", entry.kind == .pin)
        case .hide: set(entry, "hide", true)
        case .listen: set(entry, "listen", true)
        case .clear, .deleteForMe:
            cleared[entry.conversation] = max(cleared[entry.conversation] ?? 0, entry.upTo ?? 0)
        case .membership:
            guard let change = entry.membership else { return .refused(.test(.invalidRequest, 400)) }
            states[StateKey(conversation: entry.conversation, name: change.name)] = .membership(change)
        case .schedule, .reschedule, .sendNow, .unschedule: return handleScheduled(entry)
        }
        return .finished
    }

    private mutating func set(_ entry: WriteEntry, _ name: String, _ isOn: Bool) {
        guard case .number(let number) = entry.target else { return }
        let key = StateKey(conversation: entry.conversation, name: name, number: number, emoji: entry.emoji)
        states[key] = .flag(isOn)
    }

    private mutating func send(_ entry: WriteEntry) -> WriteQueue.Outcome {
        let text = entry.text ?? entry.sound?.name ?? ""
        let body = "\(entry.kind) \(text)"
        if let known = message(entry.clientID, in: entry.conversation) {
            return bodies[entry.clientID] == body ? .done(known) : .refused(.test(.clientIDReused, 409))
        }
        if let before = entry.after, message(before, in: entry.conversation) == nil {
            return .refused(.test(.predecessorMissing, 409))
        }
        for named in [entry.replyTo, entry.thread] where number(of: named, in: entry.conversation) == nil {
            if named != nil { return .refused(.test(.predecessorMissing, 409)) }
        }
        bodies[entry.clientID] = body
        return .done(store(text, entry.kind == .voice ? .voice : .text, as: entry.clientID, in: entry.conversation))
    }

    private mutating func store(
        _ text: String, _ kind: Message.Kind, as clientID: MessageClientID, in conversation: ConversationID
    ) -> Message {
        let message = Message(
            conversation: conversation, number: messages[conversation, default: []].count + 1,
            version: version, clientID: clientID, author: "ann", sentAt: Date(), kind: kind, text: text,
            textVersion: version)
        messages[conversation, default: []].append(message)
        return message
    }

    private mutating func change(_ entry: WriteEntry) -> WriteQueue.Outcome {
        guard let number = number(of: entry.target, in: entry.conversation) else {
            return .refused(.test(.predecessorMissing, 409))
        }
        guard var message = messages[entry.conversation]?[number - 1] else { return .refused(.test(.notFound, 404)) }
        if entry.kind == .edit {
            // What the host does after a lost answer: the text stands there already.
            if message.text == entry.text { return .done(message) }
            let isBased = message.textVersion == entry.textVersion || entry.target == .waiting(message.clientID)
            guard message.deletedAt == nil, isBased else { return .refused(.test(.conflict, 409)) }
            message.text = entry.text
            message.textVersion = version
        } else {
            message.text = nil
            message.deletedAt = Date()
        }
        message.version = version
        messages[entry.conversation]?[number - 1] = message
        return .done(message)
    }

    private mutating func handleScheduled(_ entry: WriteEntry) -> WriteQueue.Outcome {
        if entry.kind == .schedule {
            if let known = message(entry.clientID, in: entry.conversation) { return .done(known) }
            if scheduled[entry.clientID] == nil {
                scheduled[entry.clientID] = Scheduled(
                    conversation: entry.conversation, text: entry.text ?? "", sendAt: entry.sendAt ?? Date())
            }
            return .finished
        }
        guard case .waiting(let clientID) = entry.target else { return .refused(.test(.notFound, 404)) }
        switch entry.kind {
        case .reschedule:
            guard scheduled[clientID] != nil else { return .refused(.test(.conflict, 409)) }
            if let text = entry.text { scheduled[clientID]?.text = text }
            if let time = entry.sendAt { scheduled[clientID]?.sendAt = time }
        case .sendNow:
            // What the host does after a lost answer: it is sent already.
            if let known = message(clientID, in: entry.conversation) { return .done(known) }
            guard let sent = sendDue(clientID) else { return .refused(.test(.notFound, 404)) }
            return .done(sent)
        default:
            guard message(clientID, in: entry.conversation) == nil else { return .refused(.test(.conflict, 409)) }
            scheduled[clientID] = nil
        }
        return .finished
    }

    /// Sends a scheduled message.
    mutating func sendDue(_ clientID: MessageClientID) -> Message? {
        guard let due = scheduled.removeValue(forKey: clientID) else { return nil }
        return store(due.text, .text, as: clientID, in: due.conversation)
    }

    func message(_ clientID: MessageClientID, in conversation: ConversationID) -> Message? {
        messages[conversation]?.first { $0.clientID == clientID }
    }

    private func number(of target: WriteEntry.Target?, in conversation: ConversationID) -> Int? {
        switch target {
        case .number(let number): number <= messages[conversation, default: []].count ? number : nil
        case .waiting(let clientID): message(clientID, in: conversation)?.number
        case nil: nil
        }
    }
}

extension Problem {
    static func test(_ kind: Kind, _ status: Int) -> Problem {
        Problem(kind: kind, title: "", status: status, detail: "")
    }
}
