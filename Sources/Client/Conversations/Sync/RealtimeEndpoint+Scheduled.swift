import Foundation

// Messages that the server sends later.
extension RealtimeEndpoint {
    private struct Scheduling: Encodable, Sendable {
        var conversation: ConversationID
        var clientID: MessageClientID
        var text: String
        var replyTo: MessageReference?
        var sendAt: Date
    }
    private struct Change: Encodable, Sendable {
        var conversation: ConversationID
        var clientID: MessageClientID
        var text: String?
        var sendAt: Date?
    }
    private struct Sending: Encodable, Sendable {
        var conversation: ConversationID
        var clientID: MessageClientID
        /// Null is something else than absent: now.
        var sendAt: String?? = .some(nil)
    }
    private struct Naming: Encodable, Sendable {
        var conversation: ConversationID
        var clientID: MessageClientID
    }
    private struct Sent: Decodable, Sendable { var message: Message }
    private struct List: Decodable, Sendable { var scheduled: [ScheduledMessage] }

    func schedule(
        _ text: String, at time: Date, replyTo: Int?, in id: ConversationID
    ) async throws -> MessageClientID {
        try Self.check(text)
        _ = try await owner()
        let (id, wallClock, clientID) = (resolve(id), wallClock, MessageClientID(newUUID()))
        try changeQueue(in: id) { (queue: inout WriteQueue) throws(SwitchboardError) -> Void in
            try queue.schedule(
                text, at: time.inMilliseconds, replyTo: replyTo.map { .number($0) }, in: id, as: clientID, at: wallClock
            )
        }
        start()
        sendQueue()
        return clientID
    }

    func reschedule(
        _ message: MessageClientID, to text: String?, at time: Date?, in id: ConversationID
    ) async throws {
        if let text { try Self.check(text) }
        guard text != nil || time != nil else { return }
        _ = try await owner()
        let (id, wallClock) = (resolve(id), wallClock)
        try changeQueue(in: id) { (queue: inout WriteQueue) throws(SwitchboardError) -> Void in
            try queue.reschedule(message, to: text, at: time?.inMilliseconds, in: id, at: wallClock)
        }
        start()
        sendQueue()
    }

    func sendNow(_ message: MessageClientID, in id: ConversationID) async throws -> Message.ID {
        let owner = try await owner()
        let (id, wallClock) = (resolve(id), wallClock)
        try changeQueue(in: id) { (queue: inout WriteQueue) throws(SwitchboardError) -> Void in
            try queue.sendNow(message, in: id, at: wallClock)
        }
        start()
        sendQueue()
        return Message.ID(author: owner, clientID: message)
    }

    func unschedule(_ message: MessageClientID, in id: ConversationID) async throws {
        _ = try await owner()
        let (id, wallClock) = (resolve(id), wallClock)
        try changeQueue(in: id) { (queue: inout WriteQueue) throws(SwitchboardError) -> Void in
            try queue.unschedule(message, in: id, at: wallClock)
        }
        start()
        sendQueue()
    }

    /// The messages that the server will send, and those that it could not.
    func scheduled(in id: ConversationID) async throws -> [ScheduledMessage] {
        let list: List = try await request("scheduled.list", ["conversation": resolve(id)])
        return list.scheduled
    }

    /// The writes about them that wait, or were refused.
    func waitingWrites(in id: ConversationID) -> [WaitingWrite] {
        messaging.queue.entries(in: resolve(id)).compactMap { WaitingWrite($0) }
    }

    func carryOutScheduled(_ entry: WriteEntry) async throws -> WriteQueue.Outcome {
        let id = entry.conversation
        guard entry.kind != .schedule else {
            let _: Nothing = try await request(
                "messages.send",
                Scheduling(
                    conversation: id, clientID: entry.clientID, text: entry.text ?? "",
                    replyTo: entry.replyTo.map(MessageReference.init), sendAt: entry.sendAt ?? Date()))
            return .finished
        }
        guard case .waiting(let scheduled) = entry.target else {
            throw SwitchboardError.refused(WriteFailure.predecessorMissing.problem)
        }
        do {
            switch entry.kind {
            case .sendNow:
                let result: Sent = try await request(
                    "scheduled.update", Sending(conversation: id, clientID: scheduled))
                return .done(result.message)
            case .unschedule:
                let _: Nothing = try await request(
                    "scheduled.delete", Naming(conversation: id, clientID: scheduled))
            default:
                let _: Nothing = try await request(
                    "scheduled.update",
                    Change(conversation: id, clientID: scheduled, text: entry.text, sendAt: entry.sendAt))
            }
            return .finished
        } catch SwitchboardError.refused(let problem)
            where [.conflict, .notFound, .invalidRequest].contains(problem.kind)
        {
            // A response may have been lost: the change was made already.
            guard let outcome = try await outcome(of: entry, about: scheduled) else {
                throw SwitchboardError.refused(problem)
            }
            return outcome
        }
    }

    /// What has become of a change that is repeated; nil if it was not carried out.
    private func outcome(
        of entry: WriteEntry, about scheduled: MessageClientID
    ) async throws -> WriteQueue.Outcome? {
        switch entry.kind {
        case .sendNow:
            return try await message(sentWith: scheduled, in: entry.conversation).map { .done($0) }
        case .reschedule:
            if let waiting = try await self.scheduled(in: entry.conversation).first(where: { $0.id == scheduled }) {
                let isSame =
                    entry.text ?? waiting.text == waiting.text
                    && entry.sendAt ?? waiting.sendAt == waiting.sendAt && waiting.failure == nil
                return isSame ? .finished : nil
            }
            guard let sent = try await message(sentWith: scheduled, in: entry.conversation) else { return nil }
            let isSame = entry.text ?? sent.text == sent.text && entry.sendAt ?? sent.sentAt <= sent.sentAt
            return isSame ? .finished : nil
        default: return nil
        }
    }
}

extension Date {
    /// As requests have it, so that a repetition is the same request.
    fileprivate var inMilliseconds: Date { JSON.date(JSON.text(self)) ?? self }
}
