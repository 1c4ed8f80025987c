/// What a language model is asked: an instruction, which is the same for all requests of a purpose between two languages, and
/// data, which people wrote. That does not keep a model from following instructions in the data: what holds against that
/// is that what comes back is checked, and does nothing by itself.
package struct ModelRequest: Hashable, Sendable {
    /// Of the schema: letters and underscores.
    package var name: String
    package var instruction: String
    /// JSON text of an object.
    package var data: String
    /// A JSON Schema (draft 2020-12) of the object that is expected, in what all strict modes understand.
    package var schema: String
    package var maxTokens: Int

    package init(name: String, instruction: String, data: String, schema: String, maxTokens: Int) {
        self.name = name
        self.instruction = instruction
        self.data = data
        self.schema = schema
        self.maxTokens = maxTokens
    }
}

/// A language model that explains, checks, rewrites and suggests. It ends at the deadline or when its task is cancelled.
package protocol LanguageModel: Sendable {
    /// As readers are shown it: at most 64 characters.
    var name: String { get }
    /// Whether texts leave what the operator runs.
    var isHosted: Bool { get }

    /// - Returns: JSON text of an object, as the schema wants it or not: who asks reads it with suspicion.
    func respond(
        to request: ModelRequest, deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [UInt8]
}

extension IntelligenceLevel {
    /// Whether a language model may be given a text of this level, to do more with it than to translate it.
    ///
    /// - Parameter isHosted: whether the text leaves the server.
    package func allowsModel(isHosted: Bool) -> Bool { self >= (isHosted ? .full : .local) }
}

/// A message before the one that is asked about: only so that a model understands that one.
package struct EarlierMessage: Hashable, Sendable {
    /// Of the latest, how many at most.
    package static let maxCount = 20
    /// In Unicode scalars; what is beyond is cut.
    package static let maxLength = 500

    /// A letter for each author: no name leaves the server.
    package var author: String
    /// Without links, names and what else is kept.
    package var text: String

    package init(author: String, _ text: MaskedText) {
        self.author = author
        let words = text.parts.reduce(into: "") { words, part in
            if case .text(let one) = part { words += one } else { words += "…" }
        }
        self.text = String(String.UnicodeScalarView(words.unicodeScalars.prefix(Self.maxLength)))
    }
}
