/// An engine that takes texts of a bounded length, which is given longer ones in pieces.
package struct LongTexts: TranslationEngine {
    /// Of what is translated at all, in Unicode scalars: half an hour of speech.
    package static let maxLength = 30_000

    private let engine: any TranslationEngine
    private let pieceLength: Int

    /// - Parameter pieceLength: in Unicode scalars. What stands for kept parts may make pieces somewhat longer.
    package init(_ engine: any TranslationEngine, pieceLength: Int) {
        self.engine = engine
        self.pieceLength = pieceLength
    }

    package var name: String { engine.name }
    package var kind: TranslationKind { engine.kind }
    package var isHosted: Bool { engine.isHosted }

    package func translates(from source: LanguageTag, into target: LanguageTag) -> Bool {
        engine.translates(from: source, into: target)
    }

    package func translate(
        _ request: TranslationRequest, deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [TranslationResult] {
        let isLong = request.texts.map { $0.length > pieceLength }
        guard isLong.contains(true) else { return try await engine.translate(request, deadline: deadline) }
        var results = [TranslationResult](repeating: .failed(.textTooLong), count: request.texts.count)
        let short = request.texts.indices.filter { !isLong[$0] }
        if !short.isEmpty {
            var request = request
            request.texts = short.map { request.texts[$0] }
            for (index, result) in zip(short, try await engine.translate(request, deadline: deadline)) {
                results[index] = result
            }
        }
        for index in request.texts.indices where isLong[index] {
            results[index] = try await result(request.texts[index], of: request, deadline: deadline)
        }
        return results
    }

    /// The first failure of a piece is that of the whole: half a translation says something else.
    private func result(
        _ text: MaskedText, of request: TranslationRequest, deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> TranslationResult {
        guard text.length <= Self.maxLength, let divided = DividedText(text, maxLength: pieceLength) else {
            return .failed(.textTooLong)
        }
        // Those that have nothing to translate stay as they are, but for terms.
        var translations = divided.pieces.map { piece in
            piece.text.parts.reduce(into: "") { text, part in
                switch part {
                case .text(let one), .kept(let one), .replaced(_, let one): text += one
                }
            }
        }
        var left = divided.pieces.indices.filter { divided.pieces[$0].text.hasWords }[...]
        while !left.isEmpty {
            let some = left.prefix(TranslationRequest.maxTexts)
            left = left.dropFirst(some.count)
            var request = request
            request.texts = some.map { divided.pieces[$0].text }
            let results = try await engine.translate(request, deadline: deadline)
            guard results.count == some.count else { return .failed(.invalidResponse("another number of texts")) }
            for (index, result) in zip(some, results) {
                guard case .text(let translation) = result else { return result }
                translations[index] = translation
            }
        }
        return .text(divided.joined(translations))
    }
}
