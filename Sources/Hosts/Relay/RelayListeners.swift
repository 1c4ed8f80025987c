import BasicContainers
import DatagramIO
import TURN
import Wire

/// Binds the workers' listening sockets: for each address, a UDP and a TCP socket on the port of STUN and TURN and on
/// every port of TLS and DTLS, each once per worker. The kernel distributes clients over the workers. NAT behaviour
/// discovery adds a second UDP port, the next one, on two addresses: a worker must respond from any of the four.
struct RelayListeners {
    /// How many attempts are made to find a port that is free for UDP and TCP on every address.
    private static let attempts = 64

    /// The addresses that are offered.
    var local: [IPAddress]
    let port: UInt16
    var tlsPorts: [UInt16]
    /// The configured ports of TLS, where 0 stands for any free one.
    var requestedTLSPorts: [UInt16]
    let discoveries: [NATDiscovery]
    private let discoveryAddresses: [TransportAddress]
    /// Where sockets are open: also on addresses that are no longer offered.
    var bound: Set<TransportAddress> = []

    init(_ configuration: RelayConfiguration, on local: [IPAddress]) throws(RelayError) {
        self.local = local
        port = try configuration.port == 0 ? Self.freePort(on: local) : configuration.port
        requestedTLSPorts = Self.configuredTLSPorts(configuration)
        tlsPorts = try Self.tlsPorts(requestedTLSPorts, port: port, on: local)
        (discoveries, discoveryAddresses) = try Self.discoveries(configuration, on: local, port: port)
        bound = Set(addresses + tlsAddresses + discoveryAddresses)
    }

    static func configuredTLSPorts(_ configuration: RelayConfiguration) -> [UInt16] {
        configuration.certificate == nil ? [] : configuration.tlsPorts
    }

    static func tlsPorts(
        _ requestedPorts: [UInt16], port: UInt16, on local: [IPAddress]
    ) throws(RelayError) -> [UInt16] {
        var ports: [UInt16] = []
        for requested in requestedPorts {
            let found = try requested == 0 ? freePort(on: local) : requested
            // The port of TURN serves TLS and DTLS, too.
            if found != port, !ports.contains(found) { ports.append(found) }
        }
        return ports
    }

    /// The first two addresses of each family that has two, whose external addresses must differ, too.
    private static func discoveries(
        _ configuration: RelayConfiguration, on local: [IPAddress], port: UInt16
    ) throws(RelayError) -> ([NATDiscovery], [TransportAddress]) {
        guard configuration.servesDiscovery else { return ([], []) }
        let entries = RelayAddresses(local: local, externals: configuration.externalAddresses).entries
        var discoveries: [NATDiscovery] = []
        var addresses: [TransportAddress] = []
        for family in [IPAddress.Family.ipv4, .ipv6] {
            guard let first = entries.first(where: { $0.local.family == family }),
                let second = entries.first(where: { $0.local.family == family && $0.advertised != first.advertised }),
                let discovery = NATDiscovery(first.local, second.local, port: port, otherPort: port &+ 1)
            else { continue }
            discoveries.append(discovery)
            addresses += [first.local, second.local].map { TransportAddress($0, port: port &+ 1) }
        }
        guard !discoveries.isEmpty else {
            throw RelayError(
                "relay.natDiscovery needs two addresses of one family: list both in relay.listen, or turn it off")
        }
        return (discoveries, addresses)
    }

    /// Every port that is served: relayed packets may not reach them.
    var ports: Set<UInt16> {
        Set(tlsPorts + [port] + discoveryAddresses.map { $0.port })
    }

    var addresses: [TransportAddress] {
        local.map { TransportAddress($0, port: port) }
    }

    var tlsAddresses: [TransportAddress] {
        local.flatMap { address in tlsPorts.map { TransportAddress(address, port: $0) } }
    }

    /// Binds all sockets. A port that was found free may be taken by now: then it tries others.
    static func bound(
        _ configuration: RelayConfiguration, on local: [IPAddress], into sockets: inout UniqueArray<WorkerSockets>
    ) throws(RelayError) -> RelayListeners {
        let mayChoose = configuration.port == 0 || configuredTLSPorts(configuration).contains(0)
        for _ in 1..<attempts {
            do throws(RelayError) {
                let listening = try RelayListeners(configuration, on: local)
                sockets = try listening.sockets(workers: configuration.workerCount)
                return listening
            } catch {
                guard mayChoose, error.isPortTaken else { throw error }
            }
        }
        let listening = try RelayListeners(configuration, on: local)
        sockets = try listening.sockets(workers: configuration.workerCount)
        return listening
    }

    /// The sockets of all workers. Nothing is left open when it throws.
    func sockets(workers: Int) throws(RelayError) -> UniqueArray<WorkerSockets> {
        var sockets = WorkerSockets.forWorkers(workers)
        for address in addresses { try bind(address, "relay.port", into: &sockets) }
        for address in tlsAddresses { try bind(address, "relay.tlsPorts", into: &sockets) }
        for address in discoveryAddresses { try bindDatagrams(address, "relay.natDiscovery", into: &sockets) }
        return sockets
    }

    /// The sockets on these addresses alone. Nothing is left open when it throws.
    func sockets(workers: Int, on addresses: Set<TransportAddress>) throws(RelayError) -> UniqueArray<WorkerSockets> {
        var sockets = WorkerSockets.forWorkers(workers)
        for address in addresses {
            try bind(address, address.port == port ? "relay.port" : "relay.tlsPorts", into: &sockets)
        }
        return sockets
    }

    private func bind(
        _ address: TransportAddress, _ setting: String, into sockets: inout UniqueArray<WorkerSockets>
    ) throws(RelayError) {
        try bindDatagrams(address, setting, into: &sockets)
        try bindStreams(address, setting, into: &sockets)
    }

    // SO_REUSEPORT would share a port with another program that sets it too, so each port is tried without first.

    private func bindDatagrams(
        _ address: TransportAddress, _ setting: String, into sockets: inout UniqueArray<WorkerSockets>
    ) throws(RelayError) {
        do {
            _ = try DatagramSocket(address, .exclusive)
            for worker in 0..<sockets.count {
                let socket = try DatagramSocket(address, .reusePort, receiveBuffer: RelayServer.receiveBuffer)
                sockets[worker].listeners.append(Listener(socket, address))
            }
        } catch {
            throw RelayError(bindFailure: error, address, "UDP", setting: setting)
        }
    }

    private func bindStreams(
        _ address: TransportAddress, _ setting: String, into sockets: inout UniqueArray<WorkerSockets>
    ) throws(RelayError) {
        do {
            _ = try StreamListener(address, .exclusive)
            for worker in 0..<sockets.count {
                let listener = try StreamListener(address, .reusePort)
                sockets[worker].acceptors.append(StreamAcceptor(listener, address))
            }
        } catch {
            throw RelayError(bindFailure: error, address, "TCP", setting: setting)
        }
    }

    private static func freePort(on local: [IPAddress]) throws(RelayError) -> UInt16 {
        for _ in 0..<attempts {
            var port: UInt16 = 0
            var isFree = true
            for address in local where isFree {
                do {
                    let socket = try DatagramSocket(TransportAddress(address, port: port), .exclusive)
                    port = socket.address?.port ?? 0
                    let listener = try StreamListener(TransportAddress(address, port: port), .exclusive)
                    port = listener.address?.port ?? 0
                } catch {
                    guard error.isPortTaken else {
                        let failed = TransportAddress(address, port: port)
                        throw RelayError(bindFailure: error, failed, "TCP", setting: "relay.port")
                    }
                    isFree = false
                }
            }
            if isFree, port != 0 { return port }
        }
        throw RelayError("relay.port: no port is free for UDP and TCP on every address; set one")
    }
}

/// One worker's sockets on their way to its thread, which cannot capture noncopyable values.
struct ReleasedSockets: Sendable {
    private var listeners: [(Int32, TransportAddress)] = []
    private var acceptors: [(Int32, TransportAddress)] = []

    init(_ sockets: consuming WorkerSockets) {
        var listeners = sockets.listeners
        var acceptors = sockets.acceptors
        while let listener = listeners.popLast() {
            let address = listener.address
            self.listeners.append((listener.release(), address))
        }
        while let acceptor = acceptors.popLast() {
            let address = acceptor.address
            self.acceptors.append((acceptor.release(), address))
        }
    }

    /// The caller owns the sockets. To be called once.
    func adopt() -> WorkerSockets {
        var sockets = WorkerSockets()
        for (descriptor, address) in listeners.reversed() {
            sockets.listeners.append(Listener(DatagramSocket(adopting: descriptor), address))
        }
        for (descriptor, address) in acceptors.reversed() {
            sockets.acceptors.append(StreamAcceptor(StreamListener(adopting: descriptor), address))
        }
        return sockets
    }
}

extension Listener {
    consuming func release() -> Int32 {
        socket.release()
    }
}

extension StreamAcceptor {
    consuming func release() -> Int32 {
        listener.release()
    }
}
