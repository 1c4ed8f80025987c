/// How a user reads a conversation: what their settings for it and for all conversations say together.
public struct ConversationReading: Codable, Hashable, Sendable {
    /// Into which language messages are translated, as a BCP 47 tag; nil if neither the settings nor ``Me/languages``
    /// name one.
    public var language: String?
    /// How translations speak to the user; nil as the texts do.
    public var tone: TranslationTone?
    /// When messages are translated.
    public var mode: TranslationSettings.Mode
    /// When messages are explained; nil from older servers.
    public var hintMode: TranslationSettings.Mode?
}

extension ConversationReading {
    /// Whether a row is in the user's language. Without one, messages are explained in that of the server.
    func includes(_ row: TranslationsRow) -> Bool {
        switch row {
        case .translation(let row): row.language == language && row.tone == tone
        case .hints(let row): language == nil || row.language == language
        case .unknown: false
        }
    }
}

/// The snapshot of the stream of translations.
struct TranslationsSnapshot: Decodable, Hashable, Sendable {
    private enum Key: String, CodingKey { case translations, hints }

    var reading: ConversationReading
    var translations: [Translation]
    var hints: [Hints]

    init(reading: ConversationReading, translations: [Translation] = [], hints: [Hints] = []) {
        (self.reading, self.translations, self.hints) = (reading, translations, hints)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        reading = try ConversationReading(from: decoder)
        translations = try container.decode([Translation].self, forKey: .translations)
        hints = try container.decodeIfPresent([Hints].self, forKey: .hints) ?? []
    }
}

/// A row of the stream of translations. Those of newer servers are `unknown`.
enum TranslationsRow: Hashable, Sendable {
    case translation(Translation)
    case hints(Hints)
    case unknown
}

extension TranslationsRow {
    /// Of the message.
    var number: Int? {
        switch self {
        case .translation(let row): row.number
        case .hints(let row): row.number
        case .unknown: nil
        }
    }
}

extension TranslationsRow: Decodable {
    private enum Key: String, CodingKey { case translation, hints }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        if container.contains(.translation) {
            self = .translation(try container.decode(Translation.self, forKey: .translation))
        } else if container.contains(.hints) {
            self = .hints(try container.decode(Hints.self, forKey: .hints))
        } else {
            self = .unknown
        }
    }
}

/// What a client holds of the stream of translations, without I/O: translations and hints in the language of the user.
///
/// Each belongs to one version of its message's text (`of`), and is shown only beside that version. A translation of a
/// newer version waits for its message, one of an older version is dropped, and all of them are removed with their
/// message. The snapshot of another language replaces all that are held.
struct TranslationsState: Hashable, Sendable {
    /// Rows of each kind that are held at most, those of the newest messages.
    static let maxRows = OpenConversation.heldMessages

    /// Nil before the first snapshot.
    private(set) var reading: ConversationReading?
    private(set) var translations: [Int: Translation] = [:]
    private(set) var hints: [Int: Hints] = [:]
    /// Where the stream is; nil before the first snapshot.
    private(set) var position: StreamPosition?
    /// Numbers of messages that have yet to come.
    private var awaited: Set<Int> = []
    /// What has to be stored.
    private var changes = Changes()

    struct Changes: Hashable, Sendable {
        /// Everything that was stored is void.
        var isReplaced = false
        /// The reading and the position.
        var head = false
        /// The numbers of messages of which a translation or hints have changed, or are gone.
        var translations: Set<Int> = []
        var hints: Set<Int> = []
        /// Rows of messages that are not held, and may be stored.
        var others: [TranslationsRow] = []
        var isEmpty: Bool { self == Changes() }
    }

    init() {}

    /// What was stored.
    init(_ reading: ConversationReading?, at position: StreamPosition?) {
        self.reading = reading
        self.position = position
    }

    mutating func takeChanges() -> Changes {
        defer { changes = Changes() }
        return changes
    }

    /// The translation of a message's text as it is; nil if there is none.
    func translation(of message: Message) -> Translation? {
        guard reading?.mode != .off, let row = translations[message.number] else { return nil }
        return row.of == message.textVersion && message.deletedAt == nil ? row : nil
    }

    /// The hints on a message's text as it is; nil if there are none.
    func hints(on message: Message) -> Hints? {
        guard reading?.hintMode != .off, let row = hints[message.number] else { return nil }
        return row.of == message.textVersion && message.deletedAt == nil ? row : nil
    }
}

// The stream, and results of requests.
extension TranslationsState {
    /// Applies the snapshot: what it does not have may not be shown any more, or is of another language.
    mutating func apply(_ snapshot: TranslationsSnapshot, at new: StreamPosition, beside state: ConversationState) {
        if let position, position.epoch == new.epoch, position.sequence > new.sequence { return }
        self = TranslationsState(snapshot.reading, at: StreamPosition(epoch: new.epoch, sequence: new.sequence))
        (changes.isReplaced, changes.head) = (true, true)
        for row in snapshot.translations { keep(.translation(row), beside: state) }
        for row in snapshot.hints { keep(.hints(row), beside: state) }
    }

    /// Applies a frame of rows. A frame of another epoch is followed by a snapshot.
    mutating func apply(_ frame: RowFrame<TranslationsRow>, beside state: ConversationState) {
        guard let held = position, held.epoch == frame.epoch else { return }
        for row in frame.rows { keep(row, beside: state) }
        position?.sequence = max(held.sequence, Int64(frame.upTo))
        changes.head = true
    }

    /// Takes a row, wherever it was read, unless it is into another language than the user's.
    mutating func keep(_ row: TranslationsRow, beside state: ConversationState) {
        guard let reading, reading.includes(row) else { return }
        if let number = row.number, state.messages[number] == nil, isAwaited(number, state) { awaited.insert(number) }
        switch row {
        case .translation(let new):
            guard fits(new.number, new.of, state) else { return keepElsewhere(row, new.number, state) }
            guard translations[new.number].map({ new.isNewer(than: $0) }) ?? true else { return }
            translations[new.number] = new
            changes.translations.insert(new.number)
            if translations.count > Self.maxRows { translations.removeOldest() }
        case .hints(let new):
            guard fits(new.number, new.of, state) else { return keepElsewhere(row, new.number, state) }
            guard hints[new.number].map({ new.isNewer(than: $0) }) ?? true else { return }
            hints[new.number] = new
            changes.hints.insert(new.number)
            if hints.count > Self.maxRows { hints.removeOldest() }
        case .unknown: return
        }
    }

    /// Whether a row belongs to the text of its message, or to one that has not come yet.
    private func fits(_ number: Int, _ version: Int, _ state: ConversationState) -> Bool {
        guard let message = state.messages[number] else { return isAwaited(number, state) }
        return message.deletedAt == nil && version >= message.textVersion
    }

    private func isAwaited(_ number: Int, _ state: ConversationState) -> Bool {
        number >= state.start ?? 1 && number > state.ranges.last?.last ?? 0
    }

    private mutating func keepElsewhere(_ row: TranslationsRow, _ number: Int, _ state: ConversationState) {
        guard state.messages[number] == nil else { return }
        if case .translation = row { translations[number] = nil } else { hints[number] = nil }
        changes.others.append(row)
    }
}

// What becomes of the messages.
extension TranslationsState {
    /// Drops the rows of texts that are gone or have changed.
    mutating func follow(_ state: ConversationState, _ changed: StateChanges) {
        if changed.isReplaced {
            guard state.position?.epoch == position?.epoch else { return removeAll() }
            // Rows that were stored beside earlier messages were removed with these.
            changes.translations.formUnion(translations.keys)
            changes.hints.formUnion(hints.keys)
        }
        let hasMany = changed.isReplaced || changed.removedBefore > 0
        // One whose message was left out, in a gap, is of no use.
        let passed = awaited.filter { state.messages[$0] != nil || !isAwaited($0, state) }
        awaited.subtract(passed)
        drop(
            hasMany ? Set(translations.keys).union(hints.keys) : changed.messages.union(passed), beside: state)
    }

    /// For these numbers, drops rows that do not belong to the texts of their messages.
    private mutating func drop(_ numbers: Set<Int>, beside state: ConversationState) {
        for number in numbers {
            if let row = translations[number], !fits(number, row.of, state) {
                translations[number] = nil
                changes.translations.insert(number)
            }
            if let row = hints[number], !fits(number, row.of, state) {
                hints[number] = nil
                changes.hints.insert(number)
            }
        }
    }

    /// Nothing tells any more what may be shown: the user is not in the conversation.
    mutating func removeAll() {
        guard self != TranslationsState() else { return }
        self = TranslationsState()
        (changes.isReplaced, changes.head) = (true, true)
    }

    /// Takes rows from the store.
    mutating func restore(_ translations: [Translation], _ hints: [Hints], beside state: ConversationState) {
        let before = changes
        for row in translations { keep(.translation(row), beside: state) }
        for row in hints { keep(.hints(row), beside: state) }
        changes = before
    }
}

extension Translation {
    /// For the same text version, a row that is not stored says why there is no translation now. It is used unless
    /// there is a translation.
    func isNewer(than known: Translation) -> Bool {
        guard of == known.of else { return of > known.of }
        return touched == 0 && known.status != .done || touched >= known.touched
    }

    /// Whether it is worth keeping between two runs: reasons of the moment are not.
    var isKept: Bool { touched > 0 || status == .done }
}

extension Hints {
    /// Of one text version, those that are not stored count unless a model has said more, and still may.
    func isNewer(than known: Hints) -> Bool {
        guard of == known.of else { return of > known.of }
        guard touched == 0 else { return touched >= known.touched }
        return known.kind != .model || kind == .model || reason == .consentRequired
    }

    /// As of a translation.
    var isKept: Bool { touched > 0 || status == .done }
}

extension Dictionary where Key == Int {
    fileprivate mutating func removeOldest() {
        if let first = keys.min() { self[first] = nil }
    }
}
