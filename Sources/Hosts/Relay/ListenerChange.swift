import BasicContainers
import DatagramIO
import Synchronization
import TURN
import Wire

/// Listening sockets that are opened and closed while the relay runs: a reload changes the ports of TLS and DTLS, and
/// the machine its addresses.
///
/// The sockets are opened before the workers hear of it, so that a taken port fails the whole reload. Clients that
/// connect meanwhile wait in the kernel; sockets that no worker takes are closed.
final class ListenerChange: Sendable {
    let closed: Set<TransportAddress>
    /// Addresses that the machine no longer has.
    let lost: Set<IPAddress>
    private let opened: Mutex<[ReleasedSockets?]>

    /// - Parameter opened: the sockets of each worker.
    init(
        closing closed: Set<TransportAddress>, lost: Set<IPAddress> = [],
        opening opened: consuming UniqueArray<WorkerSockets>
    ) {
        self.closed = closed
        self.lost = lost
        var released: [ReleasedSockets?] = []
        while let last = opened.popLast() { released.append(ReleasedSockets(last)) }
        self.opened = Mutex(released.reversed())
    }

    deinit {
        opened.withLock { opened in
            for sockets in opened { _ = sockets?.adopt() }
        }
    }

    /// One worker's sockets, once.
    func take(_ worker: UInt8) -> WorkerSockets? {
        let released = opened.withLock { opened -> ReleasedSockets? in
            guard Int(worker) < opened.count else { return nil }
            let taken = opened[Int(worker)]
            opened[Int(worker)] = nil
            return taken
        }
        guard let released else { return nil }
        return released.adopt()
    }
}

/// What a reload does to the ports of TLS and DTLS.
struct PortChange: Sendable {
    /// All of them that are open after the change.
    let tlsPorts: [UInt16]
    /// The configured ports.
    let requestedTLSPorts: [UInt16]
    let listeners: ListenerChange
    /// Where sockets were opened.
    let opened: Set<TransportAddress>
}

extension RelayListeners {
    /// Opens the ports that another configuration adds; nil when the ports stay the same.
    func change(to configuration: RelayConfiguration, workers: Int) throws(RelayError) -> PortChange? {
        let requestedTLSPorts = Self.configuredTLSPorts(configuration)
        guard requestedTLSPorts != self.requestedTLSPorts else { return nil }
        let next = try Self.tlsPorts(requestedTLSPorts, port: port, on: local)
        let added = next.filter { !tlsPorts.contains($0) }
        for taken in added where ports.contains(taken) {
            throw RelayError("relay.tlsPorts: port \(taken) serves relay.natDiscovery; choose another one")
        }
        let removed = Set(tlsPorts).subtracting(next)
        let opened = Set(local.flatMap { address in added.map { TransportAddress(address, port: $0) } })
        return PortChange(
            tlsPorts: next, requestedTLSPorts: requestedTLSPorts,
            listeners: ListenerChange(
                closing: bound.filter { removed.contains($0.port) },
                opening: try sockets(workers: workers, on: opened)), opened: opened)
    }

    mutating func adopt(_ change: PortChange) {
        tlsPorts = change.tlsPorts
        requestedTLSPorts = change.requestedTLSPorts
        bound.formUnion(change.opened)
        bound.subtract(change.listeners.closed)
    }

    /// Listens on the addresses that the machine has now, on every port, and no longer on those that nobody can be
    /// using. Addresses on which it cannot listen are left out.
    ///
    /// - Returns: what the workers have to do, if anything; and why addresses were left out.
    mutating func follow(
        _ wanted: [IPAddress], used: [IPAddress], workers: Int
    ) -> (change: ListenerChange?, failures: [String]) {
        var opened = WorkerSockets.forWorkers(workers)
        var failures: [String] = []
        local = []
        for address in wanted {
            let missing = Set(([port] + tlsPorts).map { TransportAddress(address, port: $0) }).subtracting(bound)
            do throws(RelayError) {
                var sockets = try self.sockets(workers: workers, on: missing)
                for worker in 0..<workers { opened[worker].take(&sockets[worker]) }
                bound.formUnion(missing)
                local.append(address)
            } catch {
                failures.append(
                    error.isAddressUnknown ? "\(address) was gone before it could be used" : error.description)
            }
        }
        let (kept, open) = (Set(wanted).union(used), ports)
        let closed = bound.filter { !kept.contains($0.address) || !open.contains($0.port) }
        bound.subtract(closed)
        let lost = Set(closed.map(\.address)).subtracting(kept)
        let isEmpty = closed.isEmpty && opened[0].listeners.isEmpty
        return (isEmpty ? nil : ListenerChange(closing: closed, lost: lost, opening: opened), failures)
    }
}

extension WorkerSockets {
    static func forWorkers(_ count: Int) -> UniqueArray<WorkerSockets> {
        var sockets = UniqueArray<WorkerSockets>()
        for _ in 0..<max(1, count) { sockets.append(WorkerSockets()) }
        return sockets
    }

    mutating func take(_ other: inout WorkerSockets) {
        while let listener = other.listeners.popLast() { listeners.append(listener) }
        while let acceptor = other.acceptors.popLast() { acceptors.append(acceptor) }
    }
}

extension Worker {
    mutating func adopt(_ change: ListenerChange) {
        if !change.closed.isEmpty { close(change.closed) }
        if !change.lost.isEmpty {
            engine.addressesLost(change.lost, into: &outbox)
            executeRequests()
        }
        guard var sockets = change.take(outbox.workerGroup.own) else { return }
        while let listener = sockets.listeners.popLast() {
            let descriptor = listener.socket.descriptor
            let index = outbox.add(listener)
            if !queue.watch(descriptor, as: EventTag.listener(index)) { outbox.closeListener(index) }
        }
        while let acceptor = sockets.acceptors.popLast() {
            let descriptor = acceptor.listener.descriptor
            var index = 0
            while index < streamListeners.count, streamListeners[index].isOpen { index += 1 }
            if index < streamListeners.count {
                streamListeners[index] = acceptor
            } else {
                streamListeners.append(acceptor)
            }
            if !queue.watch(descriptor, as: EventTag.streamListener(index)) { streamListeners[index] = .closed }
        }
    }

    /// Connections that were accepted there go on. Allocations over UDP and DTLS end: their clients' datagrams no longer
    /// arrive.
    private mutating func close(_ addresses: Set<TransportAddress>) {
        outbox.flush()
        endSessions(on: addresses)
        engine.listenersClosed(addresses, into: &outbox)
        executeRequests()
        outbox.flush()
        for index in 0..<outbox.listeners.count where addresses.contains(outbox.listeners[index].address) {
            outbox.closeListener(index)
        }
        for index in 0..<streamListeners.count where addresses.contains(streamListeners[index].address) {
            streamListeners[index] = .closed
        }
    }
}
