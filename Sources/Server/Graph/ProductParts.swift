import Bus
import Languages
import Logging
import MediaGateway
import Messaging
import Realtime
import Relay
import Services
import Storage
import Tokens
import Transcription

/// What the product does: calls, voice messages and the files of both. A process without the api has none of it.
struct ProductParts: Sendable {
    let media: MediaParts
    let voice: VoiceParts
    let calls: CallParts
    let conversations: ConversationService
    let inboxes: InboxFeed
    let typing: TypingNotices
    let translations: TranslationService
    let translator: TranslationWorker
    let captionTranslator: CaptionTranslator
    let translation: TranslationParts
    let explanation: ExplanationParts
    let models: ModelCalls
    let hints: HintService
    let writing: WritingService
    let search: MessageSearchService
    let summaries: SummaryService
    let assistant: AssistantService
    let indexer: SearchIndexer
    /// Nil without a provider.
    let embedder: EmbeddingIndexer?
    let embedding: EmbeddingParts
    let messageClock: MessageClock
    let transcription: TranscriptionParts
    let transcriptTranslator: TranscriptTranslator
    let push: PushParts
    let pusher: PushDispatcher
    let retention: Retention
    let eraser: AccountEraser

    /// - Parameter gateway: nil if no gateway is to run.
    init(
        _ configuration: ServerConfiguration, store: Store, directory: DataDirectory, hub: RealtimeHub,
        bus: any EventBus, relay: RelayServer?, gateway: GatewayConfiguration?,
        languages: LanguageParts
    ) async throws {
        media = try await MediaParts(configuration, store: store, directory: directory)
        let commands = ConversationCommands(analyzer: languages.analyzer, intelligence: languages.rules)
        transcription = try TranscriptionParts(
            configuration, accounting: ProviderAccounting(store: store, commands: commands),
            logger: Logger(label: "transcription"))
        voice = VoiceParts(
            configuration, store: store, commands: commands, media: media, transcription: transcription)
        calls = try await CallParts(
            configuration, store: store, hub: hub, bus: bus, relay: relay, gateway: gateway, media: media, voice: voice,
            transcription: transcription.queue, consent: SpeechConsent(commands))
        conversations = ConversationService(
            store: store, commands: commands, secrets: SystemSecrets(),
            transcribesVoice: voice.transcripts.isConfigured)
        inboxes = InboxFeed(store: store, hub: hub, bus: bus, logger: Logger(label: "inboxes"))
        typing = TypingNotices(service: conversations, bus: bus, uptime: AccountParts.uptime)
        let counters = TranslationCounters()
        let texts = TextTranslator(
            store: store, commands: commands, engines: languages.translation.engines, counters: counters,
            logger: Logger(label: "translations"))
        translations = TranslationService(
            store: store, commands: commands, engines: languages.translation.engines,
            counters: counters, isListened: { [weak hub] in hub?.isListened($0) ?? false },
            logger: Logger(label: "translations"))
        let explanation = languages.explanation
        models = ModelCalls(
            store: store, commands: commands, model: explanation.model,
            timeout: .seconds(configuration[\.languages.model.timeoutSeconds]),
            concurrency: configuration[\.languages.model.concurrency], logger: Logger(label: "model"))
        self.explanation = explanation
        hints = HintService(
            store: store, commands: commands, models: models,
            loadLexicon: { explanation.lexicon(Logger(label: "lexicons")) },
            isListened: { [weak hub] in hub?.isListened($0) ?? false }, logger: Logger(label: "hints"))
        let intents = languages.embedding.engine.map { IntentSource($0) }
        let embeddings = languages.embedding.engine.map { engine in
            EmbeddingCalls(store: store, commands: commands, engine: engine, logger: Logger(label: "meaning"))
        }
        writing = WritingService(
            store: store, commands: commands, models: models, templates: TemplateReplies(intents, embeddings))
        let phrases = PhraseMemory(key: media.key)
        translator = TranslationWorker(
            store: store, commands: commands, translator: texts, models: models, phrases: phrases,
            limits: languages.translation.limits,
            logger: Logger(label: "translations"))
        captionTranslator = CaptionTranslator(
            store: store, commands: commands, translator: texts, readers: calls.captionReaders, bus: bus,
            isListened: { [weak hub] in hub?.isListened($0) ?? false }, logger: Logger(label: "captions"))
        transcriptTranslator = TranscriptTranslator(
            store: store, calls: calls.service.commands, commands: commands, translator: texts)
        translation = languages.translation
        let meaning = languages.embedding.engine.map { engine in
            let index = VectorIndex(store: store, maxBytes: languages.embedding.maxIndexBytes)
            let logger = Logger(label: "meaning")
            var limits = EmbeddingIndexer.Limits()
            limits.timeout = languages.embedding.timeout
            return (
                searcher: MeaningSearcher(
                    store: store, commands: commands, engine: engine, index: index, logger: logger),
                indexer: EmbeddingIndexer(
                    store: store, commands: commands, engine: engine, index: index, limits: limits, logger: logger)
            )
        }
        embedder = meaning?.indexer
        embedding = languages.embedding
        summaries = SummaryService(
            store: store, commands: commands, intents: intents, calls: embeddings, models: models)
        search = MessageSearchService(store: store, commands: commands, meaning: meaning?.searcher)
        assistant = AssistantService(
            store: store, commands: commands, models: models, search: search, summaries: summaries, translator: texts,
            bus: bus, isListened: { [weak hub] in hub?.isListened($0) ?? false }, logger: Logger(label: "assistant"))
        push = try PushParts(configuration, store: store, directory: directory)
        pusher = push.dispatcher(commands, hub)
        indexer = SearchIndexer(store: store, logger: Logger(label: "search"))
        messageClock = MessageClock(service: conversations, logger: Logger(label: "messages"))
        retention = Retention(
            store: store, calls: calls.service.commands, voice: voice.service.commands, files: media.files,
            mixes: calls.mixes, days: Retention.Days(configuration), logger: Logger(label: "retention"))
        eraser = AccountEraser(
            calls: calls.service, voice: voice.service.commands, files: media.files, mixes: calls.mixes,
            phrases: phrases,
            discard: { [coordinator = calls.coordinator] user in coordinator.userDisabled(user) },
            logger: Logger(label: "erasure"))
    }

    /// What does what here, for operators.
    var engines: [(feature: String, name: String, isHosted: Bool)] {
        var engines = translation.engines.all.map { ("translation", $0.name, $0.isHosted) }
        if let embedder = embedding.engine { engines.append(("meaning", embedder.model, embedder.isHosted)) }
        if let model = explanation.model { engines.append(("model", model.name, model.isHosted)) }
        if let transcriber = transcription.transcriber {
            engines.append(("transcription", transcriber.name, transcription.isHosted))
        }
        return engines
    }

    /// For metrics.
    func translationStats(_ store: Store) -> @Sendable () async throws -> TranslationStats {
        { [translation, translations, embedding, models, hints] in
            TranslationStats(
                counters: translations.counters.values, models: models.values, modelWaiting: models.waitingCount,
                hints: hints.values,
                queue: try await store.read { try $0.translationQueue() },
                programs: translation.programs + embedding.programs)
        }
    }
}
