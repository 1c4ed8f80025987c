import Bus
import Calls
import Logging
import MediaGateway
import Model
import Realtime
import Relay
import ServiceLifecycle
import Services
import Storage
import Transcription

/// Calls: their commands, clock, legs, recordings and captions, and the media gateway if this process runs it.
struct CallParts: Sendable {
    let service: CallService
    let timers: CallTimers
    let clock: CallClock
    let coordinator: LegCoordinator
    let whip: WHIPSessions
    let voiceRecorder: VoiceRecorder
    let mixes: RecordingMixes
    let transcripts: RecordingTranscripts
    /// To have what is said in calls transcribed.
    let consent: SpeechConsent
    /// Nil if this process runs no gateway.
    let gateway: GatewayLegs?
    /// Who reads captions in another language.
    let captionReaders = CaptionReaders()
    private let recorder: CallRecorder?

    /// Each part depends only on those made before it. What goes the other way (events of legs, recordings to begin,
    /// endpoints that may have detached) goes through a queue.
    ///
    /// - Parameter gatewayConfiguration: nil if no gateway is to run.
    init(
        _ configuration: ServerConfiguration, store: Store, hub: RealtimeHub, bus: any EventBus, relay: RelayServer?,
        gateway gatewayConfiguration: GatewayConfiguration?, media: MediaParts, voice: VoiceParts,
        transcription: TranscriptionQueue?, consent: SpeechConsent
    ) async throws {
        var rules = CallRules(configuration)
        rules.hasTranscription = transcription != nil
        if gatewayConfiguration != nil {
            rules.gatewayEpoch = try await store.write { try $0.beginGatewayEpoch() }.value
        }
        let commands = CallCommands(rules: rules)
        timers = CallTimers(leaseSeconds: Int64(configuration[\.calls.leaseSeconds]))

        // What effects of commands change.
        let sessions = WHIPRegistry()
        let legs = LegRegistry(sessions: sessions, timers: timers)
        let gateway = try gatewayConfiguration.map { try GatewayLegs($0, legs) }
        self.gateway = gateway
        let gatewayLogger = Logger(label: "gateway")
        if let warning = gateway?.warning { gatewayLogger.warning("\(warning)") }
        if let gateway { relay?.openToPeers(gateway.addresses) }
        let jobs = RecordingJobs()
        let detached = DetachedEndpoints(hub: hub, sessions: sessions)

        // What runs commands.
        let service = CallService(
            store: store, commands: commands,
            effects: CallEffects(
                hub: hub, bus: bus, relay: relay, timers: timers, legs: legs, sessions: sessions, gateway: gateway,
                recordings: jobs, detached: detached, captionReaders: captionReaders))
        self.service = service
        service.followDepartures()
        let whip = WHIPSessions(calls: service, gateway: gateway, registry: sessions, logger: gatewayLogger)
        self.whip = whip
        voiceRecorder = VoiceRecorder(
            gateway: gateway, voice: voice.service, files: media.files, logger: Logger(label: "voice"))
        coordinator = LegCoordinator(
            calls: service, gateway: gateway, registry: legs, whip: whip, voice: voiceRecorder, logger: gatewayLogger)
        clock = CallClock(
            calls: service, timers: timers, hub: hub, sessions: sessions, detached: detached,
            logger: Logger(label: "calls"))

        // Recordings, and what is made of them.
        mixes = RecordingMixes(store: store, commands: commands, files: media.files, logger: Logger(label: "mixes"))
        let transcripts = RecordingTranscripts(
            store: store, commands: commands, consent: consent, files: media.files, queue: transcription,
            isAutomatic: configuration[\.transcription.recordings], logger: Logger(label: "transcripts"))
        self.transcripts = transcripts
        self.consent = consent
        let recorderLogger = Logger(label: "recorder")
        let recorded = RecordedFiles(calls: service, files: media.files, whip: whip, logger: recorderLogger)
        recorder = gateway.map { gateway in
            CallRecorder(
                jobs, gateway: gateway, files: recorded, calls: service,
                captioner: transcription.map {
                    Captioner(
                        $0, calls: service, whip: whip, consent: consent, logger: Logger(label: "captions"))
                }, transcripts: transcripts, logger: recorderLogger)
        }

        // Calls and recordings that an earlier process left unfinished.
        let recovered = try await recorded.recover()
        if !recovered.isEmpty {
            recorderLogger.notice("recordings were interrupted", metadata: ["count": "\(recovered.count)"])
        }
        for recording in recovered { transcripts.ended(recording) }
        try await clock.restore()
    }

    /// In the order in which they start.
    var services: [any Service] {
        [clock, coordinator] + (recorder.map { [$0] } ?? []) + [transcripts, mixes]
    }
}
