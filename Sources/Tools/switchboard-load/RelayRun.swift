import BasicContainers
import DatagramIO
import Histogram
import OpenSSLCrypto
import Wire

/// Relays packets for some seconds: clients send to a peer of this program, which sends them back.
///
///     | channel (16) | length (16) | client (32) | sequence (64) | sent at, ns (64) | padding |
struct RelayRun: ~Copyable {
    private static let channel: UInt16 = 0x4000
    /// A pause after the last packet, for those still under way.
    private static let graceNanoseconds: UInt64 = 500_000_000
    private static let peerTag = UInt64.max

    private let server: TransportAddress
    private let seconds: Double
    private let payload: Int
    private let interval: Double
    private let processID: Int?
    private var clients: UniqueArray<RelayClientSocket>
    private let peer: DatagramSocket
    private let queue: EventQueue
    private var received = ReceiveBatch()
    private var sending = SendBatch()
    private var report: RelayReport
    private let bar = ProgressBar()

    /// Makes the allocations, one after the other.
    static func make(
        _ server: TransportAddress, credential: RelayCredential, allocations: Int, rate: Double, payload: Int,
        seconds: Double, processID: Int?
    ) throws -> RelayRun {
        _ = DescriptorLimit.raise()
        guard let authentication = OpenSSLAuthentication(), let seed = OpenSSLRandom.integer(), let queue = EventQueue()
        else {
            throw RelayLoadFailure(what: "no more memory or descriptors")
        }
        let local = server.address.isLoopback ? server.address : outwardAddress(server.address.family)
        let peer = try DatagramSocket(TransportAddress(local, port: 0), .exclusive, receiveBuffer: 8 << 20)
        guard let peerAddress = peer.address, queue.watch(peer.descriptor, as: peerTag) else {
            throw RelayLoadFailure(what: "no socket for the peer")
        }
        let bar = ProgressBar()
        var clients = UniqueArray<RelayClientSocket>()
        for index in 0..<allocations {
            var client = try RelayClientSocket(server, credential, authentication, seed: seed &+ UInt64(index))
            _ = try client.allocate()
            try client.bind(channel, peerAddress)
            guard queue.watch(client.socket.descriptor, as: UInt64(index)) else {
                throw RelayLoadFailure(what: "no more descriptors: raise ulimit -n")
            }
            clients.append(client)
            bar.show(Double(index + 1) / Double(allocations), "allocating \(index + 1)/\(allocations)")
        }
        return RelayRun(
            server, clients, peer, queue, RelayReport(allocations: allocations, rate: rate, payload: payload),
            seconds: seconds, processID: processID)
    }

    private init(
        _ server: TransportAddress, _ clients: consuming UniqueArray<RelayClientSocket>,
        _ peer: consuming DatagramSocket,
        _ queue: consuming EventQueue, _ report: RelayReport, seconds: Double, processID: Int?
    ) {
        self.server = server
        self.clients = clients
        self.peer = peer
        self.queue = queue
        self.report = report
        self.seconds = seconds
        self.processID = processID
        payload = report.payload
        interval = 1e9 / (report.rate * Double(report.allocations))
    }

    private static func outwardAddress(_ family: IPAddress.Family) -> IPAddress {
        InterfaceAddresses.all().first { $0.family == family && !$0.isLoopback } ?? .any(family)
    }

    mutating func perform() throws -> RelayReport {
        let before = try processID.map { try ProcessTimes(of: $0) }
        let start = SystemClock.now().nanoseconds
        let end = start + UInt64(seconds * 1e9)
        var now = start
        while now < end + Self.graceNanoseconds {
            sendDue(by: min(now, end), since: start)
            let count = queue.wait(milliseconds: 1)
            now = SystemClock.now().nanoseconds
            for index in 0..<count { read(queue[index], now) }
            flush()
            bar.show(min(1, Double(now - start) / (seconds * 1e9)), "\(report.sent) sent, \(report.received) back")
        }
        bar.clear()
        if let processID, let before { report.server = try ProcessTimes(of: processID).since(before) }
        for index in 0..<clients.count { clients[index].release() }
        report.seconds = seconds
        return report
    }

    /// Packets are spread evenly over time and clients; what is late is sent at once.
    private mutating func sendDue(by now: UInt64, since start: UInt64) {
        let due = UInt64(Double(now - start) / interval)
        while report.sent < due {
            let client = Int(report.sent % UInt64(clients.count))
            var bytes: [UInt8] = []
            bytes.reserveCapacity(payload + 4)
            bytes.append(bigEndian: Self.channel)
            bytes.append(bigEndian: UInt16(truncatingIfNeeded: payload))
            bytes.append(bigEndian: UInt32(truncatingIfNeeded: client))
            bytes.append(bigEndian: report.sent)
            bytes.append(bigEndian: SystemClock.now().nanoseconds)
            bytes += [UInt8](repeating: 0x55, count: max(0, payload + 4 - bytes.count))
            sending.appendCopy(bytes.span.bytes, from: clients[client].socket.descriptor, to: server)
            report.sent += 1
        }
        sending.flush()
    }

    private mutating func read(_ tag: UInt64, _ now: UInt64) {
        let isPeer = tag == Self.peerTag
        guard isPeer || tag < UInt64(clients.count) else { return }
        let descriptor = isPeer ? peer.descriptor : clients[Int(tag)].socket.descriptor
        while true {
            if received.used == ReceiveBatch.capacity { flush() }
            let wanted = ReceiveBatch.capacity - received.used
            let slots = received.receive(from: descriptor, limit: wanted)
            for slot in slots { isPeer ? reflect(slot, now) : finish(slot, now) }
            if slots.count < wanted { return }
        }
    }

    /// The peer: measures the way here and sends the packet back.
    private mutating func reflect(_ slot: Int, _ now: UInt64) {
        let datagram = UnsafeRawBufferPointer(received.datagram(slot))
        guard let source = received.source(of: slot), let sentAt = datagram.bytes.integer(at: 12, as: UInt64.self)
        else {
            return
        }
        report.reached += 1
        report.oneWay.record(now > sentAt ? (now - sentAt) / 1000 : 0)
        sending.append(datagram, from: peer.descriptor, to: source)
    }

    private mutating func finish(_ slot: Int, _ now: UInt64) {
        let datagram = UnsafeRawBufferPointer(received.datagram(slot))
        guard datagram.bytes.integer(at: 0, as: UInt16.self) == Self.channel,
            let sentAt = datagram.bytes.integer(at: 16, as: UInt64.self)
        else { return }
        report.received += 1
        report.roundTrip.record(now > sentAt ? (now - sentAt) / 1000 : 0)
    }

    private mutating func flush() {
        sending.flush()
        received.reset()
    }
}
