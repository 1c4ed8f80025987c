import DatagramIO
import Wire

/// Opens relay sockets on free ports of the configured range.
///
/// Ports are chosen at random, so that nobody can guess the next one (RFC 8656 section 7.2).
struct RelayPorts: Sendable {
    enum Failure: Error {
        case noFreePort
        case noDescriptors
    }

    let table: PortTable
    let range: ClosedRange<UInt16>

    private static let randomAttempts = 32

    /// A socket on any port.
    func open(at index: Int) throws(Failure) -> HeldSocket {
        for port in candidates(step: 1) {
            if let socket = try bind(port, at: index) { return socket }
        }
        throw .noFreePort
    }

    /// A socket on an even port.
    func openEven(at index: Int) throws(Failure) -> HeldSocket {
        for port in candidates(step: 2) {
            if let socket = try bind(port, at: index) { return socket }
        }
        throw .noFreePort
    }

    /// Sockets on an even port and the one above.
    func openPair(at index: Int) throws(Failure) -> (even: HeldSocket, odd: HeldSocket) {
        for port in candidates(step: 2) where port < range.upperBound {
            guard let even = try bind(port, at: index) else { continue }
            if let odd = try bind(port + 1, at: index) { return (even, odd) }
        }
        throw .noFreePort
    }

    /// nil when this server or another program uses the port.
    private func bind(_ port: UInt16, at index: Int) throws(Failure) -> HeldSocket? {
        guard index < table.entries.count else { return nil }
        let entry = table.entries[index]
        guard entry.ports.claim(port, entry.mark, of: entry.local) else { return nil }
        do {
            let socket = try DatagramSocket(TransportAddress(entry.local, port: port), .exclusive)
            socket.keepErrors(entry.local.family)
            return HeldSocket(socket, port: port, at: entry)
        } catch {
            entry.ports.release(port)
            if error.isDescriptorShortage { throw .noDescriptors }
            return nil
        }
    }

    /// Some random ports, then the whole range from a random start, so that even the last free port is found.
    private func candidates(step: Int) -> some Sequence<UInt16> {
        let lowest = Int(range.lowerBound) + (step == 2 ? Int(range.lowerBound & 1) : 0)
        let count = lowest > Int(range.upperBound) ? 0 : (Int(range.upperBound) - lowest) / step + 1
        let start = count > 0 ? Int.random(in: 0..<count) : 0
        let random = (0..<(count > 0 ? Self.randomAttempts : 0)).lazy.map { _ in Int.random(in: 0..<count) }
        let ordered = (0..<count).lazy.map { (start + $0) % count }
        return [AnySequence(random), AnySequence(ordered)].lazy.joined().map {
            UInt16(truncatingIfNeeded: lowest + $0 * step)
        }
    }
}

/// A bound port on its way to a worker, released when no worker takes it.
final class HeldSocket: Sendable {
    let port: UInt16
    let entry: PortTable.Entry
    private let descriptor: Int32
    private let isTaken = OnceFlag()

    init(_ socket: consuming DatagramSocket, port: UInt16, at entry: PortTable.Entry) {
        descriptor = socket.release()
        self.port = port
        self.entry = entry
    }

    deinit {
        if isTaken.set() {
            entry.ports.release(port)
            _ = DatagramSocket(adopting: descriptor)
        }
    }

    /// The socket, once.
    func take() -> DatagramSocket? {
        isTaken.set() ? DatagramSocket(adopting: descriptor) : nil
    }
}
