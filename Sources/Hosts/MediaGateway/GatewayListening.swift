import DatagramIO
import ICE
import SDP
import Wire

/// One worker's sockets on an address: for UDP, and for clients that can only use TCP.
package struct AddressSockets: Sendable {
    let datagrams: DatagramSocketOwner
    let streams: StreamListenerOwner

    init(_ address: TransportAddress) throws(GatewayError) {
        datagrams = try DatagramSocketOwner(address)
        streams = try StreamListenerOwner(address)
    }
}

/// The addresses that the gateway listens on, with the sockets of every worker.
///
/// Those that are named stay as they are; all others follow the addresses of the machine. An address that is no longer
/// offered keeps its sockets as long as clients may be using it.
struct GatewayListening {
    /// What the workers have to do.
    struct Change {
        /// New sockets, by worker.
        var opened: [[AddressSockets]]
        var closed: Set<IPAddress> = []
        /// Why an address is not listened on.
        var failures: [String] = []

        var isEmpty: Bool { closed.isEmpty && opened.allSatisfy(\.isEmpty) }
    }

    private let configuration: GatewayConfiguration
    /// In the order in which clients should prefer them.
    private(set) var offered: [IPAddress] = []
    /// By worker.
    private(set) var sockets: [[IPAddress: AddressSockets]]
    /// The candidates for answers, by worker.
    private(set) var candidates: [[Candidate]] = []

    /// Binds every address. Nothing is left open when it throws.
    init(_ configuration: GatewayConfiguration, on addresses: LocalAddresses) throws(GatewayError) {
        self.configuration = configuration
        sockets = Array(repeating: [:], count: configuration.workerCount)
        offered = configuration.localAddresses(addresses.preferred)
        guard !offered.isEmpty else {
            throw GatewayError("relay.listen: this machine has no address to listen on; name one in relay.listen")
        }
        for address in offered { _ = try open(address) }
        updateCandidates()
    }

    /// Opens sockets on addresses that are new, and closes those on addresses that nobody can be using any more.
    mutating func follow(_ addresses: LocalAddresses) -> Change {
        let wanted = configuration.localAddresses(addresses.preferred)
        var change = Change(opened: Array(repeating: [], count: sockets.count))
        let bound = sockets.first.map { Set($0.keys) } ?? []
        change.closed = bound.subtracting(wanted).subtracting(addresses.used)
        for address in change.closed {
            for worker in sockets.indices { sockets[worker][address] = nil }
        }
        offered = []
        for address in wanted {
            if !bound.contains(address) {
                do throws(GatewayError) {
                    for (worker, opened) in try open(address).enumerated() { change.opened[worker].append(opened) }
                } catch {
                    change.failures.append(
                        error.isAddressUnknown ? "\(address) was gone before it could be used" : error.description)
                    continue
                }
            }
            offered.append(address)
        }
        updateCandidates()
        return change
    }

    /// Closes the sockets that no worker has any more.
    mutating func close() { sockets = sockets.map { _ in [:] } }

    /// The sockets of all workers on a new address, or none.
    private mutating func open(_ address: IPAddress) throws(GatewayError) -> [AddressSockets] {
        var opened: [AddressSockets] = []
        for worker in sockets.indices {
            opened.append(try AddressSockets(TransportAddress(address, port: try port(of: worker))))
        }
        for (worker, socket) in opened.enumerated() { sockets[worker][address] = socket }
        return opened
    }

    private func port(of worker: Int) throws(GatewayError) -> UInt16 {
        guard configuration.port > 0 else { return 0 }
        guard let port = UInt16(exactly: Int(configuration.port) + worker) else {
            throw GatewayError("gateway.port: there is no port for worker \(worker + 1) after \(configuration.port)")
        }
        return port
    }

    private mutating func updateCandidates() {
        let externals = configuration.externals(offered)
        candidates = sockets.map { sockets in
            HostCandidate.all(
                udp: offered.compactMap { sockets[$0]?.datagrams.address },
                tcp: offered.compactMap { sockets[$0]?.streams.address }, external: externals
            ).map(Candidate.init)
        }
    }

    /// The sockets that a worker starts with.
    func sockets(of worker: Int) -> [AddressSockets] { offered.compactMap { sockets[worker][$0] } }

    /// For UDP and TCP, also on addresses that are no longer offered.
    var addresses: Set<TransportAddress> {
        Set(sockets.flatMap(\.values).flatMap { [$0.datagrams.address, $0.streams.address] })
    }

    /// What the system granted of the send buffers, the least of them, in bytes.
    var sendBuffer: Int { sockets.flatMap(\.values).map(\.datagrams.sendBuffer).min() ?? 0 }
}
