package import Languages
package import Model

/// Messages that a model is asked about together.
package struct SummaryPart: Hashable, Sendable {
    /// The block of numbers, if the reader sees all of them as everybody else does, so that the result is stored for
    /// all; nil if the result is for this reader alone.
    package var block: Int64?
    /// That a model may be given.
    package var messages: [Message]
    package var fingerprint: Int64
    /// The result from before.
    package var known: [MessageSummary.Item]?

    /// Messages of one part, and characters of all of them, after which another begins.
    fileprivate static let maxMessages = 160
    fileprivate static let maxLength = 16_000

    fileprivate var length: Int {
        messages.reduce(0) { $0 + min($1.words?.unicodeScalars.count ?? 0, SummaryPrompt.maxSourceLength) }
    }
}

/// What a model is to summarise, for one reader.
package struct SummaryWork: Hashable, Sendable {
    package var conversation: ConversationID
    /// Of the summary.
    package var language: LanguageTag
    package var parts: [SummaryPart]
    package var range: ClosedRange<Int64>?
    /// Messages that have words, whether a model may be given them or not.
    package var count: Int
    /// The present members among those who wrote or were mentioned.
    package var members: Set<UserID>

    /// Handles of people: no name leaves the server.
    struct People {
        private(set) var users: [String: UserID] = [:]
        private var handles: [UserID: String] = [:]

        mutating func handle(of user: UserID) -> String {
            if let known = handles[user] { return known }
            let handle = "p\(handles.count + 1)"
            (handles[user], users[handle]) = (handle, user)
            return handle
        }
    }

    /// What a model is asked of a part, and how its response is read.
    package func prompt(
        of part: SummaryPart
    ) -> (request: ModelRequest, read: @Sendable ([UInt8]) throws(TranslationFailure) -> [MessageSummary.Item]) {
        var people = People()
        let sources = part.messages.map { message in
            SummaryPrompt.Source(
                person: people.handle(of: message.author), at: message.sentAt, text: message.summaryText(&people))
        }
        return prompt(of: sources, by: people) { sources in sources.map { part.messages[$0].number } }
    }

    /// - Parameter numbers: those of the messages on which sources are based.
    private func prompt(
        of sources: [SummaryPrompt.Source], by people: People,
        numbers: @escaping @Sendable ([Int]) -> [Int64]
    ) -> (request: ModelRequest, read: @Sendable ([UInt8]) throws(TranslationFailure) -> [MessageSummary.Item]) {
        let (prompt, users) = (SummaryPrompt(sources, in: language), people.users)
        return (
            prompt.request,
            { response throws(TranslationFailure) in
                try prompt.items(response).map { item in
                    MessageSummary.Item(
                        kind: item.kind, text: item.text, owner: item.owner.flatMap { users[$0] }, due: item.due,
                        messages: numbers(item.sources))
                }
            }
        )
    }

    /// The same of the items of all parts, which become fewer.
    ///
    /// - Parameter items: of each part.
    package func prompt(
        joining items: [MessageSummary.Item]
    ) -> (request: ModelRequest, read: @Sendable ([UInt8]) throws(TranslationFailure) -> [MessageSummary.Item]) {
        var people = People()
        let times = Dictionary(
            parts.flatMap(\.messages).map { ($0.number, $0.sentAt) }, uniquingKeysWith: { first, _ in first })
        let first = parts.lazy.flatMap(\.messages).first?.sentAt ?? Timestamp(milliseconds: 0)
        let sources = items.map { item in
            SummaryPrompt.Source(
                person: item.owner.map { people.handle(of: $0) },
                at: item.messages.compactMap { times[$0] }.first ?? first, text: item.text, kind: item.kind,
                due: item.due)
        }
        return prompt(of: sources, by: people) { sources in Set(sources.flatMap { items[$0].messages }).sorted() }
    }

    /// In the order in which the reader sees them: points, decisions, actions, questions. Owners who are not members
    /// are left out.
    package func shown(_ items: [MessageSummary.Item]) -> [MessageSummary.Item] {
        var shown: [MessageSummary.Item] = []
        for kind in [SummaryItemKind.point, .decision, .action, .question] {
            for var item in items where item.kind == kind {
                if let owner = item.owner, !members.contains(owner) { item.owner = nil }
                shown.append(item)
            }
        }
        return shown
    }
}

extension Message {
    /// As a model is given it: without links, code and what looks like a secret; people are handles.
    fileprivate func summaryText(_ people: inout SummaryWork.People) -> String {
        guard let text = translatableText else { return "" }
        var (words, offset) = ("", 0)
        for part in text.parts {
            switch part {
            case .text(let one):
                words += one
                offset += one.utf16.count
            case .kept(let one), .replaced(let one, _):
                let mention = ranges.first { $0.kind == .mention && $0.start == offset }
                words += mention.map { $0.user.map { "@" + people.handle(of: $0) } ?? "@all" } ?? "…"
                offset += one.utf16.count
            }
        }
        return String(String.UnicodeScalarView(words.unicodeScalars.prefix(SummaryPrompt.maxSourceLength)))
    }
}

// What a model is given.
extension ConversationCommands {
    /// - Parameters:
    ///   - isHosted: whether the model is.
    ///   - engine: its name. Results of another engine are made again.
    package func summaryWork(
        of id: ConversationID, _ scope: SummaryScope, by user: UserID, isHosted: Bool, engine: String,
        in store: some MessagingStore
    ) throws -> SummaryWork {
        let summarised = try summarised(of: id, scope, by: user, in: store)
        return try summaryWork(of: summarised, by: user, isHosted: isHosted, engine: engine, in: store)
    }

    package func summaryWork(
        of summarised: SummarisedMessages, by user: UserID, isHosted: Bool, engine: String,
        in store: some MessagingStore
    ) throws -> SummaryWork {
        let found = summarised.found
        let id = found.conversation.id
        var levels = MessageLevels(found.conversation, rules: intelligence, in: store)
        var work = SummaryWork(
            conversation: id, language: try translationReader(user, in: id, store).hintLanguage, parts: [],
            range: summarised.range, count: summarised.messages.count, members: [])
        let blocks = Dictionary(grouping: summarised.all) { SummaryBlock.block(of: $0.number) }
        for block in summarised.isOfNumbers ? blocks.keys.sorted() : [0] {
            let all = summarised.isOfNumbers ? blocks[block] ?? [] : summarised.all
            let messages = try all.filter { try isSummarised($0, isHosted: isHosted, &levels) }
            guard !messages.isEmpty else { continue }
            guard summarised.isOfNumbers, isShared(all, found) else {
                Self.append(messages, to: &work.parts)
                continue
            }
            let fingerprint = SummaryBlock.fingerprint(of: messages)
            let stored = try store.summary(of: block, in: work.language, in: id)
            let isKnown =
                stored?.fingerprint == fingerprint && stored?.engine == engine
                && stored?.level == (isHosted ? .full : .local)
            work.parts.append(
                SummaryPart(
                    block: block, messages: messages, fingerprint: fingerprint, known: isKnown ? stored?.items : nil))
        }
        var people = Set(work.parts.flatMap { $0.messages.map(\.author) + ($0.known ?? []).compactMap(\.owner) })
        for message in work.parts.flatMap(\.messages) { people.formUnion(message.ranges.compactMap(\.user)) }
        work.members = try people.filter { try store.member($0, of: id)?.state == .member }
        return work
    }

    /// Parts that are one reader's alone are as few as they can be.
    private static func append(_ messages: [Message], to parts: inout [SummaryPart]) {
        for message in messages {
            let hasRoom =
                parts.last.map {
                    $0.block == nil && $0.messages.count < SummaryPart.maxMessages && $0.length < SummaryPart.maxLength
                } ?? false
            if hasRoom {
                parts[parts.count - 1].messages.append(message)
            } else {
                parts.append(SummaryPart(block: nil, messages: [message], fingerprint: 0, known: nil))
            }
        }
    }

    /// Whether these are all messages of a block, and everybody who sees all of them sees the same as this reader.
    private func isShared(_ messages: [Message], _ found: MemberConversation) -> Bool {
        messages.count == SummaryBlock.length && messages.allSatisfy { !$0.isWithheld && !$0.isTextWithheld }
            && messages.allSatisfy { found.access.spans.span(of: $0.number).map { $0.until == nil } ?? false }
    }

    private func isSummarised<Store: MessagingStore>(
        _ message: Message, isHosted: Bool, _ levels: inout MessageLevels<Store>
    ) throws -> Bool {
        guard message.deletedAt == nil, message.translatableText?.hasWords == true else { return false }
        return try levels.level(of: message).allowsModel(isHosted: isHosted)
    }

    /// Stores the result for a block, unless one of its messages has changed meanwhile or may no longer be used.
    @discardableResult
    package func save(
        _ items: [MessageSummary.Item], of part: SummaryPart, _ work: SummaryWork, engine: String, isHosted: Bool,
        in store: some MessagingStore
    ) throws -> Bool {
        guard let block = part.block, let conversation = try store.conversation(work.conversation),
            try fingerprint(of: block, in: conversation, isHosted: isHosted, store) == part.fingerprint
        else { return false }
        try store.save(
            SummaryBlock(
                conversation: conversation.id, block: block, language: work.language, engine: engine,
                level: isHosted ? .full : .local, fingerprint: part.fingerprint, items: items))
        return true
    }

    /// Of what may be summarised now.
    private func fingerprint(
        of block: Int64, in conversation: Conversation, isHosted: Bool, _ store: some MessagingStore
    ) throws -> Int64 {
        var levels = MessageLevels(conversation, rules: intelligence, in: store)
        let messages = try SummaryBlock.numbers(of: block).compactMap { number in
            try store.message(number, in: conversation.id)?.asOf(store.now)
        }
        guard messages.allSatisfy({ !$0.isWithheld && !$0.isTextWithheld }) else { return 0 }
        return SummaryBlock.fingerprint(
            of: try messages.filter { try isSummarised($0, isHosted: isHosted, &levels) })
    }

    /// As `enforceLevels`, of summaries.
    func enforceSummaryLevels(
        in conversation: Conversation, after number: Int64, _ store: some MessagingStore
    ) throws -> Int64? {
        let limit = 8
        let blocks = try store.summaries(in: conversation.id, after: number, limit: limit)
        for (block, rows) in Dictionary(grouping: blocks, by: \.block) {
            var known: [IntelligenceLevel: Int64] = [:]
            for row in rows {
                let now =
                    try known[row.level]
                    ?? fingerprint(of: block, in: conversation, isHosted: row.level == .full, store)
                known[row.level] = now
                if now != row.fingerprint {
                    try store.removeSummary(of: block, in: row.language, in: conversation.id)
                }
            }
        }
        guard Set(blocks.map(\.block)).count == limit else { return nil }
        return blocks.last.map { SummaryBlock.numbers(of: $0.block).upperBound }
    }
}
