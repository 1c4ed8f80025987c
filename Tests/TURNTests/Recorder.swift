import STUN
import TURN
import Wire

/// The operations that the engine asked for during one call.
struct Recorder: ~Copyable, RelayOutbox {
    var messages: [(bytes: [UInt8], flow: Flow)] = []
    var requests: [RelayRequest] = []
    var closed: [RelayID] = []
    var ended: [(AllocationID, String)] = []
    var posts: [(worker: UInt8, post: Post)] = []
    var connecting: [(PeerConnectionID, TransportAddress)] = []
    var boundPeers: [(PeerConnectionID, Flow)] = []
    var closedPeers: [PeerConnectionID] = []

    mutating func send(_ message: RawSpan, on flow: Flow) { messages.append((message.copyToArray(), flow)) }
    mutating func openRelay(_ request: RelayRequest) { requests.append(request) }
    mutating func closeRelay(_ relay: RelayID) { closed.append(relay) }
    mutating func connectPeer(_ connection: PeerConnectionID, from relay: RelayID, to peer: TransportAddress) {
        connecting.append((connection, peer))
    }
    mutating func bindPeer(_ connection: PeerConnectionID, to flow: Flow) { boundPeers.append((connection, flow)) }
    mutating func closePeer(_ connection: PeerConnectionID) { closedPeers.append(connection) }
    mutating func endAllocation(_ allocation: AllocationID, user: String) { ended.append((allocation, user)) }
    mutating func forward(_ message: RawSpan, on flow: Flow, to worker: UInt8, isOccupied: Bool) {
        posts.append((worker, .datagram(message.copyToArray(), flow, isOccupied: isOccupied)))
    }
    mutating func send(_ message: RawSpan, on flow: Flow, through worker: UInt8) {
        posts.append((worker, .outgoing(message.copyToArray(), flow)))
    }
    mutating func keep(_ flow: Flow, _ claim: Claim, at worker: UInt8, response: RawSpan) {
        posts.append((worker, .keep(flow, claim, response: response.copyToArray())))
    }
    mutating func forget(_ flow: Flow, _ claim: Claim, at worker: UInt8) {
        posts.append((worker, .forget(flow, claim)))
    }
    mutating func evict(_ flow: Flow, _ claim: Claim, at worker: UInt8) {
        posts.append((worker, .evict(flow, claim)))
    }
}

/// A message from one worker to another.
enum Post {
    case datagram([UInt8], Flow, isOccupied: Bool)
    case outgoing([UInt8], Flow)
    case keep(Flow, Claim, response: [UInt8])
    case forget(Flow, Claim)
    case evict(Flow, Claim)

    /// Whether it goes by the buffer of datagrams, and not by the mailbox of commands.
    var isDatagram: Bool {
        switch self {
        case .datagram, .outgoing: true
        case .keep, .forget, .evict: false
        }
    }
}
