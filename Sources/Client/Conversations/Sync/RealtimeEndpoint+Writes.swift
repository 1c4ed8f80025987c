import Logging

// The queue of writes.
extension RealtimeEndpoint {
    private struct Sending: Encodable, Sendable {
        var conversation: ConversationID
        var clientID: MessageClientID
        var text: String
        var replyTo: MessageReference?
        var thread: MessageReference?
        var afterClientID: MessageClientID?
    }
    private struct Editing: Encodable, Sendable {
        var conversation: ConversationID
        var number: MessageReference
        var text: String
        var textVersion: Int?
    }
    private struct Deleting: Encodable, Sendable {
        var conversation: ConversationID
        var number: MessageReference
        var `for` = "all"
    }
    private struct Forwarding: Encodable, Sendable {
        var conversation: ConversationID
        var clientID: MessageClientID
        var forward: WriteEntry.Source
    }
    private struct Reacting: Encodable, Sendable {
        var conversation: ConversationID; var number: Int; var emoji: String
    }
    private struct Clearing: Encodable, Sendable {
        var conversation: ConversationID
        var upTo: Int?
        var `for`: String?
    }
    private struct Creating: Encodable, Sendable {
        var clientID: MessageClientID
        var kind: Conversation.Kind
        var members: [UserID]?
        var name: String?
    }
    private struct Getting: Encodable, Sendable { var conversation: ConversationID; var number: Int }
    private struct MessageResult: Decodable, Sendable { var message: Message }
    private struct OwnResult: Decodable, Sendable { var own: OwnMessage }
    private struct MembershipResult: Decodable, Sendable { var membership: Membership }

    /// Changes the queue: what has changed is stored before anybody sees it, or not at all.
    ///
    /// - Parameter acknowledged: the results to store in the same transaction.
    func changeQueue<Result>(
        in id: ConversationID?, with acknowledged: AcknowledgedChanges? = nil,
        _ change: (inout WriteQueue) throws(SwitchboardError) -> Result
    ) throws(SwitchboardError) -> Result {
        let before = messaging.queue
        do {
            let result = try change(&messaging.queue)
            let changes = messaging.queue.takeChanges()
            if !changes.isEmpty || acknowledged != nil {
                try messaging.store?.save(messaging.queue, changes, with: acknowledged)
            }
            showQueue(in: id)
            return result
        } catch {
            messaging.queue = before
            throw error as? SwitchboardError ?? .storeFailed("\(error)")
        }
    }

    private func showQueue(in id: ConversationID?) {
        messaging.inboxUpdates.send(())
        for (open, conversation) in messaging.open where id == nil || id == open { conversation.updates.send(()) }
    }

    /// Sends what may be sent now.
    func sendQueue() {
        guard isConnected, let owner = messaging.owner, owner == user else { return }
        do {
            let ready = try changeQueue(in: nil) { queue in queue.next(at: now, wallClock: wallClock) }
            // The tasks begin in this order, on the actor.
            for entry in ready {
                Task {
                    let (outcome, acknowledged) = await send(entry)
                    complete(entry, outcome, acknowledging: acknowledged, for: owner)
                }
            }
        } catch {
            options.logger?.error("the queue of messages cannot be stored", metadata: ["error": "\(error)"])
        }
        setQueueTimer()
    }

    private func complete(
        _ entry: WriteEntry, _ outcome: WriteQueue.Outcome, acknowledging acknowledged: [Acknowledgement],
        for owner: UserID
    ) {
        guard messaging.owner == owner else { return }
        // A creation acknowledges the conversation that it has made.
        let id = if case .created(let created) = outcome { created } else { entry.conversation }
        do {
            try changeQueue(in: entry.conversation, with: hold(acknowledged, in: id)) { queue in
                queue.complete(entry.id, outcome, at: now)
            }
            show(acknowledged, in: id)
        } catch {
            // It is sent again, with the same client id.
            if !acknowledged.isEmpty { messaging.isCacheBroken = true }
            messaging.queue.complete(entry.id, .unanswered, at: now)
            options.logger?.error("the queue of messages cannot be stored", metadata: ["error": "\(error)"])
        }
        if case .created(let id) = outcome, resolve(entry.conversation) == id { created(entry.conversation, as: id) }
        sendQueue()
    }

    /// Takes messages that were read: one's own are not sent again.
    func observe(_ messages: [Message]) {
        guard let owner = messaging.owner else { return }
        for message in messages where message.author == owner && messaging.queue.send(message.clientID) != nil {
            let acknowledged = hold([.message(message)], in: message.conversation)
            do {
                _ = try changeQueue(in: message.conversation, with: acknowledged) { queue in queue.observe(message) }
            } catch {
                messaging.isCacheBroken = true
            }
        }
    }

    private func setQueueTimer() {
        guard let deadline = messaging.queue.deadline else { return }
        if let timer = messaging.queueTimer, timer.deadline <= deadline, timer.deadline > now { return }
        messaging.queueTimer?.task.cancel()
        let wait = Duration.milliseconds(max(1, deadline - now))
        messaging.queueTimer = (
            deadline,
            Task { [weak self, clock] in
                try? await clock.sleep(for: wait)
                if !Task.isCancelled { await self?.sendQueue() }
            }
        )
    }

    /// What became of an entry, and what the response says of it.
    private typealias Sent = (outcome: WriteQueue.Outcome, acknowledged: [Acknowledgement])

    /// Sends an entry and tells what became of it.
    private func send(_ entry: WriteEntry) async -> Sent {
        do {
            return try await carryOut(entry)
        } catch SwitchboardError.refused(let problem) {
            let isPermanent = problem.status < 500 && ![401, 408, 429].contains(problem.status)
            return (isPermanent ? .refused(problem) : .later(problem, after: problem.retryAfter?.milliseconds), [])
        } catch {
            return (.unanswered, [])
        }
    }

    private func carryOut(_ entry: WriteEntry) async throws -> Sent {
        let id = entry.conversation
        switch entry.kind {
        case .send, .forward, .edit, .delete: return Self.done(try await message(of: entry))
        case .react, .removeReaction:
            let message = try await message(of: entry)
            return (.done(message), [.reaction(entry.emoji ?? "", isOn: entry.kind == .react, to: message)])
        case .voice: return Self.done(try await voiceMessage(of: entry))
        case .schedule, .reschedule, .sendNow, .unschedule:
            let outcome = try await carryOutScheduled(entry)
            if case .done(let message) = outcome { return Self.done(message) }
            return (outcome, [])
        case .membership:
            guard let change = entry.membership else { break }
            let result: MembershipResult = try await request(
                "members.updateMe", MembershipRequest(conversation: id, change: change))
            return (.finished, [.membership(result.membership)])
        case .listen:
            let result: OwnResult = try await request(
                "messages.listen", Getting(conversation: id, number: number(of: entry.target)))
            return (.finished, [.own(result.own)])
        case .create:
            let result: ConversationResult = try await request(
                "conversations.create",
                Creating(
                    clientID: entry.clientID, kind: entry.creation?.kind ?? .group, members: entry.creation?.members,
                    name: entry.creation?.name))
            return (.created(result.conversation.id), [.created(result)])
        case .star, .unstar:
            let result: OwnResult = try await request(
                entry.kind == .star ? "messages.star" : "messages.unstar",
                Getting(conversation: id, number: number(of: entry.target)))
            return (.finished, [.own(result.own)])
        case .pin, .unpin:
            let result: ConversationResult = try await request(
                entry.kind == .pin ? "messages.pin" : "messages.unpin",
                Getting(conversation: id, number: number(of: entry.target)))
            return (.finished, [.conversation(result)])
        case .hide:
            let number = try number(of: entry.target)
            let _: Nothing = try await request(
                "messages.delete", Deleting(conversation: id, number: MessageReference(.number(number)), for: "me"))
            return (.finished, [.hidden(number)])
        case .clear:
            let _: Nothing = try await request("conversations.clear", Clearing(conversation: id, upTo: entry.upTo))
            return (.finished, [.cleared(upTo: entry.upTo, isOffTheList: false)])
        case .deleteForMe:
            let _: Nothing = try await request(
                "conversations.delete", Clearing(conversation: id, upTo: entry.upTo, for: "me"))
            return (.finished, [.cleared(upTo: entry.upTo, isOffTheList: true)])
        }
        return (.finished, [])
    }

    /// A stored message that the user may no longer see has version 0 and no text: there is nothing to keep.
    private static func done(_ message: Message) -> Sent {
        (.done(message), message.version > 0 ? [.message(message)] : [])
    }

    private func message(of entry: WriteEntry) async throws -> Message {
        let id = entry.conversation
        let result: MessageResult
        switch entry.kind {
        case .send:
            result = try await request(
                "messages.send",
                Sending(
                    conversation: id, clientID: entry.clientID, text: entry.text ?? "",
                    replyTo: entry.replyTo.map(MessageReference.init), thread: entry.thread.map(MessageReference.init),
                    afterClientID: entry.after))
        case .forward:
            guard let source = entry.source else { throw Self.predecessorMissing }
            result = try await request(
                "messages.send", Forwarding(conversation: id, clientID: entry.clientID, forward: source))
        case .react, .removeReaction:
            result = try await request(
                entry.kind == .react ? "messages.react" : "messages.removeReaction",
                Reacting(conversation: id, number: number(of: entry.target), emoji: entry.emoji ?? ""))
        case .edit:
            if case .number(let number) = entry.target { return try await edited(entry, number) }
            result = try await request(
                "messages.edit",
                Editing(conversation: id, number: named(entry.target), text: entry.text ?? ""))
        default:
            result = try await request("messages.delete", Deleting(conversation: id, number: named(entry.target)))
        }
        return result.message
    }

    /// Edits a message. A conflict is ignored if the message has the new text already: the response was lost.
    private func edited(_ entry: WriteEntry, _ number: Int) async throws -> Message {
        let text = entry.text ?? ""
        let getting = Getting(conversation: entry.conversation, number: number)
        var version = entry.textVersion
        if version == nil {
            let result: MessageResult = try await request("messages.get", getting)
            version = result.message.textVersion
        }
        do {
            let result: MessageResult = try await request(
                "messages.edit",
                Editing(
                    conversation: entry.conversation, number: MessageReference(.number(number)), text: text,
                    textVersion: version))
            return result.message
        } catch SwitchboardError.refused(let problem) where problem.kind == .conflict {
            let result: MessageResult = try await request("messages.get", getting)
            if result.message.text == text { return result.message }
            keep([result.message], in: entry.conversation)
            throw SwitchboardError.refused(problem)
        }
    }

    private func number(of target: WriteEntry.Target?) throws -> Int {
        guard case .number(let number) = target else { throw Self.predecessorMissing }
        return number
    }

    private func named(_ target: WriteEntry.Target?) throws -> MessageReference {
        guard let target else { throw Self.predecessorMissing }
        return MessageReference(target)
    }

    private static var predecessorMissing: SwitchboardError { .refused(WriteFailure.predecessorMissing.problem) }
}
