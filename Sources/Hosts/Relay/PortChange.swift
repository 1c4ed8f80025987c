import BasicContainers
import DatagramIO
import Synchronization
import TURN
import Wire

/// Ports of TLS and DTLS that a reload opens and closes.
///
/// They are opened while the reload is still checked, so that a taken port refuses it as a whole. Clients that come before
/// the workers serve wait in the kernel; sockets that no worker takes are closed.
final class PortChange: Sendable {
    /// All that are open from then on.
    let tlsPorts: [UInt16]
    let closing: Set<UInt16>
    /// What the operator asked for.
    let wished: [UInt16]
    private let opened: Mutex<[SurrenderedSockets?]>

    init(tlsPorts: [UInt16], wished: [UInt16], closing: Set<UInt16>, opened: [SurrenderedSockets]) {
        self.tlsPorts = tlsPorts
        self.wished = wished
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
        let surrendered = opened.withLock { opened -> SurrenderedSockets? in
            guard Int(worker) < opened.count else { return nil }
            let taken = opened[Int(worker)]
            opened[Int(worker)] = nil
            return taken
        }
        guard let surrendered else { return nil }
        return surrendered.adopt()
    }
}

extension Listening {
    /// Opens the ports that another configuration wants and this one lacks; nil when the ports stay.
    func change(to configuration: RelayConfiguration, workers: Int) throws(RelayError) -> PortChange? {
        let wished = Self.wishedPorts(configuration)
        guard wished != self.wished else { return nil }
        let next = try Self.tlsPorts(wished, port: port, on: local)
        let added = next.filter { !tlsPorts.contains($0) }
        for taken in added where ports.contains(taken) {
            throw RelayError("relay.tlsPorts: port \(taken) serves relay.natDiscovery; choose another one")
        }
        var sockets = try sockets(workers: workers, tlsPorts: added)
        var opened: [SurrenderedSockets] = []
        while let last = sockets.popLast() { opened.append(SurrenderedSockets(last)) }
        return PortChange(
            tlsPorts: next, wished: wished, closing: Set(tlsPorts).subtracting(next), opened: opened.reversed())
    }

    mutating func adopt(_ change: PortChange) {
        tlsPorts = change.tlsPorts
        wished = change.wished
    }
}

extension Worker {
    mutating func adopt(_ change: PortChange) {
        if !change.closing.isEmpty { close(change.closing) }
        guard var sockets = change.take(outbox.neighbours.own) else { return }
        while let listener = sockets.listeners.popLast() {
            let descriptor = listener.socket.descriptor
            let index = outbox.add(listener)
            if !queue.watch(descriptor, as: EventTag.listener(index)) { outbox.closeListener(index) }
        }
        while let entrance = sockets.entrances.popLast() {
            let descriptor = entrance.listener.descriptor
            var index = 0
            while index < streamListeners.count, streamListeners[index].isOpen { index += 1 }
            if index < streamListeners.count {
                streamListeners[index] = entrance
            } else {
                streamListeners.append(entrance)
            }
            if !queue.watch(descriptor, as: EventTag.streamListener(index)) { streamListeners[index] = .closed }
        }
    }

    /// Connections that came through these ports go on. Allocations of datagrams end: nothing of their clients arrives any
    /// more.
    private mutating func close(_ ports: Set<UInt16>) {
        outbox.flush()
        endSessions(on: ports)
        engine.portsClosed(ports, into: &outbox)
        settle()
        outbox.flush()
        for index in 0..<outbox.listeners.count where ports.contains(outbox.listeners[index].address.port) {
            outbox.closeListener(index)
        }
        for index in 0..<streamListeners.count where ports.contains(streamListeners[index].address.port) {
            streamListeners[index] = .closed
        }
    }
}
