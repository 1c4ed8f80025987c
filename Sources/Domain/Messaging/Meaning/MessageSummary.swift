package import Languages
package import Model

/// What is worth knowing of some messages. Each item is based on messages that its reader may see.
package struct MessageSummary: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A language model has written the items.
        case model
        /// The items are what messages say themselves.
        case extractive
    }

    /// Why no model has written it, where there is one.
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        case consentRequired = "consent_required"
        case budgetExhausted = "budget_exhausted"
        case providerFailed = "provider_failed"
    }

    package struct Item: Hashable, Sendable {
        package typealias Kind = SummaryItemKind

        /// Where in a call something was said.
        package struct Moment: Hashable, Sendable {
            package var recording: RecordingID
            /// In milliseconds from the start of the recording.
            package var start: Int64

            package init(recording: RecordingID, start: Int64) {
                self.recording = recording
                self.start = start
            }
        }

        package var kind: Kind
        package var text: String
        /// Of an action: the user who should do it, if a message says so.
        package var owner: UserID?
        /// Of an action, by when, where a message says so.
        package var due: DueDate?
        /// The numbers of the messages that it is based on, in ascending order.
        package var messages: [Int64]
        /// Of a call.
        package var said: Moment?

        package init(
            kind: Kind, text: String, owner: UserID? = nil, due: DueDate? = nil, messages: [Int64], said: Moment? = nil
        ) {
            self.kind = kind
            self.text = text
            self.owner = owner
            self.due = due
            self.messages = messages
            self.said = said
        }
    }

    package var kind: Kind
    package var reason: Reason?
    /// The name of the model that wrote it, or that knows what texts mean.
    package var engine: String
    /// The numbers that it is about; nil if there are no messages with words.
    package var range: ClosedRange<Int64>?
    /// How many messages were looked at; of a call, how many things that were said.
    package var count: Int
    package var items: [Item]

    package init(
        kind: Kind, reason: Reason? = nil, engine: String, range: ClosedRange<Int64>?, count: Int, items: [Item]
    ) {
        self.kind = kind
        self.reason = reason
        self.engine = engine
        self.range = range
        self.count = count
        self.items = items
    }
}

extension MessageSummary.Item {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("kind", kind.rawValue)
            writer.member("text", text)
            writer.member("owner", owner)
            writer.member("due", due?.text)
            writer.name("messages")
            writer.array(messages) { $0.write($1) }
            if let said {
                writer.name("said")
                writer.object { writer in
                    writer.member("recording", said.recording)
                    writer.member("start", said.start)
                }
            }
        }
    }

    /// Those that `write` has written of messages, in a list.
    package static func list(_ json: String) throws(JSONParseError) -> [Self] {
        var reader = JSONReader(Array(json.utf8))
        var items: [Self] = []
        try reader.beginArray()
        while try reader.hasElement() {
            var item = Self(kind: .point, text: "", messages: [])
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "kind": item.kind = Kind(rawValue: try reader.readString()) ?? .point
                case "text": item.text = try reader.readString()
                case "owner": item.owner = UserID(try reader.readString())
                case "due": item.due = DueDate(try reader.readString())
                case "messages":
                    try reader.beginArray()
                    while try reader.hasElement() { item.messages.append(try reader.readInteger()) }
                default: _ = try reader.skip()
                }
            }
            items.append(item)
        }
        try reader.finish()
        return items
    }
}

/// What a model has written about a block of 64 numbers of a conversation, for all users who see all of them.
package struct SummaryBlock: Hashable, Sendable {
    package static let length: Int64 = 64

    package let conversation: ConversationID
    /// The one of numbers 1 to 64 is 0.
    package let block: Int64
    package let language: LanguageTag
    package var engine: String
    /// The level that it needs: `full` of a hosted model.
    package var level: IntelligenceLevel
    /// Of the messages that it was made of: see `fingerprint(of:)`.
    package var fingerprint: Int64
    package var items: [MessageSummary.Item]

    package init(
        conversation: ConversationID, block: Int64, language: LanguageTag, engine: String, level: IntelligenceLevel,
        fingerprint: Int64, items: [MessageSummary.Item]
    ) {
        self.conversation = conversation
        self.block = block
        self.language = language
        self.engine = engine
        self.level = level
        self.fingerprint = fingerprint
        self.items = items
    }

    package static func block(of number: Int64) -> Int64 { (number - 1) / length }
    package static func numbers(of block: Int64) -> ClosedRange<Int64> { block * length + 1...(block + 1) * length }

    /// Which messages, in which versions of their texts: FNV-1a of 64 bits.
    static func fingerprint(of messages: [Message]) -> Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for value in messages.flatMap({ [$0.number, $0.textVersion] }) {
            for shift in stride(from: 0, to: 64, by: 8) {
                hash = (hash ^ UInt64(truncatingIfNeeded: value >> Int64(shift)) & 0xFF) &* 0x100_0000_01B3
            }
        }
        return Int64(bitPattern: hash)
    }
}

/// The storage of summaries. A block goes with the text of any of its messages: `removeTranslations` removes it.
package protocol SummaryStore {
    func summary(
        of block: Int64, in language: LanguageTag, in conversation: ConversationID
    ) throws -> SummaryBlock?
    /// Inserts or replaces.
    func save(_ block: SummaryBlock) throws
    /// Those with numbers after `number`: of up to so many blocks all languages, in the order of the blocks.
    func summaries(in conversation: ConversationID, after number: Int64, limit: Int) throws -> [SummaryBlock]
    func removeSummary(of block: Int64, in language: LanguageTag, in conversation: ConversationID) throws
}
