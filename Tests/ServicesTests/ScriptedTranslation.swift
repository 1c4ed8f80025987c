import Languages
import Synchronization

/// Translates as the test says; else by a mark before the text.
final class ScriptedTranslationEngine: TranslationEngine {
    private struct State {
        var script: (@Sendable (String) -> TranslationResult?)?
        var before: (@Sendable () async -> Void)?
        var texts: [String] = []
        var largest = 0
        var lastCount = 0
        var kind = TranslationKind.rules
    }

    private let state = Mutex(State())
    let name = "scripted"
    var kind: TranslationKind {
        get { state.withLock { $0.kind } }
        set { state.withLock { $0.kind = newValue } }
    }
    let isHosted = false

    var texts: [String] { state.withLock { $0.texts } }
    var largest: Int { state.withLock { $0.largest } }
    var lastCount: Int { state.withLock { $0.lastCount } }
    var before: (@Sendable () async -> Void)? {
        get { state.withLock { $0.before } }
        set { state.withLock { $0.before = newValue } }
    }

    func script(_ script: (@Sendable (String) -> TranslationResult?)?) { state.withLock { $0.script = script } }

    func translates(from source: LanguageTag, into target: LanguageTag) -> Bool { true }

    func translate(
        _ request: TranslationRequest, deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [TranslationResult] {
        await before?()
        let texts = request.texts.map(\.original)
        let script = state.withLock { state in
            state.texts += texts
            state.largest = max(state.largest, texts.count)
            state.lastCount = texts.count
            return state.script
        }
        return texts.map { script?($0) ?? .text("[\(request.target.string)] \($0)") }
    }
}

/// Every text is English.
struct ScriptedIdentification: LanguageEngine {
    let name = "scripted"

    func scores(of text: IdentifiableText) -> LanguageScores? {
        LanguageTag(wellFormed: "en").map {
            LanguageScores([LanguageScores.Score(code: $0, value: 1)], isReliable: true, text: text)
        }
    }
}
