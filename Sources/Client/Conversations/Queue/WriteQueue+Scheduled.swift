import Foundation

// Messages that the server sends later. Until it has one, its changes are part of it.
extension WriteQueue {
    /// Queues a message that the server sends at a time.
    mutating func schedule(
        _ text: String, at time: Date, replyTo: WriteEntry.Target? = nil, in conversation: ConversationID,
        as clientID: MessageClientID, at wallClock: Int64
    ) throws(SwitchboardError) {
        var entry = WriteEntry(.schedule, in: conversation, at: wallClock)
        (entry.clientID, entry.text, entry.sendAt, entry.replyTo) = (clientID, text, time, replyTo)
        try add(entry)
    }

    /// Queues another text or time; a parameter that is nil changes nothing.
    mutating func reschedule(
        _ clientID: MessageClientID, to text: String?, at time: Date?, in conversation: ConversationID,
        at wallClock: Int64
    ) throws(SwitchboardError) {
        let scheduled = unsentSchedule(clientID, in: conversation)
        let earlier = entries.last { $0.changes(clientID, in: conversation) && $0.kind != .schedule }
        if let known = scheduled ?? earlier.flatMap({ $0.kind == .reschedule && isChangeable($0) ? $0 : nil }),
            let index = index(known.id)
        {
            return try change(index, to: text, at: time)
        }
        var entry = WriteEntry(.reschedule, in: conversation, at: wallClock)
        (entry.target, entry.text, entry.sendAt) = (.waiting(clientID), text, time)
        try add(entry)
    }

    /// Queues that a message is sent now. A message that the server does not have yet becomes an ordinary one.
    mutating func sendNow(
        _ clientID: MessageClientID, in conversation: ConversationID, at wallClock: Int64
    ) throws(SwitchboardError) {
        if let scheduled = unsentSchedule(clientID, in: conversation) {
            removeSchedule(scheduled)
            return try send(
                scheduled.text ?? "", replyTo: scheduled.replyTo, in: conversation, as: clientID, at: wallClock)
        }
        guard !entries.contains(where: { $0.kind == .sendNow && $0.changes(clientID, in: conversation) }) else {
            return
        }
        var entry = WriteEntry(.sendNow, in: conversation, at: wallClock)
        entry.target = .waiting(clientID)
        try add(entry)
    }

    /// Queues the deletion of a message. If the server does not have it yet, it is only removed here.
    mutating func unschedule(
        _ clientID: MessageClientID, in conversation: ConversationID, at wallClock: Int64
    ) throws(SwitchboardError) {
        if let scheduled = unsentSchedule(clientID, in: conversation) { return removeSchedule(scheduled) }
        for other in entries
        where other.kind != .schedule && other.changes(clientID, in: conversation) && !isInFlight(other) {
            removeEntry(other.id)
        }
        var entry = WriteEntry(.unschedule, in: conversation, at: wallClock)
        entry.target = .waiting(clientID)
        try add(entry)
    }

    /// The server has refused a message that was to be sent later: what waited to change it is part of it from now on,
    /// and it is tried again.
    mutating func foldChanges(into scheduled: WriteEntry) {
        for other in entries
        where other.kind != .schedule && other.changes(scheduled.clientID, in: scheduled.conversation) {
            guard let index = index(scheduled.id) else { return }
            switch other.kind {
            case .unschedule: return removeSchedule(scheduled)
            case .sendNow:
                entries[index].kind = .send
                (entries[index].sendAt, entries[index].failure, entries[index].wasSent) = (nil, nil, false)
            default: try? change(index, to: other.text, at: other.sendAt)
            }
            removeEntry(other.id)
        }
    }

    private mutating func change(_ index: Int, to text: String?, at time: Date?) throws(SwitchboardError) {
        if let text { try replace(index, with: text) }
        if let time { entries[index].sendAt = time }
        (entries[index].failure, entries[index].wasSent) = (nil, false)
        changes.stored.insert(entries[index].id)
    }

    private mutating func removeSchedule(_ scheduled: WriteEntry) {
        for other in entries where other.changes(scheduled.clientID, in: scheduled.conversation) {
            removeEntry(other.id)
        }
    }

    /// A message that the server does not have.
    private func unsentSchedule(_ clientID: MessageClientID, in conversation: ConversationID) -> WriteEntry? {
        entries.first { entry in
            entry.kind == .schedule && entry.changes(clientID, in: conversation) && isChangeable(entry)
        }
    }

    private func isChangeable(_ entry: WriteEntry) -> Bool { !entry.wasSent || entry.failure != nil }
}

extension WriteEntry {
    /// Whether it schedules a message, or is about one that was scheduled.
    fileprivate func changes(_ scheduled: MessageClientID, in conversation: ConversationID) -> Bool {
        guard self.conversation == conversation else { return false }
        switch kind {
        case .schedule: return clientID == scheduled
        case .reschedule, .sendNow, .unschedule: return target == .waiting(scheduled)
        default: return false
        }
    }
}
