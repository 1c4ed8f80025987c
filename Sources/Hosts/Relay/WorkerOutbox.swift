import BasicContainers
import DatagramIO
import TURN
import Wire

/// One of the worker's sockets for clients, with its outgoing batch.
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
struct StreamAcceptor: ~Copyable {
    let listener: StreamListener
    let address: TransportAddress

    init(_ listener: consuming StreamListener, _ address: TransportAddress) {
        self.listener = listener
        self.address = address
    }

    /// A slot without a socket.
    static var closed: StreamAcceptor {
        StreamAcceptor(StreamListener(adopting: -1), TransportAddress(IPAddress(ipv4: 0), port: 0))
    }

    var isOpen: Bool {
        listener.descriptor >= 0
    }
}

/// The listening sockets of a worker.
struct WorkerSockets: ~Copyable {
    var listeners = UniqueArray<Listener>()
    var acceptors = UniqueArray<StreamAcceptor>()
}

/// Receives the engine's messages and requests. Messages go directly into the batch of the socket that sends them;
/// requests wait until the engine is done with the datagram.
struct WorkerOutbox: ~Copyable, RelayOutbox {
    var listeners: UniqueArray<Listener>
    var connections: ConnectionTable
    var sessions: DTLSTable
    var toPeers = SendBatch()
    private(set) var requests: [RelayRequest] = []
    private(set) var closed: [RelayID] = []
    private var peerRequests: [PeerRequest] = []
    var peers = PeerTable()
    private let ledger: RelayLedger
    let workerGroup: WorkerGroup

    init(
        _ listeners: consuming UniqueArray<Listener>, _ connections: consuming ConnectionTable,
        _ sessions: consuming DTLSTable, _ ledger: RelayLedger, _ workerGroup: WorkerGroup
    ) {
        self.listeners = listeners
        self.connections = connections
        self.sessions = sessions
        self.ledger = ledger
        self.workerGroup = workerGroup
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

    /// Adds a relayed packet with its framing; the memory must stay valid until `flush`. False when it was dropped.
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
        peerRequests.append(.connect(connection, relay, peer))
    }

    mutating func bindPeer(_ connection: PeerConnectionID, to flow: Flow) {
        peerRequests.append(.bind(connection, flow))
    }

    mutating func closePeer(_ connection: PeerConnectionID) {
        peerRequests.append(.close(connection))
    }

    /// Peers that may be read again.
    mutating func takeResumedPeers() -> [Int] {
        peers.takeResumed(connections)
    }

    mutating func takePeerRequests() -> [PeerRequest] {
        defer { peerRequests = [] }
        return peerRequests
    }

    mutating func endAllocation(_ allocation: AllocationID, user: String) {
        ledger.release(user)
    }

    mutating func forward(_ message: RawSpan, on flow: Flow, to worker: UInt8, isOccupied: Bool) {
        message.withUnsafeBytes {
            workerGroup.mailbox(worker)?.forward($0, on: flow, from: workerGroup.own, .received(isOccupied: isOccupied))
        }
    }

    mutating func send(_ message: RawSpan, on flow: Flow, through worker: UInt8) {
        message.withUnsafeBytes { forward($0, on: flow, through: worker) }
    }

    /// Hands a relayed packet to the worker that has to send it.
    func forward(_ packet: UnsafeRawBufferPointer, on flow: Flow, through worker: UInt8) {
        workerGroup.mailbox(worker)?.forward(packet, on: flow, from: workerGroup.own, .outgoing)
    }

    mutating func keep(_ flow: Flow, _ claim: Claim, at worker: UInt8, response: RawSpan) {
        let command = WorkerCommand.keepForwardedFlow(
            flow, of: workerGroup.own, claim, response: response.copyToArray())
        workerGroup.mailbox(worker)?.post(command)
    }

    mutating func forget(_ flow: Flow, _ claim: Claim, at worker: UInt8) {
        workerGroup.mailbox(worker)?.post(.forgetForwardedFlow(flow, of: workerGroup.own, claim))
    }

    mutating func evict(_ flow: Flow, _ claim: Claim, at worker: UInt8) {
        workerGroup.mailbox(worker)?.post(.removeIngress(flow, claim))
    }

    var hasPendingRequests: Bool {
        !requests.isEmpty || !closed.isEmpty || !peerRequests.isEmpty
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

    /// From now on each datagram is sent by itself.
    mutating func disableSegmentation() {
        toPeers.disableSegmentation()
        for index in 0..<listeners.count { listeners[index].batch.disableSegmentation() }
    }

    /// Puts a new socket into a free slot, which keeps the counters of the previous one.
    mutating func add(_ listener: consuming Listener) -> Int {
        for index in 0..<listeners.count where listeners[index].socket.descriptor < 0 {
            listeners[index].address = listener.address
            listeners[index].socket = DatagramSocket(adopting: listener.release())
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
