/// A translation that a listener received.
struct SeenTranslation: Hashable, Sendable {
    var number: Int64 = 0
    /// The version of the text that it was made from.
    var of: Int64 = 0
    var language = ""
    var status = ""
    var reason: String?
    /// The store's counter at its last change.
    var touched: Int64 = 0

    var key: Key { Key(number: number, of: of) }

    /// Which text of which message.
    struct Key: Hashable, Sendable {
        var number: Int64
        var of: Int64
    }
}

extension JSONScanner {
    /// Reads the document of a translation.
    mutating func translation() -> SeenTranslation? {
        guard enterObject() else { return nil }
        var seen = SeenTranslation()
        while let key = nextKey() {
            switch key {
            case "number": seen.number = Int64(integer() ?? 0)
            case "of": seen.of = Int64(integer() ?? 0)
            case "language": seen.language = string() ?? ""
            case "status": seen.status = string() ?? ""
            case "reason": seen.reason = string()
            case "touched": seen.touched = Int64(integer() ?? 0)
            default: skipValue()
            }
        }
        return seen.number > 0 ? seen : nil
    }
}

/// What a listener holds of the translations of a conversation, and what in its frames was not as it has to be: each text is
/// translated once, into the language of the listener, and stays so.
struct HeldTranslations: Sendable {
    /// What has become of the translation of a text.
    struct Held: Hashable, Sendable {
        var status: String
        var reason: String?
        var touched: Int64

        var isDone: Bool { status == "done" }
        var outcome: String { reason.map { "\(status): \($0)" } ?? status }
        /// Nothing follows by itself.
        var isFinal: Bool { status != "queued" }
    }

    let reader: ChatTranslationReader
    private(set) var rows: [SeenTranslation.Key: Held] = [:]
    private(set) var epoch = ""
    private(set) var sequence: Int64 = 0
    /// A listener who was away for too long was sent the newest messages' alone.
    private var wasAway = false
    /// Messages whose translation was asked for.
    private(set) var asked: Set<Int64> = []
    private(set) var violations: [String] = []
    /// Messages whose translation has yet to come.
    private var waiting: [SeenTranslation.Key: UUIDBits] = [:]
    private var hasBegun = false

    /// So many of the newest messages are translated unasked, and in a snapshot.
    private static let window: Int64 = 50

    init(for reader: ChatTranslationReader) { self.reader = reader }

    /// Takes a snapshot, and returns the client ids of those messages whose translation is new.
    mutating func take(snapshot: [SeenTranslation], epoch: String, sequence: Int64) -> [UUIDBits] {
        wasAway = hasBegun
        if epoch != self.epoch { rows = [:] }
        (hasBegun, self.epoch, self.sequence) = (true, epoch, sequence)
        return keep(snapshot)
    }

    /// Takes rows up to a counter, and returns the client ids of those messages whose translation is new.
    mutating func take(rows received: [SeenTranslation], epoch: String, upTo: Int64) -> [UUIDBits] {
        if !hasBegun || epoch != self.epoch {
            violations.append("rows of \(epoch) up to \(upTo) came after \(self.epoch) \(sequence)")
        }
        sequence = max(sequence, upTo)
        return keep(received)
    }

    /// Takes the response to a request.
    mutating func take(response: [SeenTranslation]) { _ = keep(response) }

    /// The messages before the newest that a client asks for when somebody looks at them: so many came at once, or the
    /// listener was away for so long, that they were not translated unasked, or nobody told.
    mutating func unasked(of messages: [SeenMessage]) -> [Int64] {
        let last = messages.last?.number ?? 0
        let numbers = messages.filter { message in
            guard message.number <= last - Self.window, reader.needs(message) else { return false }
            let row = rows[SeenTranslation.Key(number: message.number, of: message.textVersion)]
            return row.map { wasAway && !$0.isFinal } ?? true
        }.map(\.number)
        asked.formUnion(numbers)
        return numbers
    }

    /// How many of these messages have yet to be translated.
    func missing(of messages: [SeenMessage]) -> Int {
        messages.count { message in
            guard reader.needs(message) else { return false }
            let row = rows[SeenTranslation.Key(number: message.number, of: message.textVersion)]
            return row.map { !$0.isFinal } ?? true
        }
    }

    /// A message has arrived as it was sent. Returns whether its translation was there before it.
    mutating func receive(_ message: SeenMessage) -> Bool {
        guard reader.needs(message) else { return false }
        let key = SeenTranslation.Key(number: message.number, of: message.textVersion)
        if rows[key]?.isDone == true { return true }
        waiting[key] = message.clientID
        return false
    }

    private mutating func keep(_ received: [SeenTranslation]) -> [UUIDBits] {
        received.compactMap { row in
            let (name, held) = ("\(row.number) of version \(row.of)", rows[row.key])
            if row.language != reader.language.rawValue {
                violations.append("\(name) was translated into \(row.language)")
            }
            // A resumption may bring again what is held.
            guard held.map({ row.touched > $0.touched }) ?? true else { return nil }
            if let held, held.isDone {
                violations.append("\(name) was \(held.status) at \(held.touched), and \(row.status) at \(row.touched)")
            }
            rows[row.key] = Held(status: row.status, reason: row.reason, touched: row.touched)
            guard row.status == "done" else { return nil }
            return waiting.removeValue(forKey: row.key)
        }
    }

    /// The position by which the stream is resumed, as JSON text.
    var position: String? { hasBegun ? #"["\#(epoch)",\#(sequence)]"# : nil }
}
