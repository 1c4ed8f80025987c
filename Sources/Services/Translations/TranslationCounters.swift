internal import Languages
internal import Messaging
import Synchronization

/// What has become of texts that engines were given, and of what users asked for, since the start.
package final class TranslationCounters: Sendable {
    package struct Engine: Sendable, Hashable {
        /// Requests to it.
        package var calls: Int64 = 0
        /// Of the texts in them.
        package var characters: Int64 = 0
        /// What became of texts: `done`, or why not.
        package var outcomes: [String: Int64] = [:]
    }

    package struct Values: Sendable, Hashable {
        /// By name.
        package var engines: [String: Engine] = [:]
        /// Translations that users asked for and that were there,
        package var found: Int64 = 0
        /// that had to be made,
        package var queued: Int64 = 0
        /// and that cannot be made, or failed.
        package var unavailable: Int64 = 0
        /// Of those that were queued, the ones for which no engine was asked: phrases that others wrote.
        package var recalled: Int64 = 0

        /// The part of what can be had that was there; nil before anybody has asked.
        package var hitRate: Double? {
            found + queued == 0 ? nil : min(1, Double(found + recalled) / Double(found + queued))
        }
    }

    private let state = Mutex(Values())

    package init() {}

    package var values: Values { state.withLock { $0 } }

    /// A request of these texts.
    func count(_ texts: [MaskedText], to engine: String) {
        let characters = texts.reduce(0) { $0 + Int64($1.original.unicodeScalars.count) }
        state.withLock { values in
            values.engines[engine, default: Engine()].calls += 1
            values.engines[engine, default: Engine()].characters += characters
        }
    }

    func count(_ result: TranslationResult, of engine: String) {
        let outcome =
            switch result {
            case .text: "done"
            case .failed(let failure): failure.label
            }
        state.withLock { $0.engines[engine, default: Engine()].outcomes[outcome, default: 0] += 1 }
    }

    /// What nobody asked for is on its author's budget, and is not counted.
    func count(recalled jobs: [TranslationJob]) {
        let asked = Int64(jobs.count { $0.payer != $0.author })
        if asked > 0 { state.withLock { $0.recalled += asked } }
    }

    /// What somebody asked for.
    func count(_ rows: [MessageTranslation]) {
        state.withLock { values in
            for row in rows {
                switch row.status {
                case .done: values.found += 1
                case .queued: values.queued += 1
                case .failed, .unavailable: values.unavailable += 1
                }
            }
        }
    }
}

extension TranslationFailure {
    /// Its name in metrics.
    var label: String {
        switch self {
        case .damaged: "damaged"
        case .unknownWords: "unknown_words"
        case .invalidResponse: "invalid_response"
        case .pairNotSupported: "pair_not_supported"
        case .textTooLong: "text_too_long"
        case .unavailable: "unavailable"
        case .limited: "limited"
        case .refused: "refused"
        case .ended: "ended"
        case .cancelled: "cancelled"
        }
    }
}
