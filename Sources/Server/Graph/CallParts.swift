import Bus
import Calls
import Logging
import MediaFiles
import MediaGateway
import Model
import Realtime
import Relay
import Storage
import Transcription
import WebAPI

/// Calls: their commands, their clock, and the media gateway if this process runs it.
struct CallParts: Sendable {
    let commands: CallCommands
    let clock: CallClock
    let coordinator: LegCoordinator
    let gateway: GatewayLegs?
    let service: CallService
    private let transcription: TranscriptionQueue?

    /// - Parameter gatewayConfiguration: nil if no gateway is to run.
    init(
        _ configuration: ServerConfiguration, store: Store, hub: RealtimeHub, bus: any EventBus, relay: RelayServer?,
        gateway gatewayConfiguration: GatewayConfiguration?, transcription: TranscriptionQueue?
    ) async throws {
        var rules = CallRules(configuration)
        rules.hasTranscription = transcription != nil
        self.transcription = transcription
        if gatewayConfiguration != nil {
            rules.gatewayEpoch = try await store.write { try $0.beginGatewayEpoch() }.value
        }
        commands = CallCommands(rules: rules)
        coordinator = LegCoordinator(store: store, commands: commands, logger: Logger(label: "gateway"))
        clock = CallClock(
            store: store, commands: commands, leaseSeconds: Int64(configuration.integer("calls.leaseSeconds")),
            hub: hub, bus: bus, relay: relay, coordinator: coordinator, logger: Logger(label: "calls"))
        let coordinator = coordinator
        gateway = try gatewayConfiguration.map { try GatewayLegs($0, coordinator) }
        if let warning = gateway?.warning { Logger(label: "gateway").warning("\(warning)") }
        if let gateway { try relay?.openToPeers(gateway.addresses) }
        coordinator.open(gateway, clock)
        service = CallService(store: store, commands: commands, performer: clock)
    }

    /// Stores recordings in `files`. Recordings that an earlier process left unfinished are finished first.
    ///
    /// - Parameter ended: called for each recording that has ended, including those.
    func keepRecordings(
        in files: MediaFiles, logger: Logger, ended: @escaping @Sendable (RecordingID) -> Void
    ) async throws {
        let recorded = RecordedFiles(
            store: service.store, commands: commands, files: files, whipSessions: coordinator.whipSessions,
            calls: service, logger: logger)
        let recovered = try await recorded.recover()
        if !recovered.isEmpty {
            logger.notice("recordings were interrupted", metadata: ["count": "\(recovered.count)"])
        }
        for recording in recovered { ended(recording) }
        guard let gateway else { return }
        let captioner = transcription.map {
            Captioner($0, calls: service, whipSessions: coordinator.whipSessions, logger: Logger(label: "captions"))
        }
        coordinator.recorder.open(gateway, recorded, service, captioner, ended: ended)
    }
}
