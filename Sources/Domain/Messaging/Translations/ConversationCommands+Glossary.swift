package import Languages
package import Model

// Terms that are always translated in the same way.
extension ConversationCommands {
    /// Those of the conversation. Its members see them.
    package func glossary(
        of id: ConversationID, by user: UserID, in store: some MessagingStore
    ) throws -> [GlossaryEntry] {
        _ = try get(id, by: user, for: .listen, in: store)
        return try store.glossary(of: id)
    }

    /// Replaces the terms of the conversation. The administrators of a group may do that, and both of two people.
    /// Existing translations stay until somebody asks for them again.
    ///
    /// - Throws: `invalid_request` with the field of the first entry that cannot be used.
    package func setGlossary(
        _ entries: [GlossaryEntry], of id: ConversationID, by user: UserID, isChecked: Bool = false,
        in store: some MessagingStore
    ) throws -> [GlossaryEntry] {
        let found = try get(id, by: user, for: .listen, in: store)
        if found.conversation.kind == .group { try found.access.check(.changeSettings) }
        if !isChecked { try check(entries) }
        try store.setGlossary(entries, of: id)
        return entries
    }

    /// Looks through all terms. It needs no transaction, in which others would wait.
    package func check(_ entries: [GlossaryEntry]) throws {
        guard entries.count <= limits.glossaryTerms else {
            throw Problem.invalid("terms", "A conversation has at most \(limits.glossaryTerms) terms.")
        }
        var known: Set<GlossaryEntry> = []
        for (index, entry) in entries.enumerated() {
            try Self.check(entry.source, field: "terms[\(index)].source")
            try Self.check(entry.target, field: "terms[\(index)].target")
            guard known.insert(GlossaryEntry(source: entry.source, target: "", language: entry.language)).inserted
            else {
                throw Problem.invalid("terms[\(index)].source", "This term is there twice for this language.")
            }
        }
    }

    /// A term is a few words, and nothing that a reader could be led somewhere with.
    private static func check(_ text: String, field: String) throws {
        guard GlossaryEntry.isValid(text) else {
            throw Problem.invalid(
                field,
                "A term has 1 to \(GlossaryEntry.maxLength) characters on one line, without spaces at its ends, "
                    + "\u{27E6} or \u{27E7}.")
        }
        guard !RangeFinder.ranges(in: text).ranges.contains(where: { $0.kind == .link || $0.kind == .mention }) else {
            throw Problem.invalid(field, "A term has no link and no mention.")
        }
    }

    /// The conversation's terms, then the server's: of two for the same words the first counts.
    func terms(
        of id: ConversationID, into language: LanguageTag, in store: some MessagingStore
    ) throws -> [GlossaryTerm] { try (store.glossary(of: id) + intelligence.glossary).terms(into: language) }

    func glossary(
        of id: ConversationID, into language: LanguageTag, in store: some MessagingStore
    ) throws -> Glossary { Glossary(try terms(of: id, into: language, in: store)) }
}

extension GlossaryEntry {
    /// Whether it is what a term may be. The brackets are those of placeholders.
    package static func isValid(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        guard let first = scalars.first, let last = scalars.last else { return false }
        return scalars.count <= maxLength && !first.properties.isWhitespace && !last.properties.isWhitespace
            && scalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
                default: scalar != "\u{27E6}" && scalar != "\u{27E7}"
                }
            }
    }
}
