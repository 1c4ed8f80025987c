package import Calls
package import Languages
package import Messaging
package import Model
package import Storage

/// Translates what was said in recordings, for who asks. Nothing of it is stored: it goes with nobody's account and with no
/// recording, and is made again for who asks again, at their cost.
package struct TranscriptTranslator: Sendable {
    /// A segment in another language.
    package struct Segment: Hashable, Sendable {
        /// Its index in the transcript.
        package var segment: Int
        package var track: Int
        /// Milliseconds from the start of the recording.
        package var start: Int64
        /// The language that was spoken; nil if nobody knows it.
        package var from: LanguageTag?
        package var result: SpeechTranslation

        package func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.member("segment", Int64(segment))
                writer.member("track", Int64(track))
                writer.member("start", start)
                writer.member("from", from?.string)
                result.write(to: &writer)
            }
        }
    }

    package struct Page: Hashable, Sendable {
        package var segments: [Segment]
        /// The first wanted segment that is not in it; nil after the last.
        package var next: Int?
    }

    /// Segments of one page, which an engine is given at a time if one person speaks.
    package static let segmentsAtOnce = 20
    /// Characters of one page; a longer segment is a page by itself.
    static let charactersAtOnce = 4_000
    /// Of a page, from the request on: clients wait a little longer.
    private static let timeout = Duration.seconds(25)

    private static let busy = Problem(
        .unavailable, "Too much is being translated: try again.", retryAfter: 5_000)

    private let store: Store
    private let calls: CallCommands
    private let commands: ConversationCommands
    private let translator: TextTranslator
    private let turns = KeyedLimiter<UserID>(maxRunning: 8, maxOfKey: 1)
    /// Pages that are asked for; of one user one is worked on.
    private let asked = OpenCounter<UserID>(maxOpen: 32, maxOfKey: 2)

    package init(store: Store, calls: CallCommands, commands: ConversationCommands, translator: TextTranslator) {
        self.store = store
        self.calls = calls
        self.commands = commands
        self.translator = translator
    }

    /// - Parameters:
    ///   - first: index of the first segment in the transcript.
    ///   - limit: index of the first segment that is not wanted, such as one whose translation is there already.
    /// - Throws: `not_found` without a transcript; `conflict` while it is pending, since segments may still come between
    ///   others; `invalid_request` of `from` and `before`; `provider_not_configured`; `rate_limited` and `unavailable` if too much is
    ///   asked for.
    package func translations(
        of id: RecordingID, from first: Int, before limit: Int = .max, into language: LanguageTag,
        by principal: Principal
    ) async throws -> Page {
        guard limit > first else {
            throw Problem.invalid("before", "before must be greater than from, which is \(first).")
        }
        let end = ContinuousClock.now + Self.timeout
        // Who may not have it does not learn what the server has, and does not wait.
        _ = try await read(id, first, limit, into: language, by: principal)
        guard !translator.engines.isEmpty else {
            throw Problem(.providerNotConfigured, "This server translates nothing.")
        }
        switch asked.enter(principal.user) {
        case .ofKey:
            throw Problem(
                .rateLimited, "At most \(asked.maxOfKey) pages of transcripts are translated for a user at a time.",
                retryAfter: 5_000)
        case .all: throw Self.busy
        case nil: break
        }
        defer { asked.leave(principal.user) }
        return try await turns.run(principal.user) {
            guard end > .now else { throw Self.busy }
            // Whatever has changed meanwhile.
            let (speeches, next) = try await read(id, first, limit, into: language, by: principal)
            let segments = try await translations(
                of: speeches, into: language, until: end, paidBy: principal.user
            ) {
                try await read(id, first, limit, into: language, by: principal).speeches
            }
            return Page(segments: segments, next: next)
        }
    }

    /// - Returns: the speeches of a page, and the segment after it.
    private func read(
        _ id: RecordingID, _ first: Int, _ limit: Int, into language: LanguageTag, by principal: Principal
    ) async throws -> (speeches: [Speech], next: Int?) {
        let (calls, commands) = (calls, commands)
        return try await store.read { store in
            let transcript = try calls.transcript(of: id, by: principal, in: store)
            guard transcript.status != .pending else {
                throw Problem(.conflict, "The recording is still being transcribed: it can be translated afterwards.")
            }
            guard (0...transcript.segments.count).contains(first) else {
                throw Problem.invalid("from", "from must be a number from 0 to \(transcript.segments.count).")
            }
            guard try store.isActive(principal.user) else { throw Problem.notFound("recording") }
            let page = Self.page(of: transcript.segments, from: first, before: limit)
            let conversation = try store.recording(id).flatMap { try store.call($0.call)?.conversation }
            let speeches = try page.map { index in
                let segment = transcript.segments[index]
                let spoken = transcript.tracks.first { $0.track == segment.track }?.language
                return Speech(
                    segment: segment, index: index,
                    text: try commands.speech(
                        segment.text, in: spoken, by: segment.user, during: conversation, into: language, store: store))
            }
            return (speeches, page.upperBound < min(limit, transcript.segments.count) ? page.upperBound : nil)
        }
    }

    /// Never empty unless nothing is left.
    static func page(
        of segments: [RecordingTranscript.Segment], from first: Int, before limit: Int = .max
    ) -> Range<Int> {
        var (end, characters) = (first, 0)
        while end < min(limit, segments.count), end - first < segmentsAtOnce {
            characters += segments[end].text.unicodeScalars.count
            guard end == first || characters <= charactersAtOnce else { break }
            end += 1
        }
        return first..<end
    }

    private struct Speech: Hashable, Sendable {
        let segment: RecordingTranscript.Segment
        let index: Int
        let text: SpokenText
    }

    /// What an engine is given at a time: texts of one person in one language.
    private struct Batch: Hashable {
        let user: UserID
        let source: LanguageTag
        let engine: String
    }

    /// - Parameter again: reads the page once more before each request: a speaker may allow less by then, or the recording be
    ///   gone.
    private func translations(
        of speeches: [Speech], into language: LanguageTag, until end: ContinuousClock.Instant, paidBy payer: UserID,
        again: () async throws -> [Speech]
    ) async throws -> [Segment] {
        var results: [Int: SpeechTranslation] = [:]
        var batches: [(engine: any TranslationEngine, key: Batch, speeches: [Speech])] = []
        for speech in speeches {
            switch translator.route(of: speech.text, into: language) {
            case .same: results[speech.index] = .unavailable(.sameLanguage)
            case .none(let result): results[speech.index] = result
            case .engine(let engine, let source):
                let key = Batch(user: speech.segment.user, source: source, engine: engine.name)
                if let open = batches.firstIndex(where: { $0.key == key }) {
                    batches[open].speeches.append(speech)
                } else {
                    batches.append((engine, key, [speech]))
                }
            }
        }
        for (number, batch) in batches.enumerated() {
            try Task.checkCancellation()
            guard end > .now else { break }
            let current = number == 0 ? Set(speeches) : Set(try await again())
            let (allowed, changed) = (
                batch.speeches.filter(current.contains), batch.speeches.filter { !current.contains($0) }
            )
            for speech in changed { results[speech.index] = .unavailable(.consentRequired) }
            guard !allowed.isEmpty, end > .now else { continue }
            let made = try await translate(allowed, by: batch.engine, batch.key.source, payer, end)
            for (speech, result) in zip(allowed, made) { results[speech.index] = result }
        }
        return speeches.map { speech in
            Segment(
                segment: speech.index, track: speech.segment.track, start: speech.segment.start,
                from: speech.text.language, result: results[speech.index] ?? .failed(.providerFailed))
        }
    }

    private func translate(
        _ speeches: [Speech], by engine: any TranslationEngine, _ source: LanguageTag, _ payer: UserID,
        _ end: ContinuousClock.Instant
    ) async throws -> [SpeechTranslation] {
        let results = try await translator.translate(
            speeches.map { TranslatableText($0.text.text, terms: $0.text.terms) }, from: source,
            into: speeches[0].text.target, by: engine, paidBy: payer, purpose: "transcript_translation",
            timeout: end - .now,
            until: end)
        guard let results else { return speeches.map { _ in .unavailable(.budgetExhausted) } }
        return results.map { SpeechTranslation($0, by: engine) }
    }
}
