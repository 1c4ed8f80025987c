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
    let indexer: SearchIndexer
    let messageClock: MessageClock
    let retention: Retention
    let eraser: AccountEraser

    /// - Parameter gateway: nil if no gateway is to run.
    init(
        _ configuration: ServerConfiguration, store: Store, directory: DataDirectory, hub: RealtimeHub,
        bus: any EventBus, relay: RelayServer?, gateway: GatewayConfiguration?, transcription: TranscriptionParts,
        languages: LanguageParts
    ) async throws {
        media = try await MediaParts(configuration, store: store, directory: directory)
        let commands = ConversationCommands(analyzer: languages.analyzer, intelligence: languages.rules)
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
        search = MessageSearchService(store: store, commands: conversations.commands)
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
}
