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

/// Calls: their commands, who keeps their time, and the media gateway, where this process runs it.
struct CallParts: Sendable {
    let commands: CallCommands
    let clock: CallClock
    let link: GatewayLink
    let gateway: GatewayLegs?
    let service: CallService
    private let transcription: TranscriptionQueue?

    /// - Parameter gatewayConfiguration: nil where no gateway is to run.
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
        link = GatewayLink(store: store, commands: commands, logger: Logger(label: "gateway"))
        clock = CallClock(
            store: store, commands: commands, leaseSeconds: Int64(configuration.integer("calls.leaseSeconds")),
            hub: hub, bus: bus, relay: relay, gateway: link, logger: Logger(label: "calls"))
        let link = link
        gateway = try gatewayConfiguration.map { try GatewayLegs($0, link) }
        if let warning = gateway?.warning { Logger(label: "gateway").warning("\(warning)") }
        if let gateway { try relay?.openToPeers(gateway.addresses) }
        link.open(gateway, clock)
        service = CallService(store: store, commands: commands, performer: clock)
    }

    /// Recordings go there. What a process before this one left in the middle is finished first.
    ///
    /// - Parameter ended: told of each recording that has ended, those included.
    func keepRecordings(
        in files: MediaFiles, logger: Logger, ended: @escaping @Sendable (RecordingID) -> Void
    ) async throws {
        let recorded = RecordedFiles(
            store: service.store, commands: commands, files: files, doors: link.doors, calls: service,
            logger: logger)
        let recovered = try await recorded.recover()
        if !recovered.isEmpty {
            logger.notice("recordings were interrupted", metadata: ["count": "\(recovered.count)"])
        }
        for recording in recovered { ended(recording) }
        guard let gateway else { return }
        let captioner = transcription.map {
            Captioner($0, calls: service, doors: link.doors, logger: Logger(label: "captions"))
        }
        link.recorder.open(gateway, recorded, service, captioner, ended: ended)
    }
}
