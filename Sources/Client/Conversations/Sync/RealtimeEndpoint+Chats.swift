import Foundation

// What the app sees of a conversation, and writes in it.
extension RealtimeEndpoint {
    /// The limit of the server, in bytes of UTF-8.
    static let maxTextBytes = 65_536

    /// What the app sees; nil if nothing is known yet.
    func chatState(of id: ConversationID) -> Messages.State? {
        let id = resolve(id)
        guard let conversation = messaging.open[id] else { return nil }
        let state = conversation.state
        let entries = messaging.queue.entries(in: id)
        guard state.conversation != nil || conversation.problem != nil || !entries.isEmpty || !state.messages.isEmpty
        else { return nil }
        let run = conversation.run
        let isNewest = run?.isNewest ?? true
        var shown = Messages.State(
            conversation: state.conversation, membership: state.membership,
            members: state.members.values.sorted { $0.user.rawValue < $1.user.rawValue }, people: state.people,
            messages: shown(conversation, run.map { $0.first...(isNewest ? .max : $0.last) }, entries),
            hasEarlier: conversation.hasEarlier, hasLater: !isNewest, hasMoreMembers: state.hasMoreMembers,
            marks: conversation.marks.marks, scheduled: conversation.marks.scheduled,
            reading: conversation.translations.reading, draft: conversation.draft,
            isCurrent: conversation.isOpen && conversation.areMarksKnown,
            problem: conversation.problem)
        if let owner = messaging.owner { shown.apply(entries, of: owner) }
        return shown
    }

    private func shown(
        _ conversation: OpenConversation, _ numbers: ClosedRange<Int>?, _ entries: [WriteEntry]
    ) -> [ChatMessage] {
        // Without a range, a message that was just sent may be there already.
        let numbers = numbers ?? 1...Int.max
        let messages = conversation.state.messages.values.filter { numbers.contains($0.number) }
            .sorted { $0.number < $1.number }
        let time = Date()
        var shown = messages.map { ChatMessage($0.asOf(time), conversation.translations) }
        guard let owner = messaging.owner else { return shown }
        // One reads one's own words.
        for index in shown.indices where shown[index].author == owner { shown[index].translation = nil }
        guard !entries.isEmpty else { return shown }
        if numbers.upperBound == .max {
            let known = Set(conversation.state.messages.values.filter { $0.author == owner }.map(\.clientID))
            shown += entries.filter { $0.isMessage && !known.contains($0.clientID) }
                .map { ChatMessage($0, author: owner) }
        }
        let indices = Dictionary(shown.indices.map { (shown[$0].id, $0) }, uniquingKeysWith: { $1 })
        let numbered = Dictionary(messages.map { ($0.number, $0.id) }, uniquingKeysWith: { $1 })
        for entry in entries {
            let named: Message.ID? =
                switch entry.target {
                case .number(let number): numbered[number]
                case .waiting(let clientID): Message.ID(author: owner, clientID: clientID)
                case nil: nil
                }
            if let index = named.flatMap({ indices[$0] }) { shown[index].apply(entry) }
        }
        return shown
    }

    func send(
        _ text: String, replyTo: Message.ID?, thread: Message.ID?, in id: ConversationID
    ) async throws -> Message.ID {
        var root: WriteEntry.Target?
        if let thread {
            _ = try await owner()
            root = try target(thread, in: resolve(id)).target
        }
        return try await send(text, replyTo: replyTo, root: root, in: id)
    }

    func send(_ text: String, inThreadOf number: Int, in id: ConversationID) async throws -> Message.ID {
        guard number > 0 else { throw Self.noNumber }
        return try await send(text, replyTo: nil, root: .number(number), in: id)
    }

    private func send(
        _ text: String, replyTo: Message.ID?, root: WriteEntry.Target?, in id: ConversationID
    ) async throws -> Message.ID {
        try Self.check(text)
        let owner = try await owner()
        let id = resolve(id)
        var reply: WriteEntry.Target?
        if let replyTo { reply = try target(replyTo, in: id).target }
        let message = Message.ID(author: owner, clientID: MessageClientID(newUUID()))
        let time = wallClock
        try changeQueue(in: id) { (queue: inout WriteQueue) throws(SwitchboardError) -> Void in
            try queue.send(
                text, replyTo: reply, thread: root, in: id, as: message.clientID, at: time)
        }
        start()
        sendQueue()
        return message
    }

    func edit(_ message: Message.ID, to text: String, in id: ConversationID) async throws {
        try Self.check(text)
        _ = try await owner()
        let id = resolve(id)
        let (named, held) = try target(message, in: id)
        let time = wallClock
        try changeQueue(in: id) { (queue: inout WriteQueue) throws(SwitchboardError) -> Void in
            try queue.edit(named, to: text, textVersion: held?.textVersion, in: id, at: time)
        }
        start()
        sendQueue()
    }

    func delete(_ message: Message.ID, in id: ConversationID) async throws {
        _ = try await owner()
        let id = resolve(id)
        let named = try target(message, in: id).target
        let time = wallClock
        try changeQueue(in: id) { (queue: inout WriteQueue) throws(SwitchboardError) -> Void in
            try queue.delete(named, in: id, at: time)
        }
        start()
        sendQueue()
    }

    func retry(_ message: Message.ID, in id: ConversationID) async throws {
        _ = try await owner()
        let id = resolve(id)
        let held = heldMessage(message, in: id)
        let time = wallClock
        try changeQueue(in: id) { (queue: inout WriteQueue) throws(SwitchboardError) -> Void in
            for entry in queue.entries(in: id) where entry.failure != nil && entry.names(message, held) {
                _ = queue.retry(entry.clientID, textVersion: held?.textVersion, at: time)
            }
        }
        start()
        sendQueue()
    }

    func discard(_ message: Message.ID, in id: ConversationID) async throws {
        _ = try await owner()
        let id = resolve(id)
        let held = heldMessage(message, in: id)
        try changeQueue(in: id) { (queue: inout WriteQueue) throws(SwitchboardError) -> Void in
            for entry in queue.entries(in: id) where entry.names(message, held) { _ = queue.discard(entry.clientID) }
        }
    }

    func keepDraft(_ text: String?, in id: ConversationID) async throws {
        _ = try await owner()
        let id = resolve(id)
        let text = text == "" ? nil : text
        guard (text?.utf8.count ?? 0) <= Self.maxTextBytes else { throw Self.tooLong }
        do {
            try messaging.store?.save(draft: text, in: id)
        } catch {
            throw SwitchboardError.storeFailed("\(error)")
        }
        messaging.open[id]?.draft = text
        messaging.open[id]?.updates.send(())
    }

    /// How a write names a message: by its number, or its client id while it waits.
    func target(
        _ message: Message.ID, in id: ConversationID
    ) throws(SwitchboardError) -> (target: WriteEntry.Target, held: Message?) {
        if let held = heldMessage(message, in: id) { return (.number(held.number), held) }
        guard message.author == messaging.owner, let entry = messaging.queue.send(message.clientID),
            entry.conversation == id
        else { throw .invalidArgument("message \(message.clientID) is not held: load it first") }
        return (.waiting(message.clientID), nil)
    }

    /// A message of the conversation, as it is held or stored.
    private func heldMessage(_ message: Message.ID, in id: ConversationID) -> Message? {
        if let held = messaging.open[id]?.state.messages.values.first(where: { $0.id == message }) { return held }
        // What waits to be sent is not stored: all that is would be looked through for nothing.
        if message.author == messaging.owner, messaging.queue.send(message.clientID) != nil { return nil }
        // The messages that were shown before a newer window replaced them are still stored.
        return try? messaging.store?.message(message, in: id, among: OpenConversation.heldMessages)
    }

    static func check(_ text: String) throws(SwitchboardError) {
        guard !text.isEmpty else { throw .invalidArgument("a message has a text of at least one character") }
        guard text.utf8.count <= maxTextBytes else { throw tooLong }
    }

    static var noNumber: SwitchboardError { .invalidArgument("a message's number is at least 1") }

    static var tooLong: SwitchboardError {
        .invalidArgument("a message has a text of at most \(maxTextBytes) bytes of UTF-8")
    }
}

extension WriteEntry {
    /// Whether the write is about a message.
    fileprivate func names(_ message: Message.ID, _ held: Message?) -> Bool {
        if isMessage { return clientID == message.clientID }
        guard kind == .edit || kind == .delete else { return false }
        return target == .waiting(message.clientID) || held.map { target == .number($0.number) } ?? false
    }
}
