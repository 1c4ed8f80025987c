import BasicContainers
import DatagramIO
import TURN
import Wire

/// Binds what the workers listen on: for each address, a UDP and a TCP socket on the port of STUN and TURN and on every
/// port of TLS and DTLS, each once per worker. The kernel spreads clients over the workers. NAT behaviour discovery
/// adds a second UDP port, the next one, on two addresses: a worker must answer from any of the four.
struct Listening {
    /// How often a free port is looked for that UDP and TCP both have on every address.
    private static let attempts = 64

    let local: [IPAddress]
    let port: UInt16
    var tlsPorts: [UInt16]
    /// The ports of TLS that were asked for, where 0 stands for a free one.
    var wished: [UInt16]
    let discoveries: [NATDiscovery]
    private let discoveryAddresses: [TransportAddress]

    init(_ configuration: RelayConfiguration, on local: [IPAddress]) throws(RelayError) {
        self.local = local
        port = try configuration.port == 0 ? Self.freePort(on: local) : configuration.port
        wished = Self.wishedPorts(configuration)
        tlsPorts = try Self.tlsPorts(wished, port: port, on: local)
        (discoveries, discoveryAddresses) = try Self.discoveries(configuration, on: local, port: port)
    }

    static func wishedPorts(_ configuration: RelayConfiguration) -> [UInt16] {
        configuration.certificate == nil ? [] : configuration.tlsPorts
    }

    static func tlsPorts(_ wished: [UInt16], port: UInt16, on local: [IPAddress]) throws(RelayError) -> [UInt16] {
        var ports: [UInt16] = []
        for wish in wished {
            let found = try wish == 0 ? freePort(on: local) : wish
            // The port of TURN speaks TLS and DTLS, too.
            if found != port, !ports.contains(found) { ports.append(found) }
        }
        return ports
    }

    /// The first two addresses of each family that has two, which must also differ for whoever sees them from outside.
    private static func discoveries(
        _ configuration: RelayConfiguration, on local: [IPAddress], port: UInt16
    ) throws(RelayError) -> ([NATDiscovery], [TransportAddress]) {
        guard configuration.servesDiscovery else { return ([], []) }
        let entries = RelayAddresses(local: local, externals: configuration.externalAddresses).entries
        var discoveries: [NATDiscovery] = []
        var addresses: [TransportAddress] = []
        for family in [IPAddress.Family.ipv4, .ipv6] {
            guard let first = entries.first(where: { $0.local.family == family }),
                let second = entries.first(where: { $0.local.family == family && $0.told != first.told }),
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

    /// Every port that is served, which no relayed client may reach.
    var ports: Set<UInt16> {
        Set(tlsPorts + [port] + discoveryAddresses.map { $0.port })
    }

    var addresses: [TransportAddress] {
        local.map { TransportAddress($0, port: port) }
    }

    var tlsAddresses: [TransportAddress] {
        local.flatMap { address in tlsPorts.map { TransportAddress(address, port: $0) } }
    }

    /// Binds all of it. A port that was free when it was looked for may be somebody else's by now: then others are.
    static func bound(
        _ configuration: RelayConfiguration, on local: [IPAddress], into sockets: inout UniqueArray<WorkerSockets>
    ) throws(RelayError) -> Listening {
        let mayChoose = configuration.port == 0 || wishedPorts(configuration).contains(0)
        for _ in 1..<attempts {
            do throws(RelayError) {
                let listening = try Listening(configuration, on: local)
                sockets = try listening.sockets(workers: configuration.workerCount)
                return listening
            } catch {
                guard mayChoose, error.isPortTaken else { throw error }
            }
        }
        let listening = try Listening(configuration, on: local)
        sockets = try listening.sockets(workers: configuration.workerCount)
        return listening
    }

    /// The sockets of so many workers. Nothing is left open when it throws.
    func sockets(workers: Int) throws(RelayError) -> UniqueArray<WorkerSockets> {
        var sockets = UniqueArray<WorkerSockets>()
        for _ in 0..<workers { sockets.append(WorkerSockets()) }
        for address in addresses { try bind(address, "relay.port", into: &sockets) }
        for address in tlsAddresses { try bind(address, "relay.tlsPorts", into: &sockets) }
        for address in discoveryAddresses { try bindDatagrams(address, "relay.natDiscovery", into: &sockets) }
        return sockets
    }

    /// Those of some ports of TLS alone.
    func sockets(workers: Int, tlsPorts: [UInt16]) throws(RelayError) -> UniqueArray<WorkerSockets> {
        var sockets = UniqueArray<WorkerSockets>()
        for _ in 0..<workers { sockets.append(WorkerSockets()) }
        for address in local {
            for port in tlsPorts {
                try bind(TransportAddress(address, port: port), "relay.tlsPorts", into: &sockets)
            }
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
                let socket = try DatagramSocket(address, .spread, receiveBuffer: RelayServer.receiveBuffer)
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
                let listener = try StreamListener(address, .spread)
                sockets[worker].entrances.append(StreamEntrance(listener, address))
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
                        let wanted = TransportAddress(address, port: port)
                        throw RelayError(bindFailure: error, wanted, "TCP", setting: "relay.port")
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
struct SurrenderedSockets: Sendable {
    private var listeners: [(Int32, TransportAddress)] = []
    private var entrances: [(Int32, TransportAddress)] = []

    init(_ sockets: consuming WorkerSockets) {
        var listeners = sockets.listeners
        var entrances = sockets.entrances
        while let listener = listeners.popLast() {
            let address = listener.address
            self.listeners.append((listener.surrender(), address))
        }
        while let entrance = entrances.popLast() {
            let address = entrance.address
            self.entrances.append((entrance.surrender(), address))
        }
    }

    /// To be called once: whoever does owns the sockets.
    func adopt() -> WorkerSockets {
        var sockets = WorkerSockets()
        for (descriptor, address) in listeners.reversed() {
            sockets.listeners.append(Listener(DatagramSocket(adopting: descriptor), address))
        }
        for (descriptor, address) in entrances.reversed() {
            sockets.entrances.append(StreamEntrance(StreamListener(adopting: descriptor), address))
        }
        return sockets
    }
}

extension Listener {
    consuming func surrender() -> Int32 {
        socket.surrender()
    }
}

extension StreamEntrance {
    consuming func surrender() -> Int32 {
        listener.surrender()
    }
}
