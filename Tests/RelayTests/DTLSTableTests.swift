import BasicContainers
import DTLS
import OpenSSLCrypto
import TURN
import Testing
import Wire

@testable import Relay

@Suite("The table of DTLS sessions")
struct DTLSTableTests {
    @Test("places are bounded for each source and for handshakes under way")
    func bounds() throws {
        let lab = try TableLab(limit: 10_000)
        for port in 1...200 as ClosedRange<UInt16> { _ = try lab.begin(TableLab.flow(port)) }
        #expect(lab.count == 128)
        for address in 2...20 as ClosedRange<UInt32> {
            for port in 1...100 as ClosedRange<UInt16> { _ = try lab.begin(TableLab.flow(port, address: address)) }
        }
        #expect(lab.count == 512)
        #expect(lab.tally.refused == UInt64(200 + 1900 - 512))
        // All time out, and the places are free again.
        lab.now = lab.now.adding(seconds: 15)
        for place in lab.due() {
            #expect(!lab.retransmit(place))
            #expect(lab.end(place, .failed))
        }
        #expect(lab.count == 0 && lab.handshakeCount == 0)
        #expect(try lab.begin(TableLab.flow(1)) == .welcome)
    }

    @Test("limits that change hold for what exists, too")
    func changed() throws {
        let lab = try TableLab(limit: 10_000)
        #expect(try lab.begin(TableLab.flow(1)) == .welcome)
        lab.table.limits.handshakes = 8
        #expect(try lab.begin(TableLab.flow(2)) == .welcome)
        #expect(try lab.begin(TableLab.flow(3)) == .refused)
        lab.table.limits.handshakeSeconds = 2
        lab.now = lab.now.adding(seconds: 2)
        #expect(lab.due().count == 2)
        for place in lab.due() { #expect(!lab.retransmit(place)) }
        lab.table.limits.handshakesPerSecond = 1
        lab.table.limits.handshakesAtOnce = 1
        #expect(try lab.begin(TableLab.flow(4, address: 2)) == .welcome)
        #expect(try lab.begin(TableLab.flow(5, address: 3)) == .refused)
    }

    @Test("established sessions of one source are bounded too")
    func established() throws {
        let lab = try TableLab(limit: 10_000)
        for port in 1...300 as ClosedRange<UInt16> {
            let client = try lab.client(TableLab.flow(port))
            #expect(lab.establish(client), "\(port)")
        }
        #expect(try lab.begin(TableLab.flow(60_000)) == .refused)
        #expect(try lab.begin(TableLab.flow(60_000, address: 2)) == .welcome)
    }

    @Test("a full table gives the place of somebody old enough, and counts again")
    func eviction() throws {
        let lab = try TableLab(limit: 2)
        for port in 1...2 as ClosedRange<UInt16> {
            let client = try lab.client(TableLab.flow(port))
            #expect(lab.establish(client))
        }
        #expect(try lab.begin(TableLab.flow(3)) == .full)
        #expect(lab.candidate() == nil)
        lab.now = lab.now.adding(seconds: 10)
        let one = try #require(lab.candidate())
        let two = try #require(lab.candidate())
        #expect(one != two)
        #expect(lab.end(one, .idle))
        #expect(lab.count == 1)
        #expect(try lab.begin(TableLab.flow(3)) == .welcome)
        #expect(lab.count == 2)
    }

    @Test("a session is asked after a minute whether it is of use, and its buffers go before")
    func idle() throws {
        let lab = try TableLab(limit: 10)
        let client = try lab.client(TableLab.flow(1))
        #expect(lab.establish(client))
        let place = try #require(lab.current(client.flow))
        for _ in 0..<59 {
            lab.now = lab.now.adding(seconds: 1)
            #expect(lab.sweep().isEmpty)
        }
        #expect(!lab.hasBuffers(place))
        lab.now = lab.now.adding(seconds: 1)
        #expect(lab.sweep() == [place])
        lab.table.noteUseful(place, at: lab.now)
        lab.now = lab.now.adding(seconds: 1)
        #expect(lab.sweep().isEmpty)
        // Words still get through.
        #expect(lab.say([1, 2, 3], client) == [1, 2, 3])
        #expect(lab.hasBuffers(place))
    }

    @Test("the same hello again changes nothing, another one makes a successor that takes over when it is through")
    func successors() throws {
        let lab = try TableLab(limit: 10)
        let flow = TableLab.flow(1)
        let first = try lab.client(flow)
        #expect(lab.establish(first))
        #expect(lab.receive(first.hello, on: flow) == .known)
        let place = try #require(lab.current(flow))

        // Two that never get through; the second pushes out the first.
        #expect(try lab.begin(flow) == .welcome)
        #expect(try lab.begin(flow) == .welcome)
        #expect(lab.count == 2)
        #expect(lab.current(flow) == place)
        #expect(lab.say([7], first) == [7])

        let second = try lab.client(flow)
        #expect(lab.establish(second))
        #expect(lab.count == 1)
        #expect(lab.tally.replaced == 1)
        #expect(lab.current(flow) != place)
        #expect(lab.say([8], second) == [8])
        #expect(lab.say([9], first) == nil)
        let last = try #require(lab.current(flow))
        #expect(lab.end(last, .closed))
        #expect(lab.count == 0 && lab.current(flow) == nil)
    }

    @Test("a session of which the other side repeats its Finished for ever stops listening")
    func repeats() throws {
        let lab = try TableLab(limit: 10)
        let client = try lab.client(TableLab.flow(1))
        #expect(lab.establish(client))
        let place = try #require(lab.current(client.flow))
        for number in 0..<20 {
            let finished =
                [22, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 1, UInt8(number), 0, 48] + [UInt8](repeating: 3, count: 48)
            #expect(lab.take(finished, place) == (number < 8 ? .nothing : nil))
        }
        #expect(lab.say([1], client) == [1])
    }

    @Test("handshakes stop at their share of the time")
    func budget() throws {
        let lab = try TableLab(limit: 10)
        #expect(try lab.begin(TableLab.flow(9)) == .welcome)
        lab.table.noteWork(nanoseconds: 250_000_000)
        #expect(try lab.begin(TableLab.flow(1)) == .refused)
        lab.now = lab.now.adding(nanoseconds: 100_000_000)
        #expect(try lab.begin(TableLab.flow(2)) == .welcome)
        lab.table.noteWork(nanoseconds: 25_000_000)
        #expect(try lab.begin(TableLab.flow(3)) == .refused)
        lab.now = lab.now.adding(seconds: 100)
        #expect(try lab.begin(TableLab.flow(6)) == .welcome)
        lab.table.noteWork(nanoseconds: 249_000_000)
        #expect(try lab.begin(TableLab.flow(4)) == .welcome)
        lab.table.noteWork(nanoseconds: 1_000_000)
        #expect(try lab.begin(TableLab.flow(5)) == .refused)
    }
}

/// A table, its clock, and clients whose wire is an array.
private final class TableLab {
    final class Client {
        let flow: Flow
        let exchange = DTLSExchange()
        var session: DTLSSession?
        /// The datagram with the cookie.
        var hello: [UInt8] = []

        init(_ flow: Flow) { self.flow = flow }

        func takeOutput() -> [[UInt8]] {
            defer { exchange.removeAll() }
            return (0..<exchange.count).map { Array(exchange[$0]) }
        }
    }

    var table: DTLSTable
    var now = Instant(nanoseconds: 1_000_000_000_000)
    private let clientContext: DTLSContext
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)

    init(limit: Int) throws {
        let key = Array("key".utf8)
        let authentication = try #require(OpenSSLAuthentication())
        let context = try #require(DTLSContext.server(try ServerCertificate.forTests()))
        clientContext = try #require(DTLSContext.client(authorities: nil))
        var limits = DTLSLimits()
        limits.sessions = limit
        limits.sessionsPerSource = 300
        limits.handshakesPerSecond = 0
        table = DTLSTable(
            HelloDoor(cookies: CookieMint(key: Digest(key.span.bytes)), authentication: authentication), context,
            limits, seed: 1)
    }

    deinit { buffer.deallocate() }

    static func flow(_ port: UInt16, address: UInt32 = 1) -> Flow {
        Flow(
            .dtls, local: TransportAddress(IPAddress(ipv4: 0x0A00_0001), port: 3478),
            remote: TransportAddress(IPAddress(ipv4: 0x0101_0000 + address), port: port))
    }

    // What expectations ask: they cannot look into noncopyable values.
    var count: Int { table.count }
    var handshakeCount: Int { table.handshakeCount }
    var tally: DTLSTally { table.tally }
    func current(_ flow: Flow) -> Int? { table.places(of: flow)?.current }
    func hasBuffers(_ place: Int) -> Bool { table.places[place].hasBuffers }
    func end(_ place: Int, _ end: DTLSEnd) -> Bool { table.end(place, end) }
    func retransmit(_ place: Int) -> Bool { table.retransmit(place, at: now) }
    func candidate() -> Int? { table.candidateForEviction(at: now) }
    func sweep() -> [Int] { table.sweep(at: now) }
    func due() -> [Int] { table.dueHandshakes(at: now) }

    /// A client that has its cookie.
    func client(_ flow: Flow) throws -> Client {
        let client = Client(flow)
        client.session = DTLSSession.greeting("localhost", clientContext, client.exchange)
        let first = try #require(client.takeOutput().first)
        guard case .unproven(let hello) = table.door.receive(first.span.bytes, on: flow, at: now),
            let answer = table.door.challenge(hello, of: first.span.bytes, at: now)
        else {
            Issue.record("no answer to a hello")
            return client
        }
        _ = answer.withUnsafeBytes { client.session?.take($0, into: buffer) }
        client.hello = try #require(client.takeOutput().first)
        return client
    }

    func receive(_ datagram: [UInt8], on flow: Flow) -> DTLSTable.Admission {
        guard case .proven(let hello) = table.door.receive(datagram.span.bytes, on: flow, at: now) else {
            Issue.record("not let in")
            return .refused
        }
        let admission = table.admit(hello, on: flow, at: now)
        if case .welcome = admission { table.begin(hello, on: flow, at: now) }
        return admission
    }

    /// A client that says hello with its cookie, and is not heard of again.
    func begin(_ flow: Flow) throws -> DTLSTable.Admission {
        defer { table.exchange.removeAll() }
        return receive(try client(flow).hello, on: flow)
    }

    /// Carries a client's handshake to its end.
    func establish(_ client: Client) -> Bool {
        guard receive(client.hello, on: client.flow) == .welcome else { return false }
        while true {
            var answers: [[UInt8]] = []
            for index in 0..<table.exchange.count { answers.append(Array(table.exchange[index])) }
            table.exchange.removeAll()
            if answers.isEmpty { return false }
            for answer in answers { _ = answer.withUnsafeBytes { client.session?.take($0, into: buffer) } }
            if client.session?.phase == .established { return true }
            for datagram in client.takeOutput() { _ = give(datagram, client.flow) }
        }
    }

    /// What the table reads of a datagram.
    private func give(_ datagram: [UInt8], _ flow: Flow) -> [UInt8]? {
        var heard: [UInt8]?
        var bytes = datagram
        var offset = 0
        while let record = RecordHeader(bytes.span.bytes, at: offset) {
            offset = record.body.upperBound
            guard let places = table.places(of: flow) else { return nil }
            for place in [places.current] + (places.successor.map { [$0] } ?? []) {
                let reading = bytes.withUnsafeMutableBytes { table.take(record, of: $0, to: place, at: now) }
                _ = table.noteEstablished(place, at: now)
                if case .data(let count) = reading { heard = Array(bytes[record.whole].prefix(count)) }
            }
        }
        return heard
    }

    func take(_ datagram: [UInt8], _ place: Int) -> DTLSSession.Reading? {
        var bytes = datagram
        guard let record = RecordHeader(bytes.span.bytes, at: 0) else { return .failed }
        return bytes.withUnsafeMutableBytes { table.take(record, of: $0, to: place, at: now) }
    }

    /// What arrives of a client's words.
    func say(_ words: [UInt8], _ client: Client) -> [UInt8]? {
        _ = words.withUnsafeBytes { client.session?.write($0) }
        return client.takeOutput().compactMap { give($0, client.flow) }.first
    }
}
