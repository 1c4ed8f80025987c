import DatagramIO
package import Gateway
import ICE
import SDP
package import SecureMedia
import Synchronization
package import Wire

/// A leg, as known outside of its worker: the state for answering its offers.
final class LegRecord: Sendable {
    struct State {
        var negotiation: LegNegotiation
        var isOpen = false
        var isEnded = false
        let name: String
    }

    let key: LegKey
    let worker: Int
    /// Unique for ever.
    let number: UInt64
    let state: Mutex<State>

    init(_ key: LegKey, worker: Int, number: UInt64) {
        self.key = key
        self.worker = worker
        self.number = number
        var generator = SystemRandomNumberGenerator()
        state = Mutex(
            State(
                negotiation: LegNegotiation(session: generator.next()),
                name: String(generator.next() as UInt64, radix: 36)))
    }
}

/// A worker, as known to other threads.
struct GatewayWorkerHandle: Sendable {
    let mailbox: GatewayMailbox
}

/// The state shared by all workers.
package final class GatewayShared: Sendable {
    let contexts: MediaContexts
    let limits: TrackLimits
    private let events: @Sendable (GatewayEvent) -> Void
    /// Called before the event that a leg has ended. A bare function in a Mutex would be wrapped in another thunk with
    /// every access, since the generic Mutex stores functions in another representation than callers use.
    struct EndHook: Sendable {
        var call: @Sendable (LegKey, UInt64) -> Void
    }

    let ended = Mutex(EndHook { _, _ in })

    package init(
        _ contexts: MediaContexts, limits: TrackLimits = TrackLimits(),
        _ events: @escaping @Sendable (GatewayEvent) -> Void
    ) {
        self.contexts = contexts
        self.limits = limits
        self.events = events
    }

    func notify(_ event: GatewayEvent, of number: UInt64) {
        if case .ended(let key, _) = event { ended.withLock { $0 }.call(key, number) }
        events(event)
    }
}

/// Passes a socket to the thread that reads it.
package final class DatagramSocketOwner: Sendable {
    /// 15 ms of a gigabit a second.
    private static let receiveBuffer: Int32 = 2 << 20
    /// A key frame for fifty receivers. Linux counts what a packet takes in memory, which is up to twice its bytes.
    static let sendBuffer: Int32 = 1 << 20

    private let socket: DatagramSocket
    package let address: TransportAddress

    package init(_ requested: TransportAddress) throws(GatewayError) {
        do {
            socket = try DatagramSocket(
                requested, .exclusive, receiveBuffer: Self.receiveBuffer, sendBuffer: Self.sendBuffer)
        } catch {
            throw GatewayError(error, requested, "UDP")
        }
        address = socket.address ?? requested
    }

    package var descriptor: Int32 { socket.descriptor }
    /// What the system granted of the send buffer.
    var sendBuffer: Int { socket.sendBuffer }
}

extension LocalCredentials {
    /// nil only if `randomByteCount` were wrong.
    static func make() -> LocalCredentials? {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<randomByteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return LocalCredentials(random: bytes.span.bytes)
    }
}

extension SlotIdentity {
    static func random(_ kind: MediaKind, cname: String) -> SlotIdentity {
        var generator = SystemRandomNumberGenerator()
        let bits: UInt64 = generator.next()
        return SlotIdentity(
            ssrc: UInt32(truncatingIfNeeded: bits), retransmissionSSRC: UInt32(truncatingIfNeeded: bits >> 32),
            cname: cname, stream: "slot-\(String(bits, radix: 36))", track: "\(kind)-\(String(bits, radix: 36))")
    }
}

extension LegOffer.Part {
    /// `common` is what the other legs of the call can play.
    func capabilities(_ videoCodecs: Set<MediaCodec>, common: Set<MediaCodec>) -> GatewayCapabilities {
        var capabilities = GatewayCapabilities()
        capabilities.videoCodecs = videoCodecs
        capabilities.commonVideoCodecs = common
        switch self {
        case .participant: break
        case .publisher:
            (capabilities.audioSlots, capabilities.videoSlots) = (0, 0)
            // What an encoder publishes is more likely a program than a voice.
            capabilities.prefersStereo = true
            // An encoder shows nobody why its picture is missing, unless its offer is rejected.
            capabilities.requiresEveryKind = true
            // It cannot be notified when a leg joins that supports fewer codecs.
            capabilities.commonVideoCodecs = [.vp8]
        case .viewer: capabilities.mayPublish = []
        case .speaker:
            (capabilities.audioSlots, capabilities.videoSlots) = (0, 0)
            capabilities.mayPublish = [.audio]
            // DTX would save no receiver's bandwidth, and the background noise between words belongs in a recording.
            capabilities.requestsDTX = false
        }
        return capabilities
    }
}

extension Candidate {
    init(_ host: HostCandidate) {
        self.init(
            foundation: host.foundation, transport: host.transport == .udp ? "udp" : "tcp", priority: host.priority,
            address: "\(host.address.address)", port: host.address.port, type: "host",
            tcpType: host.transport == .udp ? nil : "passive")
    }
}
