import BasicContainers
import DatagramIO
import Synchronization
import TURN
import Wire

/// Ports of TLS and DTLS that a reload opens and closes.
///
/// The sockets are opened while the reload is being checked, so that a taken port fails the whole reload. Clients that
/// connect before the workers serve wait in the kernel; sockets that no worker takes are closed.
final class PortChange: Sendable {
    /// All ports that are open after the change.
    let tlsPorts: [UInt16]
    let closing: Set<UInt16>
    /// The configured ports.
    let requestedTLSPorts: [UInt16]
    private let opened: Mutex<[ReleasedSockets?]>

    init(tlsPorts: [UInt16], requestedTLSPorts: [UInt16], closing: Set<UInt16>, opened: [ReleasedSockets]) {
        self.tlsPorts = tlsPorts
        self.requestedTLSPorts = requestedTLSPorts
        self.closing = closing
        self.opened = Mutex(opened)
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
        var sockets = try sockets(workers: workers, tlsPorts: added)
        var opened: [ReleasedSockets] = []
        while let last = sockets.popLast() { opened.append(ReleasedSockets(last)) }
        return PortChange(
            tlsPorts: next, requestedTLSPorts: requestedTLSPorts, closing: Set(tlsPorts).subtracting(next),
            opened: opened.reversed())
    }

    mutating func adopt(_ change: PortChange) {
        tlsPorts = change.tlsPorts
        requestedTLSPorts = change.requestedTLSPorts
    }
}

extension Worker {
    mutating func adopt(_ change: PortChange) {
        if !change.closing.isEmpty { close(change.closing) }
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

    /// Connections that were accepted on these ports go on. Allocations over UDP and DTLS end: their clients' datagrams
    /// no longer arrive.
    private mutating func close(_ ports: Set<UInt16>) {
        outbox.flush()
        endSessions(on: ports)
        engine.portsClosed(ports, into: &outbox)
        executeRequests()
        outbox.flush()
        for index in 0..<outbox.listeners.count where ports.contains(outbox.listeners[index].address.port) {
            outbox.closeListener(index)
        }
        for index in 0..<streamListeners.count where ports.contains(streamListeners[index].address.port) {
            streamListeners[index] = .closed
        }
    }
}
