import Calls
import DatagramIO
import Gateway
import MediaGateway
import Model
import SDP
import Wire

/// The media gateway in the words of calls.
final class GatewayLegs: MediaLegs {
    private let server: GatewayServer
    /// Who writes what is said in tapped calls.
    let recorder: SoundRecorder

    /// Starts the gateway, which tells the observer what becomes of its legs.
    init(_ configuration: GatewayConfiguration, _ observer: any LegObserver) throws {
        server = try GatewayServer.start(configuration) { event in Self.tell(event, to: observer) }
        recorder = SoundRecorder(server.taps, clock: SystemClock.now)
    }

    /// What is to be told to the operator at the start.
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
            case .badOffer(let why): throw Calls.LegRefusal.badOffer(why)
            case .full: throw Calls.LegRefusal.full
            case .gone: throw Calls.LegRefusal.gone
            }
        }
    }

    func want(_ wishes: [String: SlotQuality], call: CallID, endpoint: EndpointID) async -> [Calls.SlotWish]? {
        let key = LegKey(call: call.text, participant: endpoint.text)
        return await server.want(wishes.mapValues { WantedQuality($0) }, on: key)?.map {
            Calls.SlotWish(mid: $0.mid, quality: SlotQuality($0.quality))
        }
    }

    /// What is said in the call goes to the recorder from now on, or no longer.
    func tap(_ call: CallID, isOn: Bool) { server.tap(call.text, isOn: isOn) }

    /// Where it listens: local addresses, that clients may also reach through the relay.
    var addresses: Set<TransportAddress> { server.addresses }

    /// What it does and did.
    var figures: GatewayFigures { server.figures }

    /// Ends every leg; waits for the gateway's threads, which takes milliseconds.
    func stop() { server.stop() }

    func end(call: CallID, endpoint: EndpointID) {
        server.end(LegKey(call: call.text, participant: endpoint.text))
    }

    private static func tell(_ event: GatewayEvent, to observer: any LegObserver) {
        switch event {
        case .connected(let key):
            guard let (call, endpoint) = names(key) else { return }
            observer.legIsConnected(call: call, endpoint: endpoint)
        case .shows(let key, let slots):
            guard let (call, endpoint) = names(key) else { return }
            observer.legShows(slots.map { LegSlot($0) }, call: call, endpoint: endpoint)
        case .outdated(let key):
            guard let (call, endpoint) = names(key) else { return }
            observer.legIsOutdated(call: call, endpoint: endpoint)
        case .alive(let key):
            guard let (call, endpoint) = names(key) else { return }
            observer.legIsAlive(call: call, endpoint: endpoint)
        case .ended(let key, let end):
            guard let reason = LegEndReason(end), let (call, endpoint) = names(key) else { return }
            observer.legEnded(because: reason, call: call, endpoint: endpoint)
        }
    }

    /// The gateway gives back the names that it was given.
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

extension WantedQuality {
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
    init(_ quality: WantedQuality) {
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
    /// nil for an end that nobody has to be told of, since they asked for it.
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
