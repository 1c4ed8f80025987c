import Calls
package import DatagramIO
import Gateway
import Logging
package import MediaGateway
import Model
import SDP
package import Wire

/// A leg: one endpoint's peer connection with the media gateway, in one call. An endpoint has at most one in a call: a
/// further offer renegotiates it or, if it comes from another peer connection, replaces it.
package struct CallLeg: Hashable, Sendable {
    var call: CallID
    var endpoint: EndpointID
}

/// What the gateway answered to an offer.
struct LegDescription: Hashable, Sendable {
    var sdp: String
    /// The sections in which the gateway sends, in order.
    var slots: [LegSlot]
    /// The gateway's ICE username fragment; it changes when ICE is restarted.
    var ufrag: String
    /// The sections that are not forwarded although the client offers them.
    var rejected: [AnsweredLeg.RejectedSection] = []
}

/// An event of a leg in the gateway.
enum LegEvent: Sendable {
    /// The endpoint's handshake is done: media can flow from now on.
    case connected
    /// The assignment of the leg's slots has changed: all of them.
    case slotsChanged([LegSlot])
    /// A participant joined who cannot decode what the endpoint publishes: renegotiation selects a codec that everybody
    /// supports.
    case renegotiationNeeded
    /// An authenticated packet arrived from the endpoint; at most once in five seconds.
    case alive
    /// The leg has failed and was removed. Not for legs that were ended on request or replaced by another offer.
    case ended(LegEndReason)
}

/// The media gateway in the words of calls.
package final class GatewayLegs: Sendable {
    private let server: GatewayServer
    /// Records the audio of tapped calls.
    package let recorder: AudioRecorder

    /// Starts the gateway, which reports the events of its legs to the registry.
    package init(_ configuration: GatewayConfiguration, _ registry: LegRegistry) throws {
        let logger = Logger(label: "gateway")
        server = try GatewayServer.start(configuration) { event in
            if case .handshakeFailed(let key, let reason) = event {
                logger.info(
                    "a media handshake failed",
                    metadata: ["call": "\(key.call)", "endpoint": "\(key.participant)", "reason": "\(reason)"])
            }
            if let (leg, event) = Self.translate(event) { registry.handle(event, of: leg) }
        }
        recorder = AudioRecorder(server.taps, clock: SystemClock.now)
    }

    /// A warning for the operator at the start.
    package var warning: String? { server.warning }

    /// Answers an offer. Throws a `Problem` if it cannot be answered; an existing leg then stays unchanged.
    ///
    /// - Parameters:
    ///   - sources: of the tracks, by the mids of their sections; by default audio is a microphone, video a camera.
    ///   - part: what the leg may send and receive; other sections are rejected.
    func answer(
        _ sdp: String, of leg: CallLeg, sources: [String: LegTrack.Source] = [:], as part: LegOffer.Part = .participant
    ) async throws -> LegDescription {
        do {
            let answer = try await server.answer(
                LegOffer(key: leg.key, sdp: sdp, sources: sources.mapValues { TrackSource($0) }, part: part))
            return LegDescription(
                sdp: answer.sdp, slots: answer.slots.map { LegSlot($0) }, ufrag: answer.ufrag,
                rejected: answer.rejected.map { .init(mid: $0.mid, reason: $0.reason) })
        } catch {
            throw Problem(error)
        }
    }

    /// Answers an offer of `switchboard check`, in a call that exists only here: since its key has no ids of a call and
    /// an endpoint, the events of its legs are dropped, and nothing is stored. Throws a `Problem`.
    package func answerCheck(_ sdp: String, call: String, leg: String) async throws -> String {
        do {
            return try await server.answer(LegOffer(key: Self.checkKey(call, leg), sdp: sdp)).sdp
        } catch {
            throw Problem(error)
        }
    }

    /// Ends a leg of a check, if there is one.
    package func endCheck(call: String, leg: String) { server.end(Self.checkKey(call, leg)) }

    private static func checkKey(_ call: String, _ leg: String) -> LegKey {
        LegKey(call: "check:\(call)", participant: "check:\(leg)")
    }

    /// Sets preferences for video slots of the endpoint's leg, by mid. Returns the preferences of all video slots in
    /// section order; nothing changes if a mid is not a video slot. Nil if the endpoint has no leg.
    func setPreferences(_ preferences: [String: SlotQuality], on leg: CallLeg) async -> [SlotPreference]? {
        await server.setPreferences(preferences.mapValues { PreferredQuality($0) }, on: leg.key)?.map {
            SlotPreference(mid: $0.mid, quality: SlotQuality($0.quality))
        }
    }

    /// Starts or stops passing the call's audio to the recorder.
    func tap(_ call: CallID, isOn: Bool) { server.tap(call.text, isOn: isOn) }

    /// Follows the addresses of the machine. Returns why it does not listen on some of them.
    ///
    /// - Parameter isListening: called with all of its addresses before the first client is given a new one.
    package func follow(
        _ addresses: LocalAddresses, isListening: (Set<TransportAddress>) -> Void
    ) -> [String] {
        server.follow(addresses, isListening: isListening)
    }

    /// The addresses that answers contain, without external ones.
    package var offered: [IPAddress] { server.offered }

    /// The local addresses on which it listens, which clients may also reach through the relay.
    package var addresses: Set<TransportAddress> { server.addresses }

    /// Its statistics.
    package var stats: GatewayStats { server.stats }

    /// Ends the leg, if there is one, without an event. Called on the store's writer thread among others.
    func end(_ leg: CallLeg) { server.end(leg.key) }

    /// Ends every leg, and waits for the gateway's threads, which takes milliseconds.
    package func stop() { server.stop() }

    private static func translate(_ event: GatewayEvent) -> (CallLeg, LegEvent)? {
        switch event {
        case .connected(let key): CallLeg(key).map { ($0, .connected) }
        case .shows(let key, let slots): CallLeg(key).map { ($0, .slotsChanged(slots.map { LegSlot($0) })) }
        case .outdated(let key): CallLeg(key).map { ($0, .renegotiationNeeded) }
        case .alive(let key): CallLeg(key).map { ($0, .alive) }
        case .handshakeFailed: nil
        case .ended(let key, let end):
            if let reason = LegEndReason(end) { CallLeg(key).map { ($0, .ended(reason)) } } else { nil }
        }
    }
}

extension CallLeg {
    fileprivate var key: LegKey { LegKey(call: call.text, participant: endpoint.text) }

    /// The ids of a key that was made from them.
    fileprivate init?(_ key: LegKey) {
        guard let call = CallID(key.call), let endpoint = EndpointID(key.participant) else { return nil }
        self.init(call: call, endpoint: endpoint)
    }
}

extension Problem {
    init(_ rejection: LegRejection) {
        switch rejection {
        case .badOffer(let why): self = .invalid("offer.sdp", "The offer cannot be answered: \(why).")
        case .codecsNotSupported(let why):
            self.init(.codecsNotSupported, "The offer cannot be answered: \(why).", field: "offer.sdp")
        case .full: self.init(.unavailable, "The media gateway has no capacity for another leg.", retryAfter: 5000)
        case .gone:
            self.init(.unavailable, "The leg ended, or the media gateway is stopping: offer again.", retryAfter: 500)
        }
    }

    /// This process runs no gateway.
    static let noGateway = Problem(.unavailable, "The media gateway is not running yet.", retryAfter: 1000)
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
