package import Bus
import Calls
import Languages
package import Logging
package import Messaging
import Metrics
package import Model
internal import ServiceLifecycle
package import Storage

/// Translates captions of calls for those who listen to them in another language, each after the caption itself.
///
/// Captions of one language in one call are translated one after the other, so that they come in order; those of others
/// at the same time, a bounded number of them. Nothing is stored.
package final class CaptionTranslator: Service {
    /// Calls and languages at a time.
    private static let maxRunning = 16
    /// Of one request.
    private static let timeout = Duration.seconds(10)
    /// What waited for longer is of no use.
    private static let maxAge = Duration.seconds(20)
    /// Of listeners, whose budgets are tried.
    private static let maxPayers = 4

    private let store: Store
    private let commands: ConversationCommands
    private let translator: TextTranslator
    private let readers: CaptionReaders
    private let bus: any EventBus
    private let isListened: @Sendable (StreamName) -> Bool
    private let logger: Logger
    private let done = Counter(label: "caption_translations_total", dimensions: [("outcome", "done")])
    private let failed = Counter(label: "caption_translations_total", dimensions: [("outcome", "failed")])
    private let unavailable = Counter(label: "caption_translations_total", dimensions: [("outcome", "unavailable")])
    private let dropped = Counter(label: "caption_translations_total", dimensions: [("outcome", "dropped")])
    private let delay = Timer(label: "caption_translation_delay_seconds")

    package init(
        store: Store, commands: ConversationCommands, translator: TextTranslator, readers: CaptionReaders,
        bus: any EventBus, isListened: @escaping @Sendable (StreamName) -> Bool, logger: Logger
    ) {
        self.store = store
        self.commands = commands
        self.translator = translator
        self.readers = readers
        self.bus = bus
        self.isListened = isListened
        self.logger = logger
    }

    package func run() async {
        await cancelWhenGracefulShutdown { [self] in
            await withTaskGroup(of: Void.self) { group in
                var running = 0
                for await line in readers.lines {
                    if running >= Self.maxRunning {
                        await group.next()
                        running -= 1
                    }
                    group.addTask { await self.work(on: line) }
                    running += 1
                }
                group.cancelAll()
            }
        }
    }

    private func work(on line: CaptionReaders.Line) async {
        while !Task.isCancelled, let waiting = readers.next(in: line) {
            let stream = StreamName.captionTranslations(line.call, language: line.language.string)
            guard isListened(stream) else {
                readers.remove(line)
                continue
            }
            guard waiting.since + Self.maxAge > .now else {
                dropped.increment()
                continue
            }
            do {
                guard let translation = try await translate(waiting) else { continue }
                count(translation.result, since: waiting.since)
                let event = EphemeralEvent(
                    stream: stream, data: translation.json, audience: Set(waiting.audience.keys))
                bus.publish(event)
            } catch {
                if !Task.isCancelled {
                    logger.error("a caption cannot be translated", metadata: ["error": "\(error)"])
                }
            }
        }
    }

    private func count(_ result: SpeechTranslation, since: ContinuousClock.Instant) {
        switch result {
        case .done:
            done.increment()
            delay.record(duration: ContinuousClock.now - since)
        case .failed: failed.increment()
        case .unavailable: unavailable.increment()
        }
    }

    /// Nil if the caption is in that language already.
    private func translate(_ waiting: CaptionReaders.Waiting) async throws -> CaptionTranslation? {
        let (commands, caption, language) = (commands, waiting.caption, waiting.language)
        let speech = try await store.read { store in
            try commands.speech(
                caption.text, in: caption.language, by: caption.user,
                during: store.call(waiting.call)?.conversation, into: language, store: store)
        }
        func translation(_ result: SpeechTranslation) -> CaptionTranslation {
            CaptionTranslation(caption: caption, language: language, from: speech.language, result: result)
        }
        let (engine, source): (any TranslationEngine, LanguageTag)
        switch translator.route(of: speech, into: language) {
        case .same: return nil
        case .none(let result): return translation(result)
        case .engine(let found, let from): (engine, source) = (found, from)
        }
        for payer in Set(waiting.audience.values).prefix(Self.maxPayers) {
            let results = try await translator.translate(
                [TranslatableText(speech.text, terms: speech.terms)], from: source, into: speech.target, by: engine,
                paidBy: payer, purpose: "caption_translation", timeout: Self.timeout)
            guard let result = results?.first else { continue }
            return translation(SpeechTranslation(result, by: engine))
        }
        return translation(.unavailable(.budgetExhausted))
    }
}
