package import Model

/// The recipient and client id of a voice message to be sent.
package struct VoiceEnvelope: Hashable, Sendable {
    package let to: UserID
    package let clientID: ClientID

    package init(to: UserID, clientID: ClientID) {
        self.to = to
        self.clientID = clientID
    }
}

/// The operations on voice messages, as functions over a store's transaction. Each command authorizes its principal
/// itself.
package struct VoiceCommands: Sendable {
    package let rules: VoiceRules

    package init(rules: VoiceRules = VoiceRules()) { self.rules = rules }

    /// Checks that the principal may send a message to the user, before any audio is received. A recipient who blocked
    /// the sender passes the check: `send` withholds the message.
    package func check(to: UserID, by principal: Principal, in store: some VoiceStore) throws {
        guard to != principal.user else {
            throw Problem.invalid("to", "You cannot send a voice message to yourself.")
        }
        guard try store.isActive(principal.user) else { throw Problem(.forbidden, "This account is disabled.") }
        guard try store.isActive(to) else { throw Problem.notFound("user", field: "to") }
        try rules.quota.check(principal.user, in: store)
    }

    /// The message that an earlier identical request created, if any.
    package func sentBefore(
        _ envelope: VoiceEnvelope, bodyHash: [UInt8], by principal: Principal, in store: some VoiceStore
    ) throws -> VoiceMessage? {
        let verdict = try store.voiceMessage(sentWith: envelope.clientID, of: principal.user, bodyHash: bodyHash)
        return try resolve(verdict, by: principal, in: store)
    }

    /// The message that was created from a recording, if any.
    package func sent(
        _ recording: VoiceRecordingID, bodyHash: [UInt8], by principal: Principal, in store: some VoiceStore
    ) throws -> VoiceMessage? {
        guard let clientID = ClientID(recording.text),
            case .same(let id) = try store.voiceMessage(
                sentWith: clientID, of: principal.user, bodyHash: bodyHash)
        else { return nil }
        return try get(id, by: principal, in: store)
    }

    /// Sends the audio in `file`. If another request with the same client id came first, returns that request's
    /// message.
    package func send(
        _ audio: VoiceAudio, in file: FileID, _ envelope: VoiceEnvelope, bodyHash: [UInt8], by principal: Principal,
        id: VoiceMessageID, at now: Timestamp, store: some VoiceStore
    ) throws -> (message: VoiceMessage, isDuplicate: Bool) {
        try check(to: envelope.to, by: principal, in: store)
        try check(audio)
        let verdict = try store.remember(envelope.clientID, of: principal.user, bodyHash: bodyHash, message: id)
        if let before = try resolve(verdict, by: principal, in: store) { return (before, true) }
        try rules.quota.check(principal.user, adding: Int64(audio.byteCount), in: store)
        let message = VoiceMessage(
            id: id, from: principal.user, to: envelope.to, createdAt: now, audio: audio, file: file,
            isWithheld: try store.isBlocked(principal.user, by: envelope.to))
        try store.insert(message)
        for user in message.owners { try store.append(.voiceCreated, message, to: user) }
        return (message, false)
    }

    package func get(
        _ id: VoiceMessageID, by principal: Principal, in store: some VoiceStore
    ) throws -> VoiceMessage {
        guard let message = try store.voiceMessage(id), message.belongs(to: principal.user) else {
            throw Problem.notFound("voice message", field: "message")
        }
        return message
    }

    /// The messages between the principal and another user, newest first. `next` is the cursor of the next page.
    package func list(
        with other: UserID, before cursor: VoiceMessageID? = nil, limit: Int, by principal: Principal,
        in store: some VoiceStore
    ) throws -> (messages: [VoiceMessage], next: VoiceMessageID?) {
        let limit = min(100, max(1, limit))
        let found = try store.voiceMessages(of: principal.user, with: other, before: cursor, limit: limit + 1)
        guard found.count > limit else { return (found, nil) }
        let page = Array(found.prefix(limit))
        return (page, page.last?.id)
    }

    /// Deletes a message for both users. The caller removes its file.
    package func remove(
        _ id: VoiceMessageID, by principal: Principal, in store: some VoiceStore
    ) throws -> VoiceMessage {
        let message = try get(id, by: principal, in: store)
        guard message.from == principal.user else {
            throw Problem(.forbidden, "Only the sender of a voice message may delete it.")
        }
        try removeAndNotify(message, in: store)
        return message
    }

    /// Removes at most `limit` messages that were sent before `time` and notifies their users. Returns the messages;
    /// the caller removes their files.
    package func removeMessages(
        before time: Timestamp, limit: Int, in store: some VoiceStore
    ) throws -> [VoiceMessage] {
        let old = try store.voiceMessages(before: time, limit: limit)
        for message in old { try removeAndNotify(message, in: store) }
        return old
    }

    /// Removes at most `limit` messages that a deleted user sent, and notifies their recipients. Returns the messages;
    /// the caller removes their files.
    package func removeMessages(
        sentBy user: UserID, limit: Int, in store: some VoiceStore
    ) throws -> [VoiceMessage] {
        let sent = try store.voiceMessages(sentBy: user, limit: limit)
        for message in sent { try removeAndNotify(message, in: store) }
        return sent
    }

    private func removeAndNotify(_ message: VoiceMessage, in store: some VoiceStore) throws {
        try store.remove(message)
        for user in message.owners { try store.append(.voiceRemoved, VoiceRemoval(message), to: user) }
    }

    /// Whether the user may listen to the message now, whatever link was issued before.
    package func mayListen(_ id: VoiceMessageID, _ user: UserID, in store: some VoiceStore) throws -> Bool {
        guard let message = try store.voiceMessage(id), message.belongs(to: user) else { return false }
        return try store.isActive(user)
    }

    private func resolve(
        _ verdict: SentBefore, by principal: Principal, in store: some VoiceStore
    ) throws -> VoiceMessage? {
        switch verdict {
        case .never: return nil
        case .same(let id): return try get(id, by: principal, in: store)
        case .somethingElse:
            throw Problem(.clientIDReused, "This clientID was used for another request.", field: "clientID")
        }
    }

    private func check(_ audio: VoiceAudio) throws {
        guard audio.durationMs > 0 else { throw Problem.invalid("body", "There is no audio in this file.") }
        guard audio.durationMs <= rules.secondsLimit * 1000 else {
            throw Problem.invalid("body", "A voice message lasts at most \(rules.secondsLimit) seconds.")
        }
    }
}

/// The notification that a message was deleted.
private struct VoiceRemoval: Encodable {
    let id: VoiceMessageID
    let from: UserID
    let to: UserID

    init(_ message: VoiceMessage) {
        id = message.id
        from = message.from
        to = message.to
    }
}
