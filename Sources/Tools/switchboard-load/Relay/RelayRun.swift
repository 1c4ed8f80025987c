import BasicContainers
import DatagramIO
import Histogram
import OpenSSLCrypto
import Wire

/// Relays packets for some seconds: clients send to a peer of this program, which sends them back.
///
///     | channel (16) | length (16) | client (32) | sequence (64) | sent at, ns (64) | padding |
///
/// At a fixed rate, packets are distributed evenly over time and clients. Without a rate, each client keeps a window of
/// packets in flight, so that the relay is always busy and never flooded.
struct RelayRun: ~Copyable {
    private static let channel: UInt16 = 0x4000
    /// A pause after the last packet, for packets in flight.
    private static let graceNanoseconds: UInt64 = 500_000_000
    private static let peerTag = UInt64.max
    /// The maximum of packets that are sent between two reads.
    private static let burst = 2048
    /// Without a rate: the packets in flight of one client, and of all, which must fit into the sockets' buffers.
    private static let clientWindow = 32
    private static let window = 1024
    /// A client that receives nothing for this long has lost its window.
    private static let stallNanoseconds: UInt64 = 200_000_000

    private let seconds: Double
    private let interval: Double?
    private let processID: Int?
    private let buffers: LinkBuffers
    private let packet: SharedBuffer
    private let packetByteCount: Int
    private var clients: UniqueArray<RelayLoadClient>
    private let peer: DatagramSocket
    private let queue: EventQueue
    private var due: UInt64 = 0
    private var report: RelayReport
    private let bar = ProgressBar()

    /// Makes the allocations, one after the other.
    static func make(
        _ transport: LoadTransport, _ server: TransportAddress, credential: RelayCredential, allocations: Int,
        rate: Double, payload: Int, seconds: Double, processID: Int?
    ) throws -> RelayRun {
        _ = DescriptorLimit.raise()
        guard let authentication = OpenSSLAuthentication(), let seed = OpenSSLRandom.integer(), let queue = EventQueue()
        else {
            throw RelayLoadFailure(what: "no more memory or descriptors")
        }
        let local = server.address.isLoopback ? server.address : interfaceAddress(server.address.family)
        let peer = try DatagramSocket(TransportAddress(local, port: 0), .exclusive, receiveBuffer: 8 << 20)
        guard let peerAddress = peer.address, queue.watch(peer.descriptor, as: peerTag) else {
            throw RelayLoadFailure(what: "no socket for the peer")
        }
        let buffers = LinkBuffers()
        let maker = try LinkMaker(transport, server, buffers)
        let bar = ProgressBar()
        var clients = UniqueArray<RelayLoadClient>()
        do {
            for index in 0..<allocations {
                var client = try RelayLoadClient.connect(maker, credential, authentication, seed: seed &+ UInt64(index))
                _ = try client.allocate()
                clients.append(client)
                try clients[index].bind(channel, peerAddress)
                let descriptor = clients[index].link.descriptor
                guard
                    transport.isStream
                        ? queue.watchStream(descriptor, as: UInt64(index)) : queue.watch(descriptor, as: UInt64(index))
                else { throw RelayLoadFailure(what: "no more descriptors: raise ulimit -n") }
                bar.show(Double(index + 1) / Double(allocations), "allocating \(index + 1)/\(allocations)")
            }
        } catch {
            // Releases the allocations, which the server would keep for ten minutes.
            for index in 0..<clients.count { clients[index].release() }
            bar.clear()
            throw error
        }
        bar.clear()
        return RelayRun(
            clients, peer, queue, buffers,
            RelayReport(transport: transport, allocations: allocations, rate: rate, payload: payload),
            seconds: seconds, processID: processID)
    }

    private init(
        _ clients: consuming UniqueArray<RelayLoadClient>, _ peer: consuming DatagramSocket,
        _ queue: consuming EventQueue, _ buffers: LinkBuffers, _ report: RelayReport, seconds: Double, processID: Int?
    ) {
        self.clients = clients
        self.peer = peer
        self.queue = queue
        self.buffers = buffers
        self.report = report
        self.seconds = seconds
        self.processID = processID
        interval = report.rate > 0 ? 1e9 / (report.rate * Double(report.allocations)) : nil
        // Streams require the padding, datagrams allow it.
        packetByteCount = (report.payload + 4 + 3) & ~3
        packet = SharedBuffer(byteCount: packetByteCount)
        packet.bytes.initializeMemory(as: UInt8.self, repeating: 0x55)
        packet.bytes.storeBytes(of: Self.channel.bigEndian, as: UInt16.self)
        packet.bytes.storeBytes(
            of: UInt16(truncatingIfNeeded: report.payload).bigEndian, toByteOffset: 2, as: UInt16.self)
    }

    private static func interfaceAddress(_ family: IPAddress.Family) -> IPAddress {
        LocalAddresses.current().preferred.first { $0.family == family && !$0.isLoopback } ?? .any(family)
    }

    /// Loads the relay, and releases the allocations, also after an error.
    mutating func run() throws -> RelayReport {
        defer { for index in 0..<clients.count { clients[index].release() } }
        let before = try processID.map { try ProcessTimes(of: $0) }
        let ownBefore = try ProcessTimes(of: nil)
        let start = SystemClock.now().nanoseconds
        let end = start + UInt64(seconds * 1e9)
        var now = start
        while now < end + Self.graceNanoseconds {
            if interval != nil {
                sendDue(by: min(now, end), since: start)
            } else if now < end {
                fillWindows(now)
            }
            let count = queue.wait(milliseconds: 1)
            now = SystemClock.now().nanoseconds
            for index in 0..<count { try read(queue[index], now) }
            bar.show(min(1, Double(now - start) / (seconds * 1e9)), "\(report.sent) sent, \(report.received) back")
        }
        bar.clear()
        report.own = try ProcessTimes(of: nil).since(ownBefore)
        if let processID, let before { report.server = try ProcessTimes(of: processID).since(before) }
        report.seconds = seconds
        return report
    }

    /// Sends packets that are due; late ones at once. Several packets of one client are sent in a row, so that the
    /// kernel can batch them.
    private mutating func sendDue(by now: UInt64, since start: UInt64) {
        guard let interval else { return }
        let dueCount = min(UInt64(Double(now - start) / interval), due + UInt64(Self.burst))
        let count = UInt64(clients.count)
        while due < dueCount {
            let each = max(1, (dueCount - due) / count)
            let client = Int((due / each) % count)
            for _ in 0..<min(each, dueCount - due) { send(client) }
            due += min(each, dueCount - due)
        }
        flush()
    }

    private mutating func fillWindows(_ now: UInt64) {
        let window = max(1, min(Self.clientWindow, Self.window / clients.count))
        for index in 0..<clients.count {
            if clients[index].inFlight > 0, now > clients[index].lastReceivedAt + Self.stallNanoseconds {
                clients[index].inFlight = 0
            }
            guard clients[index].inFlight <= window / 2 else { continue }
            if clients[index].inFlight == 0 { clients[index].lastReceivedAt = now }
            while clients[index].inFlight < window, clients[index].link.canSend { send(index) }
        }
        flush()
    }

    private mutating func send(_ index: Int) {
        guard clients[index].link.canSend else {
            report.held += 1
            return
        }
        let bytes = packet.bytes
        bytes.storeBytes(of: UInt32(truncatingIfNeeded: index).bigEndian, toByteOffset: 4, as: UInt32.self)
        bytes.storeBytes(of: report.sent.bigEndian, toByteOffset: 8, as: UInt64.self)
        bytes.storeBytes(of: SystemClock.now().nanoseconds.bigEndian, toByteOffset: 16, as: UInt64.self)
        clients[index].link.send(UnsafeRawBufferPointer(bytes))
        if report.transport.isStream { clients[index].link.flush() }
        clients[index].inFlight += 1
        report.sent += 1
    }

    /// Sends the datagrams of all clients together.
    private func flush() { buffers.sending.flush() }

    private mutating func read(_ tag: UInt64, _ now: UInt64) throws {
        if tag == Self.peerTag { return reflect(now) }
        guard tag < UInt64(clients.count) else { return }
        let index = Int(tag)
        let link = clients[index].link
        var count = 0
        link.receive { message in
            guard message.bytes.integer(at: 0, as: UInt16.self) == Self.channel,
                let sentAt = message.bytes.integer(at: 16, as: UInt64.self)
            else { return }
            count += 1
            report.roundTrip.record(now > sentAt ? (now - sentAt) / 1000 : 0)
        }
        report.received += UInt64(count)
        if count > 0 {
            clients[index].inFlight = max(0, clients[index].inFlight - count)
            clients[index].lastReceivedAt = now
        }
        if let failure = link.failure {
            throw RelayLoadFailure(what: "\(failure), \(report.sent) packets into the run")
        }
    }

    /// The peer: measures the one-way latency and sends the packets back.
    private mutating func reflect(_ now: UInt64) {
        while true {
            let slots = buffers.received.receive(from: peer.descriptor, limit: ReceiveBatch.capacity)
            for slot in slots {
                let datagram = UnsafeRawBufferPointer(buffers.received.datagram(slot))
                guard let source = buffers.received.source(of: slot),
                    let sentAt = datagram.bytes.integer(at: 12, as: UInt64.self)
                else { continue }
                report.reached += 1
                report.oneWay.record(now > sentAt ? (now - sentAt) / 1000 : 0)
                buffers.sending.append(datagram, from: peer.descriptor, to: source)
            }
            flush()
            buffers.received.reset()
            if slots.count < ReceiveBatch.capacity { return }
        }
    }
}
