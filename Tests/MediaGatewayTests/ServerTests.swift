import Gateway
import OpenSSLCrypto
import SDP
import SecureMedia
import Synchronization
import Testing
import Wire

@testable import MediaGateway

/// The whole gateway with its threads, over real sockets and in real time, so only what happens at once.
@Suite("The gateway's server")
struct ServerTests {
    @Test("an offer of another PeerConnection replaces the leg; one of the same goes on with it")
    func replaced() async throws {
        let running = try RunningGateway()
        defer { running.server.stop() }
        let ann = try LegClient("ann", ssrc: 11, to: running.address)
        let first = try await running.answer(ann)
        try ann.apply(first)
        try await running.connect(ann)
        // The same PeerConnection again keeps its credentials, with others of its own it gets others.
        #expect(try await running.answer(ann).ufrag == first.ufrag)
        ann.ufrag = "next"
        let second = try await running.answer(ann)
        #expect(second.ufrag != first.ufrag)
        let successor = try LegClient("ann", ssrc: 12, to: running.address)
        try successor.apply(try await running.answer(successor))
        try await running.wait("the goodbye") {
            _ = ann.takeAll()
            return ann.outcomes == [.closed] && running.ends == [.replaced]
        }
        try await running.connect(successor)
        running.server.end(LegKey(call: "call", participant: "ann"))
        try await running.waitUntilEmpty()
        #expect(running.ends == [.replaced, .left])
    }

    @Test("ending a leg while its offer is answered leaves nothing behind", arguments: 1...3)
    func endInBetween(seed: UInt64) async throws {
        let running = try RunningGateway()
        defer { running.server.stop() }
        let server = running.server
        for round in 0..<100 {
            let ann = try LegClient("ann \(round % 3)", ssrc: 11, to: running.address)
            let offer = LegOffer(key: LegKey(call: "call", participant: ann.name), sdp: ann.offer)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await server.answer(offer) }
                group.addTask { server.end(offer.key) }
                group.addTask { _ = try? await server.answer(offer) }
            }
            server.end(offer.key)
        }
        try await running.waitUntilEmpty()
    }

    @Test("a warning tells the operator when send buffers are too small, and what to set")
    func sendBuffer() throws {
        let warning = GatewayServer.warning(ofSendBuffer: 425_984)
        #expect(warning?.contains("425984 bytes") ?? false)
        #expect(warning?.contains("net.core.wmem_max to 1048576") ?? false)
        #expect(GatewayServer.warning(ofSendBuffer: 1_048_576) == nil)
        let running = try RunningGateway()
        defer { running.server.stop() }
        let granted = running.server.sendBuffer
        #expect(granted > 0 && (running.server.warning != nil) == (granted < 1_048_576))
    }

    @Test("loopback is bound where it is named, or where there is nothing else")
    func localAddresses() throws {
        let own = try ["127.0.0.1", "::1", "192.0.2.7", "2001:db8::7"].map { try #require(IPAddress($0)) }
        let (four, six) = (IPAddress(ipv4: 0), try #require(IPAddress("::")))
        func local(_ listen: [IPAddress], of own: [IPAddress]) -> [IPAddress] {
            var configuration = GatewayConfiguration()
            configuration.listen = listen
            return configuration.localAddresses(own)
        }
        #expect(local([], of: own) == [own[2], own[3]])
        #expect(local([], of: [own[0], own[1]]) == [own[0], own[1]])
        #expect(local([four], of: own) == [own[2]])
        #expect(local([six], of: [own[0], own[1]]) == [own[1]])
        #expect(local([own[0]], of: own) == [own[0]])
        #expect(local([four, own[0]], of: own) == [own[0], own[2]])
        #expect(local([four, own[0]], of: [own[0]]) == [own[0]])
        #expect(local([], of: []).isEmpty)
    }

    @Test("each thread has its share of the connections", arguments: [(nil, nil), (8, 2), (9, 2), (1, 1)])
    func connectionShare(all: Int?, each: Int?) {
        var configuration = GatewayConfiguration()
        configuration.workers = 4
        configuration.connections = all
        #expect(configuration.workerConnections == each)
    }

    @Test("offers that cannot be answered leave no record, and say why")
    func badOffers() async throws {
        let running = try RunningGateway { $0.legs = 3 }
        defer { running.server.stop() }
        let ann = try LegClient("ann", ssrc: 11, to: running.address)
        for index in 0..<10 {
            let key = LegKey(call: "call \(index)", participant: "ann")
            let bad = ann.offer.split(separator: "\r\n").filter { !$0.hasPrefix("a=fingerprint") }.joined(
                separator: "\r\n")
            await #expect(throws: LegRejection.self) { try await running.server.answer(LegOffer(key: key, sdp: bad)) }
        }
        for index in 0..<3 {
            _ = try await running.server.answer(
                LegOffer(key: LegKey(call: "call \(index)", participant: "ann"), sdp: ann.offer))
        }
        let key = LegKey(call: "another", participant: "ann")
        await #expect(throws: LegRejection.full) { try await running.server.answer(LegOffer(key: key, sdp: ann.offer)) }
    }
}
