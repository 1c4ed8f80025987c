import Logging

// Writes that are no texts: they are queued as messages are.
extension RealtimeEndpoint {
    /// The conversation that an id names: a provisional one may have been created since.
    func resolve(_ id: ConversationID) -> ConversationID { messaging.queue.resolve(id) }

    func write(_ kind: WriteEntry.Kind, _ number: Int, emoji: String? = nil, in id: ConversationID) async throws {
        guard number > 0 else { throw Self.noNumber }
        _ = try await owner()
        let (id, time) = (resolve(id), wallClock)
        try changeQueue(in: id) { (queue: inout WriteQueue) throws(SwitchboardError) -> Void in
            try queue.write(kind, .number(number), emoji: emoji, in: id, at: time)
        }
        start()
        sendQueue()
    }

    /// Changes how the user keeps a conversation.
    func change(_ membership: MembershipChange, in id: ConversationID) async throws {
        _ = try await owner()
        let (id, time) = (resolve(id), wallClock)
        try changeQueue(in: id) { (queue: inout WriteQueue) throws(SwitchboardError) -> Void in
            try queue.change(membership, in: id, at: time)
        }
        start()
        sendQueue()
    }

    /// Saves a draft, unless a newer one is known here. Returns the stored one, as far as it is known here.
    func saveDraft(_ draft: Draft, in id: ConversationID) async throws -> Draft {
        guard draft.text.utf8.count <= Self.maxTextBytes else { throw Self.tooLong }
        _ = try await owner()
        if let known = newestDraft(in: resolve(id)), known.revision >= draft.revision { return known }
        try await change(.draft(draft), in: id)
        return draft
    }

    /// The newest draft that is known here.
    private func newestDraft(in id: ConversationID) -> Draft? {
        var drafts = [
            held(id)?.membership?.draft, messaging.inbox.rows[id]?.membership?.draft,
        ].compactMap(\.self)
        for entry in messaging.queue.entries(in: id) where entry.failure == nil {
            if case .draft(let draft)? = entry.membership { drafts.append(draft) }
        }
        return drafts.max { $0.revision < $1.revision }
    }

    /// The held state of a conversation, or the stored one if nobody reads it now, which has no members and messages.
    private func held(_ id: ConversationID) -> ConversationState? {
        messaging.open[id]?.state ?? (try? messaging.store?.documents(of: id))
    }

    /// Deletes everything for the user that is known of the conversation here.
    func clear(_ kind: WriteEntry.Kind, in id: ConversationID) async throws {
        _ = try await owner()
        let (id, time) = (resolve(id), wallClock)
        let held = held(id)
        let numbers = [
            held?.conversation?.lastNumber, held?.ranges.last?.last,
            messaging.inbox.rows[id]?.conversation?.lastNumber, messaging.inbox.rows[id]?.lastMessage?.number,
        ]
        // What came later was not seen; where nothing is known, it is all that there is.
        let number = numbers.compactMap(\.self).max()
        try changeQueue(in: id) { (queue: inout WriteQueue) throws(SwitchboardError) -> Void in
            try queue.clear(kind, upTo: number, in: id, at: time)
        }
        start()
        sendQueue()
    }

    func forward(
        _ number: Int, of source: ConversationID, to target: ConversationID
    ) async throws -> Message.ID {
        let owner = try await owner()
        let (source, id, time) = (resolve(source), resolve(target), wallClock)
        let text = messaging.open[source]?.state.messages[number]?.text
        let message = Message.ID(author: owner, clientID: MessageClientID(newUUID()))
        try changeQueue(in: id) { (queue: inout WriteQueue) throws(SwitchboardError) -> Void in
            try queue.forward(
                .init(conversation: source, number: number), text: text, to: id, as: message.clientID, at: time)
        }
        start()
        sendQueue()
        return message
    }

    func create(_ creation: NewConversation) async throws -> ConversationID {
        let owner = try await owner()
        if let known = known(creation, by: owner) { return known }
        let time = wallClock
        let id = try changeQueue(in: nil) { (queue: inout WriteQueue) throws(SwitchboardError) -> ConversationID in
            try queue.create(creation, at: time)
        }
        start()
        sendQueue()
        return id
    }

    /// A conversation of which there is only one, if it is known here.
    private func known(_ creation: NewConversation, by owner: UserID) -> ConversationID? {
        let rows = messaging.inbox.rows.values.filter { $0.gone != true && $0.conversation?.kind == creation.kind }
        switch creation {
        case .direct(let user): return rows.first { $0.person?.id == user }?.id
        case .notes: return rows.first?.id
        case .group: return nil
        }
    }

    func retry(_ clientID: MessageClientID, in id: ConversationID) async throws {
        _ = try await owner()
        let time = wallClock
        _ = try changeQueue(in: resolve(id)) { (queue: inout WriteQueue) throws(SwitchboardError) -> Bool in
            queue.retry(clientID, at: time)
        }
        start()
        sendQueue()
    }

    func discard(_ clientID: MessageClientID, in id: ConversationID) async throws {
        _ = try await owner()
        _ = try changeQueue(in: resolve(id)) { (queue: inout WriteQueue) throws(SwitchboardError) -> Bool in
            queue.discard(clientID)
        }
    }

    /// A conversation was created: readers that have its provisional id get the new one.
    func created(_ provisional: ConversationID, as id: ConversationID) {
        guard let updates = messaging.open.removeValue(forKey: provisional)?.updates else { return }
        let following = Task { [weak self] in
            guard let signals = await self?.signals(of: id) else { return }
            for await _ in signals { updates.send(()) }
            updates.finish()
        }
        updates.onNoListeners { following.cancel() }
    }
}
