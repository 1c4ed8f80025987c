// Sending.
extension WriteQueue {
    /// What to send now, in this order: of every conversation the first entries that need not wait for an answer. They
    /// count as sent from now on, which has to be stored before.
    mutating func next(at now: Int64, wallClock: Int64) -> [WriteEntry] {
        expire(wallClock)
        pauses = pauses.filter { $0.value.until > now }
        var waiting: Set<ConversationID> = []
        var ready: [WriteEntry] = []
        let conversations = Set(entries.lazy.filter { $0.failure == nil }.map(\.conversation)).count
        let mostFollowers = limits.inFlight - min(conversations, limits.conversations)
        for index in entries.indices {
            let entry = entries[index]
            // Nothing goes before the creation of its conversation.
            if entry.kind == .create, entry.failure != nil { waiting.insert(entry.conversation) }
            guard entry.failure == nil, !waiting.contains(entry.conversation), !isInFlight(entry) else { continue }
            guard pauses[entry.conversation] == nil, !draining.contains(entry.conversation),
                start(entry, mostFollowers: mostFollowers)
            else {
                waiting.insert(entry.conversation)
                continue
            }
            if !entry.wasSent {
                entries[index].wasSent = true
                changes.stored.insert(entry.id)
            }
            var sent = entries[index]
            if entry.kind == .send { sent.after = before(entry) }
            ready.append(sent)
        }
        return ready
    }

    /// Counts an entry as on its way, if it may go behind what is.
    private mutating func start(_ entry: WriteEntry, mostFollowers: Int) -> Bool {
        guard let ahead = inFlight[entry.conversation] else {
            guard inFlight.count < limits.conversations else { return false }
            inFlight[entry.conversation] = [entry.id]
            return true
        }
        // A message that is no longer in the queue was seen, so the server has stored it.
        let areSends = ahead.allSatisfy { self.entry($0).map { $0.kind == .send } ?? true }
        guard followers.count < mostFollowers, areSends, entry.canFollow else { return false }
        inFlight[entry.conversation]?.append(entry.id)
        followers.insert(entry.id)
        return true
    }

    /// The message on its way before this one.
    private func before(_ entry: WriteEntry) -> MessageClientID? {
        guard let ids = inFlight[entry.conversation]?.dropLast() else { return nil }
        return ids.last.flatMap { self.entry($0) }?.clientID
    }

    /// Takes what became of an entry.
    mutating func complete(_ id: Int64, _ outcome: Outcome, at now: Int64) {
        guard let conversation = inFlight.first(where: { $0.value.contains(id) })?.key else { return }
        inFlight[conversation]?.removeAll { $0 == id }
        if inFlight[conversation]?.isEmpty ?? true { inFlight[conversation] = nil }
        let wasFollower = followers.remove(id) != nil
        defer { if inFlight[conversation] == nil { draining.remove(conversation) } }
        guard let entry = entry(id), entry.failure == nil else { return }
        switch outcome {
        case .done(let message):
            backoff.reset()
            return finish(entry, message)
        case .finished:
            backoff.reset()
            return removeEntry(entry.id)
        case .created(let id):
            backoff.reset()
            return finish(entry, as: id)
        case .refused, .later, .unanswered: break
        }
        draining.insert(conversation)
        switch outcome {
        case .done, .finished, .created: break
        // The write before it was not stored, and decides itself what to do.
        case .refused(let problem) where problem.kind == .predecessorMissing && wasFollower: break
        case .refused(let problem): fail(entry, WriteFailure(problem))
        case .later(let problem, let milliseconds):
            if problem.kind == .internalError {
                internalErrors[id, default: 0] += 1
                if internalErrors[id, default: 0] >= limits.internalErrors { return fail(entry, WriteFailure(problem)) }
            }
            let wait = milliseconds.map { backoff.jittered($0) } ?? backoff.next()
            pauses[conversation] = Pause(until: max(now + wait, pauses[conversation]?.until ?? 0), isDemanded: true)
        case .unanswered:
            // Of all that were on their way when a connection broke, one counts.
            if pauses[conversation] == nil {
                pauses[conversation] = Pause(until: now + backoff.next(), isDemanded: false)
            }
        }
    }

    /// There is a new connection: writes without a response may be sent at once.
    mutating func connected() {
        backoff.reset()
        pauses = pauses.filter(\.value.isDemanded)
    }

    /// A message of one's own was seen: what sent it is done. Returns whether that was waiting.
    mutating func observe(_ message: Message) -> Bool {
        guard let entry = send(message.clientID), entry.conversation == message.conversation else { return false }
        finish(entry, message)
        return true
    }

    /// Removes an entry that is done; what named its message by the client id names the number from now on.
    private mutating func finish(_ entry: WriteEntry, _ message: Message) {
        removeEntry(entry.id)
        let waiting = WriteEntry.Target.waiting(entry.clientID)
        for index in entries.indices where entries[index].conversation == entry.conversation {
            var other = entries[index]
            if entry.isMessage {
                if other.target == waiting { other.target = .number(message.number) }
                if other.replyTo == waiting { other.replyTo = .number(message.number) }
                if other.thread == waiting { other.thread = .number(message.number) }
            }
            // Edits that were written later were based on this one.
            if entry.isMessage || entry.kind == .edit, other.kind == .edit,
                other.target == .number(message.number), other.failure == nil
            {
                other.textVersion = message.textVersion
            }
            guard other != entries[index] else { continue }
            entries[index] = other
            changes.stored.insert(other.id)
        }
    }

    /// The conversation was made: what waited for it is written there.
    private mutating func finish(_ entry: WriteEntry, as id: ConversationID) {
        removeEntry(entry.id)
        let provisional = entry.conversation
        for index in entries.indices where entries[index].conversation == provisional {
            entries[index].conversation = id
            changes.stored.insert(entries[index].id)
        }
        if let pause = pauses.removeValue(forKey: provisional) { pauses[id] = pauses[id] ?? pause }
        created[provisional] = id
        changes.created = true
    }

    private mutating func expire(_ wallClock: Int64) {
        for entry in entries
        where entry.failure == nil && wallClock - entry.createdAt > limits.lifetime
            && !isInFlight(entry)
        {
            // It may have failed with another one.
            guard self.entry(entry.id)?.failure == nil else { continue }
            fail(entry, .expired)
        }
    }

    /// Fails an entry. Its waiting edits become part of it; a waiting deletion removes it; replies fail too.
    private mutating func fail(_ entry: WriteEntry, _ failure: WriteFailure) {
        guard let index = index(entry.id) else { return }
        entries[index].failure = failure
        changes.stored.insert(entry.id)
        if entry.kind == .create {
            for other in entries(in: entry.conversation) where other.kind != .create && other.failure == nil {
                fail(other, .conversationMissing)
            }
        }
        if entry.kind == .schedule { return foldChanges(into: entry) }
        guard entry.isMessage else { return }
        let waiting = WriteEntry.Target.waiting(entry.clientID)
        for other in entries(in: entry.conversation) {
            if other.target == waiting {
                if other.kind == .delete { return remove(entry) }
                removeEntry(other.id)
                if entry.kind == .send, let text = other.text, let index = self.index(entry.id) {
                    try? replace(index, with: text)
                }
            } else if other.needs(waiting), other.failure == nil {
                fail(other, .predecessorMissing)
            }
        }
    }

    /// Removes an entry with what names its message.
    mutating func remove(_ entry: WriteEntry) {
        removeEntry(entry.id)
        if entry.kind == .create {
            for other in entries(in: entry.conversation) { removeEntry(other.id) }
        }
        guard entry.isMessage else { return }
        let waiting = WriteEntry.Target.waiting(entry.clientID)
        for other in entries(in: entry.conversation) {
            if other.target == waiting { removeEntry(other.id) }
            if other.needs(waiting), other.failure == nil { fail(other, .predecessorMissing) }
        }
    }
}

extension WriteEntry {
    /// Whether it is a message that cannot be sent without another one.
    fileprivate func needs(_ message: Target) -> Bool { replyTo == message || thread == message }

    /// Whether it need not wait for the responses to the messages before it. That is so for messages, and for changes
    /// of a message that is being sent.
    fileprivate var canFollow: Bool {
        switch kind {
        case .send: true
        case .edit, .delete: if case .waiting? = target { true } else { false }
        default: false
        }
    }
}
