package import Languages
package import Model

/// What a reader from elsewhere may not understand in a message, explained in a language. It is shown beside the
/// message, as a translation is.
package struct MessageHints: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A language model.
        case model
        /// WordNet's idioms, chat abbreviations and rules of forms of address.
        case lexicon
    }

    package let conversation: ConversationID
    package let number: Int64
    /// In which it is explained, for a model; whose readers get it, for all.
    package let language: LanguageTag
    /// The `textVersion` that it was made from.
    package let of: Int64
    /// `queued`: what lexicons know is there, and a model is asked.
    package var status: MessageTranslation.Status
    /// Why there is none, or none by a model.
    package var reason: MessageTranslation.Reason?
    package var items: [Hint]
    package var engine: String?
    package var kind: Kind?
    /// The level that it needs: `full` of a hosted model.
    package var level: IntelligenceLevel
    /// The numbers of the messages before it that a model was given: what it says may be what they say.
    package var earlier: [Int64]
    /// The store's counter at the last change; 0 if it is not stored.
    package var touched: Int64

    package init(
        conversation: ConversationID, number: Int64, language: LanguageTag, of: Int64,
        status: MessageTranslation.Status, reason: MessageTranslation.Reason? = nil, items: [Hint] = [],
        engine: String? = nil, kind: Kind? = nil, level: IntelligenceLevel = .local, earlier: [Int64] = [],
        touched: Int64 = 0
    ) {
        self.conversation = conversation
        self.number = number
        self.language = language
        self.of = of
        self.status = status
        self.reason = reason
        self.items = items
        self.engine = engine
        self.kind = kind
        self.level = level
        self.earlier = earlier
        self.touched = touched
    }

    /// Without what a model has said, which is asked again when somebody looks at the message.
    func withdrawn() -> MessageHints {
        MessageHints(
            conversation: conversation, number: number, language: language, of: of, status: .done,
            engine: HintLexicon.name, kind: .lexicon, touched: touched)
    }

    /// Where lexicons know nothing, nothing is stored.
    var isWithdrawn: Bool { status == .done && kind == .lexicon && items.isEmpty }

    /// As users see it who may not get the results of such an engine.
    func seen(at level: IntelligenceLevel) -> MessageHints {
        guard level < self.level || level == .off, status == .done || status == .queued || !items.isEmpty else {
            return self
        }
        var seen = self
        (seen.status, seen.reason, seen.items) = (.unavailable, .consentRequired, [])
        (seen.engine, seen.kind, seen.earlier) = (nil, nil, [])
        return seen
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("number", number)
            writer.member("of", of)
            writer.member("language", language.string)
            writer.member("status", status.rawValue)
            writer.member("reason", reason?.rawValue)
            writer.name("items")
            writer.array(items) { $1.write(to: &$0) }
            writer.member("engine", engine)
            writer.member("kind", kind?.rawValue)
            writer.member("touched", touched)
        }
    }
}

extension Hint {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("start", Int64(start))
            writer.member("length", Int64(length))
            writer.member("kind", kind.rawValue)
            writer.member("meaning", meaning)
            writer.member("expansion", expansion)
            writer.member("equivalent", equivalent)
            writer.member("relevance", relevance.rawValue)
        }
    }

    /// Those that `write` has written, in a list.
    package static func list(_ json: String) throws(JSONParseError) -> [Hint] {
        var reader = JSONReader(Array(json.utf8))
        var hints: [Hint] = []
        try reader.beginArray()
        while try reader.hasElement() {
            var hint = Hint(start: 0, length: 0, kind: .idiom, meaning: "")
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "start": hint.start = Int(truncatingIfNeeded: try reader.readInteger())
                case "length": hint.length = Int(truncatingIfNeeded: try reader.readInteger())
                case "kind": hint.kind = Hint.Kind(rawValue: try reader.readString()) ?? .idiom
                case "meaning": hint.meaning = try reader.readString()
                case "expansion": hint.expansion = try reader.readString()
                case "equivalent": hint.equivalent = try reader.readString()
                case "relevance": hint.relevance = Hint.Relevance(rawValue: try reader.readString()) ?? .low
                default: _ = try reader.skip()
                }
            }
            hints.append(hint)
        }
        try reader.finish()
        return hints
    }
}

/// What explains messages on this server.
package struct HintSupport: Sendable {
    package var lexicon: HintLexicon
    /// Whether there is a language model, and whether it is a hosted one.
    package var isModelHosted: Bool?

    package init(lexicon: HintLexicon, isModelHosted: Bool?) {
        self.lexicon = lexicon
        self.isModelHosted = isModelHosted
    }
}

/// The storage of hints.
package protocol HintStore {
    func hints(
        of numbers: [Int64], in language: LanguageTag, in conversation: ConversationID
    ) throws -> [MessageHints]
    /// Those touched after a counter, in the order of their counters.
    func hints(
        in conversation: ConversationID, in language: LanguageTag, touchedAfter counter: Int64, limit: Int
    ) throws -> [MessageHints]
    func hints(
        of number: Int64, textVersion: Int64, in language: LanguageTag, in conversation: ConversationID
    ) throws -> MessageHints?
    /// Of all languages and versions, of messages after a number, in the order of their numbers.
    func hints(in conversation: ConversationID, after number: Int64, limit: Int) throws -> [MessageHints]
    /// The hints of a model that got this message as one of the earlier ones.
    func hints(restingOn number: Int64, in conversation: ConversationID) throws -> [MessageHints]
    /// Inserts or replaces.
    ///
    /// - Parameter audience: who is told.
    func save(_ hints: MessageHints, for audience: TranslationAudience) throws
    /// The last number, before this one, after which the view of some member who sees this one begins. That member may
    /// not see messages up to that number.
    func latestStart(before number: Int64, in conversation: ConversationID) throws -> Int64
    /// The sequence when the first member left who sees a message as it is since `sequence`. That member may not see
    /// later changes. Nil if none of them has left.
    func earliestEnd(
        after sequence: Int64, _ number: Int64, in conversation: ConversationID
    ) throws -> Int64?
}
