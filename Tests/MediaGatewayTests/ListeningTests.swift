import DatagramIO
import Gateway
import ICE
import SDP
import TestSupport
import Testing
import Wire

@testable import MediaGateway

/// The gateway when the addresses of the machine change.
@Suite("Listening on addresses that change")
struct ListeningTests {
    private let loopback = LoopbackAddresses()
    private var first: IPAddress { loopback.first }
    private var second: IPAddress { loopback.second }

    private func addresses(_ preferred: [IPAddress], used: [IPAddress] = []) -> LocalAddresses {
        var addresses = LocalAddresses(all: preferred + used, preferred: preferred)
        addresses.used += used
        return addresses
    }

    /// A port that is free on both addresses for UDP and TCP.
    private func freePort() throws -> UInt16 {
        for _ in 0..<100 {
            let socket = try DatagramSocket(TransportAddress(first, port: 0), .exclusive)
            guard let port = socket.address?.port,
                (try? StreamListener(TransportAddress(first, port: port), .exclusive)) != nil,
                (try? AddressSockets(TransportAddress(second, port: port))) != nil
            else { continue }
            return port
        }
        throw NoFreePort()
    }

    private struct NoFreePort: Error {}

    /// The addresses of the candidates.
    private func offered(_ answer: LegAnswer) throws -> Set<String> {
        let sections = try SessionDescription(parsing: answer.sdp).sections
        return Set(sections.flatMap(\.candidates).map(\.address))
    }

    @Test("answers offer a new address, and legs on the old one go on while it is kept")
    func added() async throws {
        let running = try RunningGateway(on: addresses([first]))
        defer { running.server.stop() }
        let ann = try LegClient("ann", ssrc: 11, to: running.address)
        let answer = try await running.answer(ann)
        #expect(try offered(answer) == [first.description])
        try ann.apply(answer)
        try await running.connect(ann)

        #expect(running.server.follow(addresses([second], used: [first])).isEmpty)
        #expect(Set(running.server.addresses.map(\.address)) == [first, second])
        let ben = try LegClient("ben", ssrc: 22, to: running.address)
        let later = try await running.answer(ben)
        #expect(try offered(later) == [second.description])
        try ben.apply(later)
        try await running.connect(ben)
        var words: [UInt8] = []
        try await running.wait("Ann and Ben to hear each other") {
            ann.sendAudio(1)
            ben.sendAudio(2)
            _ = (ann.takeAll(), ben.takeAll())
            words = [ann.received.last?.word ?? 0, ben.received.last?.word ?? 0]
            return words == [2, 1]
        }
        #expect(running.server.stats.packetsLost == 0)
    }

    @Test("a path at an address that is gone ends, and its leg goes on when ICE is restarted")
    func removed() async throws {
        let running = try RunningGateway(on: addresses([first])) { $0.workers = 2 }
        defer { running.server.stop() }
        let (ann, ben) = try (
            LegClient("ann", ssrc: 11, to: running.address), LegClient("ben", ssrc: 22, to: running.address)
        )
        try ann.apply(try await running.answer(ann))
        try await running.connect(ann)
        let old = running.server.addresses
        #expect(running.server.follow(addresses([second])).isEmpty)
        try await running.wait("the path to end, but not the leg") {
            running.server.stats.flows == 0 && running.server.stats.connectedLegs == 1
        }
        #expect(running.ends.isEmpty)
        // Somebody else may have the ports now, of both workers.
        try await running.wait("the ports to be free") {
            old.count == 4
                && old.allSatisfy {
                    (try? DatagramSocket($0, .exclusive)) != nil && (try? StreamListener($0, .exclusive)) != nil
                }
        }

        try ben.apply(try await running.answer(ben))
        try await running.connect(ben)
        ann.ufrag = "next"
        let restarted = try await running.answer(ann)
        #expect(try offered(restarted) == [second.description])
        try ann.apply(restarted)
        let responses = ann.responses
        ann.check(nominates: true)
        try await running.wait("an answer to the check") { ann.takeAll() >= 0 && ann.responses > responses }
        try await running.wait("Ben to hear Ann") {
            ann.sendAudio(7)
            return ben.takeAll() >= 0 && ben.received.last?.word == 7
        }
        #expect(running.ends.isEmpty)
    }

    @Test("an address that comes back in time has the same sockets")
    func returned() async throws {
        let running = try RunningGateway(on: addresses([first, second]))
        defer { running.server.stop() }
        let before = running.server.addresses
        #expect(running.server.follow(addresses([second], used: [first])).isEmpty)
        #expect(running.server.addresses == before)
        #expect(running.server.follow(addresses([first, second])).isEmpty)
        #expect(running.server.addresses == before)
    }

    @Test("connections to an address that is gone are closed")
    func streams() async throws {
        let running = try RunningGateway(on: addresses([first]))
        defer { running.server.stop() }
        let ann = try LegClient("ann", ssrc: 11, to: running.address)
        let answer = try await running.answer(ann)
        try ann.apply(answer)
        let section = try #require(try SessionDescription(parsing: answer.sdp).sections.first)
        let candidate = try #require(section.candidates.first { $0.transport == "tcp" })
        try ann.move(to: TransportAddress(first, port: candidate.port), isStream: true)
        try await running.connect(ann)
        let silent = try LegClient("ben", ssrc: 22, to: running.address)
        try silent.move(to: TransportAddress(first, port: candidate.port), isStream: true)
        try await running.wait("both connections") { running.server.stats.connections == 2 }
        #expect(running.server.follow(addresses([second])).isEmpty)
        try await running.wait("no connection") {
            running.server.stats.connections == 0 && running.server.stats.flows == 0
        }
    }

    @Test("an address whose port is taken is left out, and named")
    func taken() throws {
        let port = try freePort()
        // Taken on the second address alone.
        let other = try DatagramSocket(TransportAddress(second, port: port), .exclusive)
        let running = try RunningGateway(on: addresses([first])) { $0.port = port }
        defer { running.server.stop() }
        let failures = running.server.follow(addresses([first, second]))
        #expect(failures == ["gateway.port: UDP \(second):\(port) is taken by another program; choose another port"])
        #expect(Set(running.server.addresses.map(\.address)) == [first])
        _ = DatagramSocket(adopting: other.release())
        #expect(running.server.follow(addresses([first, second])).isEmpty)
        #expect(Set(running.server.addresses.map(\.address)) == [first, second])
    }

    @Test("a gateway that was stopped has no port any more")
    func stopped() throws {
        let running = try RunningGateway(on: addresses([first]))
        #expect(running.server.follow(addresses([first, second])).isEmpty)
        let before = running.server.addresses
        running.server.stop()
        #expect(before.count == 4)
        for address in before {
            _ = try DatagramSocket(address, .exclusive)
            _ = try StreamListener(address, .exclusive)
        }
    }

    @Test("addresses that are named stay, whatever the machine has")
    func named() throws {
        let running = try RunningGateway()
        defer { running.server.stop() }
        let before = running.server.addresses
        #expect(running.server.follow(addresses([second])).isEmpty)
        #expect(running.server.addresses == before)
    }
}
