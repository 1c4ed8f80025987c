import STUN
import TURN
import Wire

/// What an engine asked for during one call, in its order.
struct Recorder: ~Copyable, RelayOutbox {
    struct Answer {
        let flow: Flow
        let type: MessageType
        let transaction: TransactionID
        let ticket: [UInt8]?
        let nonce: [UInt8]?
        let lifetime: UInt32?
    }

    enum Wish {
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

    var answers: [Answer] = []
    var wishes: [Wish] = []
    var handedOver: [(bytes: [UInt8], isTaken: Bool)] = []

    /// Whether the engine did what only who has authenticated may have done.
    var changedState: Bool {
        wishes.contains { wish in
            if case .forget = wish { false } else { true }
        }
    }

    mutating func send(_ bytes: RawSpan, on flow: Flow) {
        guard let message = try? Message(bytes) else { fatalError("an answer that is no message") }
        answers.append(
            Answer(
                flow: flow, type: message.type, transaction: message.transaction,
                ticket: message.attribute(.mobilityTicket)?.copyToArray(),
                nonce: message.attribute(.nonce)?.copyToArray(), lifetime: message.integer32(.lifetime)))
    }

    mutating func openRelay(_ request: RelayRequest) { wishes.append(.open(request)) }
    mutating func closeRelay(_ relay: RelayID) { wishes.append(.close(relay)) }
    mutating func connectPeer(_ connection: PeerConnectionID, from relay: RelayID, to peer: TransportAddress) {
        wishes.append(.connect(connection, relay, peer))
    }
    mutating func bindPeer(_ connection: PeerConnectionID, to flow: Flow) { wishes.append(.bind(connection, flow)) }
    mutating func closePeer(_ connection: PeerConnectionID) { wishes.append(.closePeer(connection)) }
    mutating func endAllocation(_ allocation: AllocationID, user: String) { wishes.append(.end(allocation, user)) }
    mutating func handOver(_ message: RawSpan, on flow: Flow, to worker: UInt8, isTaken: Bool) {
        handedOver.append((message.copyToArray(), isTaken))
    }
    mutating func send(_ message: RawSpan, on flow: Flow, through worker: UInt8) { send(message, on: flow) }
    mutating func keep(_ flow: Flow, _ claim: Claim, at worker: UInt8, answer: RawSpan) {
        send(answer, on: flow)
        wishes.append(.keep(flow, claim))
    }
    mutating func forget(_ flow: Flow, _ claim: Claim, at worker: UInt8) { wishes.append(.forget(flow, claim)) }
    mutating func evict(_ flow: Flow, _ claim: Claim, at worker: UInt8) { wishes.append(.evict(flow, claim)) }
}
