import BasicContainers
import DatagramIO
import TURN
import Wire

/// One of the worker's sockets for clients, with what waits to leave through it.
struct Listener: ~Copyable {
    var socket: DatagramSocket
    var address: TransportAddress
    var batch = SendBatch()

    init(_ socket: consuming DatagramSocket, _ address: TransportAddress) {
        self.socket = socket
        self.address = address
    }
}

/// One of the worker's listening TCP sockets.
struct StreamEntrance: ~Copyable {
    let listener: StreamListener
    let address: TransportAddress

    init(_ listener: consuming StreamListener, _ address: TransportAddress) {
        self.listener = listener
        self.address = address
    }

    /// A place without a socket.
    static var closed: StreamEntrance {
        StreamEntrance(StreamListener(adopting: -1), TransportAddress(IPAddress(ipv4: 0), port: 0))
    }

    var isOpen: Bool {
        listener.descriptor >= 0
    }
}

/// What a worker listens on.
struct WorkerSockets: ~Copyable {
    var listeners = UniqueArray<Listener>()
    var entrances = UniqueArray<StreamEntrance>()
}

/// Takes the engine's messages and wishes. Messages go straight into the batch of the socket that they leave from; wishes
/// wait until the engine is done with the datagram.
struct WorkerOutbox: ~Copyable, RelayOutbox {
    var listeners: UniqueArray<Listener>
    var connections: ConnectionTable
    var sessions: DTLSTable
    var toPeers = SendBatch()
    private(set) var requests: [RelayRequest] = []
    private(set) var closed: [RelayID] = []
    private var peerWishes: [PeerWish] = []
    var peers = PeerTable()
    private let ledger: RelayLedger
    let neighbours: Neighbours

    init(
        _ listeners: consuming UniqueArray<Listener>, _ connections: consuming ConnectionTable,
        _ sessions: consuming DTLSTable, _ ledger: RelayLedger, _ neighbours: Neighbours
    ) {
        self.listeners = listeners
        self.connections = connections
        self.sessions = sessions
        self.ledger = ledger
        self.neighbours = neighbours
    }

    mutating func send(_ message: RawSpan, on flow: Flow) {
        switch flow.transport {
        case .tcp, .tls:
            connections.send(message, on: flow)
        case .dtls:
            message.withUnsafeBytes { _ = sendEncrypted($0, on: flow) }
        case .udp:
            guard let index = listener(at: flow.local) else { return }
            listeners[index].batch.appendCopy(message, from: listeners[index].socket.descriptor, to: flow.remote)
        }
    }

    /// A relayed packet in its framing, which stays where it is until `flush`. False when it was dropped.
    mutating func forward(_ packet: UnsafeRawBufferPointer, on flow: Flow) -> Bool {
        switch flow.transport {
        case .tcp, .tls:
            return connections.forward(packet, on: flow)
        case .dtls:
            return sendEncrypted(packet, on: flow)
        case .udp:
            guard let index = listener(at: flow.local) else { return false }
            listeners[index].batch.append(packet, from: listeners[index].socket.descriptor, to: flow.remote)
            return true
        }
    }

    mutating func openRelay(_ request: RelayRequest) {
        requests.append(request)
    }

    mutating func closeRelay(_ relay: RelayID) {
        closed.append(relay)
    }

    mutating func connectPeer(_ connection: PeerConnectionID, from relay: RelayID, to peer: TransportAddress) {
        peerWishes.append(.connect(connection, relay, peer))
    }

    mutating func bindPeer(_ connection: PeerConnectionID, to flow: Flow) {
        peerWishes.append(.bind(connection, flow))
    }

    mutating func closePeer(_ connection: PeerConnectionID) {
        peerWishes.append(.close(connection))
    }

    /// Peers that may be read again.
    mutating func takeResumedPeers() -> [Int] {
        peers.takeResumed(connections)
    }

    mutating func takePeerWishes() -> [PeerWish] {
        defer { peerWishes = [] }
        return peerWishes
    }

    mutating func endAllocation(_ allocation: AllocationID, user: String) {
        ledger.release(user)
    }

    mutating func handOver(_ message: RawSpan, on flow: Flow, to worker: UInt8, isTaken: Bool) {
        message.withUnsafeBytes {
            neighbours.mailbox(worker)?.handOver($0, on: flow, from: neighbours.own, .received(isTaken: isTaken))
        }
    }

    mutating func send(_ message: RawSpan, on flow: Flow, through worker: UInt8) {
        message.withUnsafeBytes { forward($0, on: flow, through: worker) }
    }

    /// A relayed packet that another worker has to send.
    func forward(_ packet: UnsafeRawBufferPointer, on flow: Flow, through worker: UInt8) {
        neighbours.mailbox(worker)?.handOver(packet, on: flow, from: neighbours.own, .outgoing)
    }

    mutating func keep(_ flow: Flow, _ claim: Claim, at worker: UInt8, answer: RawSpan) {
        let command = WorkerCommand.keepStranger(flow, of: neighbours.own, claim, answer: answer.copyToArray())
        neighbours.mailbox(worker)?.post(command)
    }

    mutating func forget(_ flow: Flow, _ claim: Claim, at worker: UInt8) {
        neighbours.mailbox(worker)?.post(.forgetStranger(flow, of: neighbours.own, claim))
    }

    mutating func evict(_ flow: Flow, _ claim: Claim, at worker: UInt8) {
        neighbours.mailbox(worker)?.post(.loseGuest(flow, claim))
    }

    var hasWishes: Bool {
        !requests.isEmpty || !closed.isEmpty || !peerWishes.isEmpty
    }

    mutating func takeRequests() -> [RelayRequest] {
        defer { requests = [] }
        return requests
    }

    mutating func takeClosed() -> [RelayID] {
        defer { closed = [] }
        return closed
    }

    func listener(at address: TransportAddress) -> Int? {
        for index in 0..<listeners.count where listeners[index].address == address { return index }
        return nil
    }

    /// From now on each datagram leaves by itself.
    mutating func forbidJoining() {
        toPeers.forbidJoining()
        for index in 0..<listeners.count { listeners[index].batch.forbidJoining() }
    }

    /// Puts a new socket into a free place, which keeps the totals of the one before.
    mutating func add(_ listener: consuming Listener) -> Int {
        for index in 0..<listeners.count where listeners[index].socket.descriptor < 0 {
            listeners[index].address = listener.address
            listeners[index].socket = DatagramSocket(adopting: listener.surrender())
            return index
        }
        listeners.append(listener)
        return listeners.count - 1
    }

    mutating func closeListener(_ index: Int) {
        listeners[index].socket = .none
        listeners[index].address = TransportAddress(IPAddress(ipv4: 0), port: 0)
    }

    mutating func flush() {
        if toPeers.count > 0 { toPeers.flush() }
        for index in 0..<listeners.count where listeners[index].batch.count > 0 { listeners[index].batch.flush() }
        connections.flush()
    }
}
