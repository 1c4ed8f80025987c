import Providers
import Services
import Storage

/// What metrics say of translations.
struct TranslationStats: Sendable {
    var counters: TranslationCounters.Values
    /// Of the language model, by purpose.
    var models: [ModelCalls.Purpose: ModelCalls.Counts]
    var modelWaiting: Int
    /// Requests for explanations, by what became of them.
    var hints: [String: Int64]
    var queue: TranslationQueue
    var programs: [(name: String, status: SupervisedChild.Status)]
}

extension ServerMetrics {
    func collect(_ stats: TranslationStats) {
        set("translation_waiting", stats.queue.count)
        set("translation_oldest_seconds", stats.queue.oldestSeconds)
        set("model_waiting", stats.modelWaiting)
        for (result, count) in [
            ("found", stats.counters.found), ("queued", stats.counters.queued),
            ("unavailable", stats.counters.unavailable),
        ] {
            set("translation_requests_total", count, [("result", result)])
        }
        for (name, engine) in stats.counters.engines {
            set("translation_calls_total", engine.calls, [("engine", name)])
            set("translation_characters_total", engine.characters, [("engine", name)])
            for (outcome, count) in engine.outcomes {
                set("translation_texts_total", count, [("engine", name), ("outcome", outcome)])
            }
        }
        for (result, count) in stats.hints { set("hint_requests_total", count, [("result", result)]) }
        for (purpose, counts) in stats.models {
            set("model_calls_total", counts.calls, [("purpose", purpose.rawValue)])
            set("model_characters_total", counts.characters, [("purpose", purpose.rawValue)])
            for (outcome, count) in counts.outcomes {
                set("model_results_total", count, [("purpose", purpose.rawValue), ("outcome", outcome)])
            }
        }
        for (name, status) in stats.programs {
            set("translation_program_running", status.isRunning ? 1 : 0, [("program", name)])
            set("translation_program_off", status.isOff ? 1 : 0, [("program", name)])
            set("translation_program_starts_total", status.starts, [("program", name)])
            set("translation_program_ends_total", status.ends, [("program", name)])
        }
    }
}
