import Calls
import DatagramIO
import Gateway
import MediaGateway
import Model
import SDP
import Wire

/// Adapts the media gateway to the interfaces of calls.
final class GatewayLegs: MediaLegs {
    private let server: GatewayServer
    /// Records the audio of tapped calls.
    let recorder: AudioRecorder

    /// Starts the gateway, which notifies the observer of the events of its legs.
    init(_ configuration: GatewayConfiguration, _ observer: any LegObserver) throws {
        server = try GatewayServer.start(configuration) { event in Self.notify(event, to: observer) }
        recorder = AudioRecorder(server.taps, clock: SystemClock.now)
    }

    /// A warning for the operator at the start.
    var warning: String? { server.warning }

    func answer(_ offer: Calls.LegOffer) async throws -> Calls.LegAnswer {
        let sources = offer.sources.mapValues { TrackSource($0) }
        let key = LegKey(call: offer.call.text, participant: offer.endpoint.text)
        do {
            let answer = try await server.answer(
                MediaGateway.LegOffer(key: key, sdp: offer.sdp, sources: sources, part: .init(offer.part)))
            return Calls.LegAnswer(sdp: answer.sdp, slots: answer.slots.map { LegSlot($0) }, ufrag: answer.ufrag)
        } catch {
            switch error {
            case .badOffer(let why): throw Calls.LegRejection.badOffer(why)
            case .full: throw Calls.LegRejection.full
            case .gone: throw Calls.LegRejection.gone
            }
        }
    }

    func setPreferences(
        _ preferences: [String: SlotQuality], call: CallID, endpoint: EndpointID
    ) async -> [Calls.SlotPreference]? {
        let key = LegKey(call: call.text, participant: endpoint.text)
        return await server.setPreferences(preferences.mapValues { PreferredQuality($0) }, on: key)?.map {
            Calls.SlotPreference(mid: $0.mid, quality: SlotQuality($0.quality))
        }
    }

    /// Starts or stops passing the call's audio to the recorder.
    func tap(_ call: CallID, isOn: Bool) { server.tap(call.text, isOn: isOn) }

    /// The local addresses on which it listens, which clients may also reach through the relay.
    var addresses: Set<TransportAddress> { server.addresses }

    /// Its statistics.
    var stats: GatewayStats { server.stats }

    /// Ends every leg, and waits for the gateway's threads, which takes milliseconds.
    func stop() { server.stop() }

    func end(call: CallID, endpoint: EndpointID) {
        server.end(LegKey(call: call.text, participant: endpoint.text))
    }

    private static func notify(_ event: GatewayEvent, to observer: any LegObserver) {
        switch event {
        case .connected(let key):
            guard let (call, endpoint) = names(key) else { return }
            observer.legIsConnected(call: call, endpoint: endpoint)
        case .shows(let key, let slots):
            guard let (call, endpoint) = names(key) else { return }
            observer.legSlotsChanged(slots.map { LegSlot($0) }, call: call, endpoint: endpoint)
        case .outdated(let key):
            guard let (call, endpoint) = names(key) else { return }
            observer.legNeedsRenegotiation(call: call, endpoint: endpoint)
        case .alive(let key):
            guard let (call, endpoint) = names(key) else { return }
            observer.legIsAlive(call: call, endpoint: endpoint)
        case .ended(let key, let end):
            guard let reason = LegEndReason(end), let (call, endpoint) = names(key) else { return }
            observer.legEnded(because: reason, call: call, endpoint: endpoint)
        }
    }

    /// The ids of a key that was made from them.
    private static func names(_ key: LegKey) -> (CallID, EndpointID)? {
        guard let call = CallID(key.call), let endpoint = EndpointID(key.participant) else { return nil }
        return (call, endpoint)
    }
}

extension MediaGateway.LegOffer.Part {
    init(_ part: Calls.LegOffer.Part) {
        switch part {
        case .participant: self = .participant
        case .publisher: self = .publisher
        case .viewer: self = .viewer
        case .speaker: self = .speaker
        }
    }
}

extension TrackSource {
    init(_ source: LegTrack.Source) {
        switch source {
        case .microphone: self = .microphone
        case .camera: self = .camera
        case .screen: self = .screen
        }
    }
}

extension PreferredQuality {
    init(_ quality: SlotQuality) {
        switch quality {
        case .off: self = .off
        case .low: self = .low
        case .medium: self = .medium
        case .high: self = .high
        }
    }
}

extension SlotQuality {
    init(_ quality: PreferredQuality) {
        switch quality {
        case .off: self = .off
        case .low: self = .low
        case .medium: self = .medium
        case .high: self = .high
        }
    }
}

extension LegSlot {
    init(_ shown: ShownSlot) {
        self.init(
            mid: shown.mid, kind: shown.kind == .audio ? .audio : .video, track: shown.track.flatMap { LegTrack($0) })
    }
}

extension LegTrack {
    init?(_ name: TrackName) {
        guard let endpoint = EndpointID(name.participant) else { return nil }
        let source: Source =
            switch name.source {
            case .microphone: .microphone
            case .camera: .camera
            case .screen: .screen
            }
        self.init(endpoint: endpoint, mid: name.mid, source: source)
    }
}

extension LegEndReason {
    /// Nil for an end that the client requested, which needs no notification.
    init?(_ end: LegEnd) {
        switch end {
        case .left, .replaced: return nil
        case .closed: self = .closed
        case .neverConnected: self = .neverConnected
        case .connectionLost: self = .connectionLost
        case .handshakeFailed: self = .handshakeFailed
        case .wrongCertificate: self = .wrongCertificate
        case .stopped: self = .stopped
        }
    }
}
