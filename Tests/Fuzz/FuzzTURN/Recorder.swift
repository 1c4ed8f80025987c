import STUN
import TURN
import Wire

/// The operations that an engine asked for during one call, in order.
struct Recorder: ~Copyable, RelayOutbox {
    struct Response {
        let flow: Flow
        let type: MessageType
        let transaction: TransactionID
        let ticket: [UInt8]?
        let nonce: [UInt8]?
        let lifetime: UInt32?
    }

    enum Operation {
        case open(RelayRequest)
        case close(RelayID)
        case end(AllocationID, String)
        case connect(PeerConnectionID, RelayID, TransportAddress)
        case bind(PeerConnectionID, Flow)
        case closePeer(PeerConnectionID)
        case keep(Flow, Claim)
        case forget(Flow, Claim)
        case evict(Flow, Claim)
    }

    var responses: [Response] = []
    var operations: [Operation] = []
    var forwarded: [(bytes: [UInt8], isOccupied: Bool)] = []

    /// Whether the engine did something that only an authenticated client may cause.
    var changedState: Bool {
        operations.contains { operation in
            if case .forget = operation { false } else { true }
        }
    }

    mutating func send(_ bytes: RawSpan, on flow: Flow) {
        guard let message = try? Message(bytes) else { fatalError("a response that is not a message") }
        responses.append(
            Response(
                flow: flow, type: message.type, transaction: message.transaction,
                ticket: message.attribute(.mobilityTicket)?.copyToArray(),
                nonce: message.attribute(.nonce)?.copyToArray(), lifetime: message.integer32(.lifetime)))
    }

    mutating func openRelay(_ request: RelayRequest) { operations.append(.open(request)) }
    mutating func closeRelay(_ relay: RelayID) { operations.append(.close(relay)) }
    mutating func connectPeer(_ connection: PeerConnectionID, from relay: RelayID, to peer: TransportAddress) {
        operations.append(.connect(connection, relay, peer))
    }
    mutating func bindPeer(_ connection: PeerConnectionID, to flow: Flow) { operations.append(.bind(connection, flow)) }
    mutating func closePeer(_ connection: PeerConnectionID) { operations.append(.closePeer(connection)) }
    mutating func endAllocation(_ allocation: AllocationID, user: String) { operations.append(.end(allocation, user)) }
    mutating func forward(_ message: RawSpan, on flow: Flow, to worker: UInt8, isOccupied: Bool) {
        forwarded.append((message.copyToArray(), isOccupied))
    }
    mutating func send(_ message: RawSpan, on flow: Flow, through worker: UInt8) { send(message, on: flow) }
    mutating func keep(_ flow: Flow, _ claim: Claim, at worker: UInt8, response: RawSpan) {
        send(response, on: flow)
        operations.append(.keep(flow, claim))
    }
    mutating func forget(_ flow: Flow, _ claim: Claim, at worker: UInt8) { operations.append(.forget(flow, claim)) }
    mutating func evict(_ flow: Flow, _ claim: Claim, at worker: UInt8) { operations.append(.evict(flow, claim)) }
}
