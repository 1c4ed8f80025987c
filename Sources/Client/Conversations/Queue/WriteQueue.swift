/// The writes that wait for the server, without I/O: in order within a conversation, each with a client id, so that one
/// whose answer was lost is sent again and stored once.
///
/// Messages do not wait for each other's responses: each names the one before it, without which the server refuses it.
/// Other writes wait for the responses to the writes before them. The exception is the edit or deletion of a message
/// that is being sent, which names the message by its client id.
///
/// A message that was never sent can still change: an edit is merged into it, a deletion removes it. After that, edits
/// and deletions wait behind it and name it by its client id, until its response tells the number. If the server
/// refuses an entry for good, only this entry fails, with those that name it. After other errors, everything waits.
struct WriteQueue: Sendable {
    /// The limits; times in milliseconds.
    struct Limits: Sendable {
        var entries = 10_000
        var bytes = 64 << 20
        /// Of the sounds of voice messages, in files beside the store.
        var soundBytes = 256 << 20
        /// How long an entry may wait.
        var lifetime: Int64 = 30 * 24 * 3_600 * 1_000
        /// How many conversations send at a time.
        var conversations = 8
        /// How many entries in all are on their way: less than the requests that the server allows, so that others find
        /// room.
        var inFlight = 60
        /// How often the server may fail at an entry before that counts as a refusal.
        var internalErrors = 10
    }

    /// What became of an entry that was sent.
    enum Outcome: Sendable {
        /// The server has carried it out: the message as it is now.
        case done(Message)
        /// The server has carried it out, and it is about no message that is kept.
        case finished
        /// The server has made the conversation, or has it already.
        case created(ConversationID)
        /// For good.
        case refused(Problem)
        /// The server will not have it now, but after so many milliseconds, if it said so.
        case later(Problem, after: Int64?)
        /// There was no answer.
        case unanswered
    }

    /// Why a conversation does not send, and until when.
    struct Pause {
        var until: Int64
        /// The server asked for it, so that a new connection does not end it.
        var isDemanded: Bool
    }

    /// What has to be stored.
    struct Changes: Hashable, Sendable {
        var stored: Set<Int64> = []
        var removed: Set<Int64> = []
        /// The names of sounds that no entry has any more.
        var sounds: Set<String> = []
        /// Whether a conversation was made.
        var created = false
        var isEmpty: Bool { stored.isEmpty && removed.isEmpty && sounds.isEmpty && !created }
    }

    var limits: Limits
    var entries: [WriteEntry] = []
    var changes = Changes()
    private var lastID: Int64 = 0
    private var bytes = 0
    private var soundBytes = 0
    /// The entries that each conversation waits for the answers to, in the order in which they were sent.
    var inFlight: [ConversationID: [Int64]] = [:]
    /// Those of them that were sent before the entries before them had responses. They leave room for the first entry
    /// of every conversation that waits.
    var followers: Set<Int64> = []
    /// Conversations in which an entry was not stored: those on their way behind it are answered before anything is
    /// sent.
    var draining: Set<ConversationID> = []
    var pauses: [ConversationID: Pause] = [:]
    var internalErrors: [Int64: Int] = [:]
    var backoff: Backoff
    /// The conversations that were made, by their provisional ids.
    var created: [ConversationID: ConversationID] = [:]

    /// Restores the entries that were stored; new ones have ids after `last`.
    init(
        _ stored: [WriteEntry] = [], after last: Int64 = 0, created: [ConversationID: ConversationID] = [:],
        seed: UInt64,
        limits: Limits = Limits()
    ) {
        self.limits = limits
        self.created = created
        entries = stored.sorted { $0.id < $1.id }
        lastID = max(last, entries.last?.id ?? 0)
        bytes = entries.reduce(0) { $0 + $1.byteCount }
        soundBytes = entries.reduce(0) { $0 + ($1.storedSound?.byteCount ?? 0) }
        backoff = Backoff(seed: seed)
    }

    /// When ``next(at:wallClock:)`` may have something to send that waits now.
    var deadline: Int64? {
        entries.lazy.filter { $0.failure == nil }.compactMap { pauses[$0.conversation]?.until }.min()
    }

    /// Whether anything waits for a connection.
    var isWaiting: Bool { entries.contains { $0.failure == nil } }

    func entries(in conversation: ConversationID) -> [WriteEntry] {
        entries.filter { $0.conversation == conversation }
    }

    /// The send of a message that waits.
    func send(_ clientID: MessageClientID) -> WriteEntry? {
        entries.first { $0.isMessage && $0.clientID == clientID }
    }

    /// Takes what has changed since the last time.
    mutating func takeChanges() -> Changes {
        defer { changes = Changes() }
        return changes
    }

    func entry(_ id: Int64) -> WriteEntry? { index(id).map { entries[$0] } }

    func isInFlight(_ entry: WriteEntry) -> Bool { inFlight[entry.conversation]?.contains(entry.id) ?? false }

    func index(_ id: Int64) -> Int? { entries.firstIndex { $0.id == id } }
}

// Writes of the app.
extension WriteQueue {
    /// Queues a message.
    mutating func send(
        _ text: String, replyTo: WriteEntry.Target?, thread: WriteEntry.Target? = nil,
        in conversation: ConversationID, as clientID: MessageClientID, at wallClock: Int64
    ) throws(SwitchboardError) {
        try add(
            WriteEntry(
                id: 0, kind: .send, conversation: conversation, clientID: clientID, text: text, replyTo: replyTo,
                thread: thread, createdAt: wallClock))
    }

    /// Queues an edit. If the message was never sent, it is changed itself.
    mutating func edit(
        _ target: WriteEntry.Target, to text: String, textVersion: Int?, in conversation: ConversationID,
        at wallClock: Int64
    ) throws(SwitchboardError) {
        if case .waiting(let clientID) = target, let index = entries.firstIndex(where: { $0.isSend(clientID) }),
            !entries[index].wasSent || entries[index].failure != nil
        {
            return try replace(index, with: text)
        }
        let earlier = entries.lastIndex { $0.kind == .edit && $0.target == target && $0.conversation == conversation }
        if let earlier, !entries[earlier].wasSent || entries[earlier].failure != nil {
            if entries[earlier].failure != nil { entries[earlier].textVersion = textVersion }
            (entries[earlier].failure, entries[earlier].wasSent) = (nil, false)
            return try replace(earlier, with: text)
        }
        try add(
            WriteEntry(
                id: 0, kind: .edit, conversation: conversation, clientID: MessageClientID(newUUID()), text: text,
                target: target, textVersion: textVersion, createdAt: wallClock))
    }

    /// Queues a deletion. If the message was never sent, it is removed instead. Edits of the message are removed too.
    mutating func delete(
        _ target: WriteEntry.Target, in conversation: ConversationID, at wallClock: Int64
    ) throws(SwitchboardError) {
        if case .waiting(let clientID) = target, let send = send(clientID), !send.wasSent || send.failure != nil {
            return remove(send)
        }
        for entry in entries(in: conversation)
        where entry.target == target && [.edit, .react, .removeReaction].contains(entry.kind) && !isInFlight(entry) {
            removeEntry(entry.id)
        }
        guard !entries.contains(where: { $0.kind == .delete && $0.target == target && $0.conversation == conversation })
        else { return }
        try add(
            WriteEntry(
                id: 0, kind: .delete, conversation: conversation, clientID: MessageClientID(newUUID()), target: target,
                createdAt: wallClock))
    }

    /// Sends what failed again; an edit is based on `textVersion` then. False if nothing failed with that id.
    mutating func retry(_ clientID: MessageClientID, textVersion: Int? = nil, at wallClock: Int64) -> Bool {
        guard let index = entries.firstIndex(where: { $0.clientID == clientID && $0.failure != nil }) else {
            return false
        }
        // What failed with the creation waits for it again.
        if entries[index].kind == .create {
            for other in entries.indices where entries[other].conversation == entries[index].conversation {
                guard entries[other].failure == .conversationMissing else { continue }
                entries[other].failure = nil
                changes.stored.insert(entries[other].id)
            }
        }
        if entries[index].failure?.kind == .clientIDReused { entries[index].clientID = MessageClientID(newUUID()) }
        if let textVersion, entries[index].kind == .edit { entries[index].textVersion = textVersion }
        entries[index].failure = nil
        entries[index].createdAt = wallClock
        internalErrors[entries[index].id] = nil
        changes.stored.insert(entries[index].id)
        return true
    }

    /// Removes what failed or was never sent, with what names it. False if there is no such entry.
    mutating func discard(_ clientID: MessageClientID) -> Bool {
        guard let entry = entries.first(where: { $0.clientID == clientID }), entry.failure != nil || !entry.wasSent
        else { return false }
        remove(entry)
        return true
    }

    mutating func add(_ entry: WriteEntry) throws(SwitchboardError) {
        let sound = entry.storedSound?.byteCount ?? 0
        guard entries.count < limits.entries, bytes + entry.byteCount <= limits.bytes,
            soundBytes + sound <= limits.soundBytes
        else { throw .overflow }
        soundBytes += sound
        var entry = entry
        lastID += 1
        entry.id = lastID
        entries.append(entry)
        bytes += entry.byteCount
        changes.stored.insert(entry.id)
    }

    mutating func replace(_ index: Int, with text: String) throws(SwitchboardError) {
        let difference = text.utf8.count - (entries[index].text?.utf8.count ?? 0)
        guard bytes + difference <= limits.bytes else { throw .overflow }
        entries[index].text = text
        bytes += difference
        changes.stored.insert(entries[index].id)
    }

    mutating func removeEntry(_ id: Int64) {
        guard let index = index(id) else { return }
        let entry = entries.remove(at: index)
        bytes -= entry.byteCount
        if let sound = entry.storedSound {
            soundBytes -= sound.byteCount
            changes.sounds.insert(sound.name)
        }
        internalErrors[id] = nil
        changes.stored.remove(id)
        changes.removed.insert(id)
    }
}

extension WriteEntry {
    fileprivate var byteCount: Int {
        let draft: Int
        if case .draft(let saved)? = membership { draft = saved.text.utf8.count } else { draft = 0 }
        return 256 + (text?.utf8.count ?? 0) + draft
    }

    fileprivate func isSend(_ clientID: MessageClientID) -> Bool { kind == .send && self.clientID == clientID }
}
