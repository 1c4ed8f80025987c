import Relay
import STUN
import TURN
import Testing
import Wire

@Suite("The relay on real sockets")
struct RelayServerTests {
    private static let loopback = IPAddress(ipv4: 0x7F00_0001)
    private static let loopbackIPv6 = IPAddress(ipv6High: 0, low: 1)

    @Test("a channel and indications carry packets both ways", arguments: [false, true])
    func relays(isIPv6: Bool) throws {
        let running = try RunningRelay { if isIPv6 { $0.listen = [Self.loopbackIPv6] } }
        let client = try RelayClient(running.address)
        let peer = try TestSocket(running.address.address)
        let relayed = try client.allocate { writer in
            if isIPv6 { writer.append(.requestedAddressFamily, integer: UInt32(2) << 24) }
        }.get()

        #expect(try client.permit(peer.address) == nil)
        client.send([1, 2, 3], to: peer.address)
        let fromClient = try #require(peer.receive())
        #expect(fromClient.bytes == [1, 2, 3])
        #expect(fromClient.source == relayed)

        peer.send([4, 5], to: relayed)
        let indication = try #require(client.socket.receive()).bytes
        let message = try Message(indication.span.bytes)
        #expect(message.type == MessageType(.indication, .data))
        let content = (message.xorAddress(.xorPeerAddress), message.attribute(.data)?.copyToArray())
        #expect(content.0 == peer.address)
        #expect(content.1 == [4, 5])

        #expect(try client.bind(0x4001, peer.address) == nil)
        client.sendChannel(0x4001, [6])
        #expect(peer.receive()?.bytes == [6])
        peer.send([7, 8], to: relayed)
        #expect(client.socket.receive()?.bytes == [0x40, 0x01, 0, 2, 7, 8])
        #expect(running.waits { $0.packetsToPeers == 2 && $0.packetsToClients == 2 && $0.allocationsLive == 1 })
        #expect(running.waits { $0.bytesToPeers == 4 && $0.bytesToClients == 4 })
    }

    @Test("two relayed clients reach each other, and nobody reaches other own ports")
    func relayToRelay() throws {
        let running = try RunningRelay {
            $0.allowedPeers = []
            $0.deniedOwnPorts = [8080]
        }
        let alice = try RelayClient(running.address)
        let bob = try RelayClient(running.address, username: "bob", password: "builder")
        let aliceRelay = try alice.allocate().get()
        let bobRelay = try bob.allocate().get()
        #expect(try alice.bind(0x4000, bobRelay) == nil)
        #expect(try bob.bind(0x4000, aliceRelay) == nil)
        alice.sendChannel(0x4000, [1])
        #expect(bob.socket.receive()?.bytes == [0x40, 0, 0, 1, 1])
        bob.sendChannel(0x4000, [2])
        #expect(alice.socket.receive()?.bytes == [0x40, 0, 0, 1, 2])

        for port in [8080, running.address.port, 53, alice.socket.address.port] {
            #expect(try alice.bind(0x4001, TransportAddress(Self.loopback, port: port)) == 403)
            #expect(try alice.permit(TransportAddress(Self.loopback, port: port)) == 403)
        }
        #expect(try bob.refresh(lifetime: 0) == nil)
        #expect(try alice.permit(bobRelay) == 403)
        #expect(try alice.bind(0x4000, bobRelay) == 403)
    }

    @Test("ports, charges and reservations are all released")
    func returned() throws {
        // Below the kernel's own range (from 32768), from which any socket of the machine may have one of them.
        let running = try RunningRelay {
            $0.minPort = 21_000
            $0.maxPort = 21_019
            $0.limits.allocationsPerUser = 100
        }
        var clients: [RelayClient] = []
        for _ in 0..<20 {
            let client = try RelayClient(running.address)
            #expect(throws: Never.self) { try client.allocate().get() }
            clients.append(client)
        }
        let late = try RelayClient(running.address)
        #expect(try late.allocate() == .failure(RelayClient.Refused(number: 508)))
        for client in clients { #expect(try client.refresh(lifetime: 0) == nil) }
        #expect(running.server.outstanding == (0, 0))
        let pair = try late.allocate { $0.append(.evenPort, integer: UInt8(0x80)) }.get()
        #expect(pair.port % 2 == 0)
        #expect(running.server.outstanding == (1, 1))
    }

    @Test("a reserved port is claimed once, by any client of the user, on whichever worker it lands")
    func reservation() throws {
        let running = try RunningRelay { $0.workers = 4 }
        for _ in 0..<8 {
            let first = try RelayClient(running.address)
            let bytes = try first.exchange(.allocate) { writer in
                writer.append(.requestedTransport, integer: UInt32(17) << 24)
                writer.append(.evenPort, integer: UInt8(0x80))
            }
            let message = try Message(bytes.span.bytes)
            let port = try #require(message.xorAddress(.xorRelayedAddress)?.port)
            let reserved = message.attribute(.reservationToken)?.integer(at: 0, as: UInt64.self)
            let token = try #require(reserved)
            let other = try RelayClient(running.address, username: "bob", password: "builder")
            #expect(
                try other.allocate { $0.append(.reservationToken, integer: token) }
                    == .failure(RelayClient.Refused(number: 508)))
            let second = try RelayClient(running.address)
            #expect(try second.allocate { $0.append(.reservationToken, integer: token) }.get().port == port + 1)
            let third = try RelayClient(running.address)
            #expect(
                try third.allocate { $0.append(.reservationToken, integer: token) }
                    == .failure(RelayClient.Refused(number: 508)))
        }
        #expect(running.server.outstanding == (16, 0))
    }

    @Test("quotas hold across workers")
    func quotas() throws {
        let running = try RunningRelay {
            $0.workers = 4
            $0.limits.allocationsPerUser = 5
            $0.limits.allocations = 8
        }
        let clients = try (0..<12).map { index in
            try RelayClient(
                running.address, username: index < 6 ? "alice" : "bob", password: index < 6 ? "wonderland" : "builder")
        }
        let results = try clients.map { try $0.allocate() }
        #expect(results[..<6].count { $0 == .failure(RelayClient.Refused(number: 486)) } == 1)
        #expect(results[6...].count { $0 == .failure(RelayClient.Refused(number: 508)) } == 3)
        #expect(running.server.outstanding.allocations == 8)
    }

    @Test("a family that the server does not have is 440")
    func family() throws {
        let running = try RunningRelay()
        let client = try RelayClient(running.address)
        #expect(
            try client.allocate { $0.append(.requestedAddressFamily, integer: UInt32(2) << 24) }
                == .failure(RelayClient.Refused(number: 440)))
        #expect(running.server.outstanding.allocations == 0)
    }

    @Test("ephemeral credentials work until they are revoked")
    func ephemeral() throws {
        let running = try RunningRelay()
        let made = EphemeralCredential.make(
            secret: "a secret of the tests", user: "U1", call: "C1", expiresAt: 4_000_000_000)
        let credential = try #require(made)
        let client = try RelayClient(running.address, username: credential.username, password: credential.password)
        #expect(throws: Never.self) { try client.allocate().get() }
        running.server.revoke(call: "C2")
        running.server.revoke(call: "C1")
        #expect(running.waits { $0.allocationsRevoked == 1 && $0.allocationsLive == 0 })
        #expect(running.server.outstanding.allocations == 0)
        #expect(try client.refresh(lifetime: 600) == 437)
    }

    @Test("external addresses are advertised, and relayed back")
    func external() throws {
        let running = try RunningRelay {
            $0.allowedPeers = []
            $0.externalAddresses = [ExternalAddress(IPAddress(ipv4: 0x2D00_0001))]
        }
        let alice = try RelayClient(running.address)
        let bob = try RelayClient(running.address)
        let aliceRelay = try alice.allocate().get()
        let bobRelay = try bob.allocate().get()
        #expect(bobRelay.address.description == "45.0.0.1")
        #expect(try alice.permit(bobRelay) == nil)
        #expect(try bob.permit(aliceRelay) == nil)
        alice.send([1], to: bobRelay)
        let indication = try #require(bob.socket.receive()).bytes
        let message = try Message(indication.span.bytes)
        let from = message.xorAddress(.xorPeerAddress)
        #expect(from == aliceRelay)
    }

    @Test("an error names a taken port, and what to do")
    func takenPort() throws {
        let running = try RunningRelay()
        var configuration = RelayConfiguration()
        configuration.listen = [Self.loopback]
        configuration.port = running.address.port
        let second = try RelayServer(configuration: configuration)
        let error = #expect(throws: RelayError.self) { try second.start() }
        #expect(error?.description.contains("relay.port") == true)
        #expect(error?.description.contains("\(running.address.port)") == true)
    }

    @Test("an error names an invalid setting")
    func badSettings() {
        let changes: [(String, (inout RelayConfiguration) -> Void)] = [
            (
                "relay.minPort",
                {
                    $0.minPort = 60_000; $0.maxPort = 50_000
                }
            ), ("relay.realm", { $0.realm = "" }),
            ("relay.users", { $0.users = ["x": ""] }), ("relay.secrets", { $0.secrets = ["short"] }),
            ("relay.externalAddress", { $0.externalAddresses = [ExternalAddress(IPAddress(ipv4: 0))] }),
        ]
        for (key, change) in changes {
            var configuration = RelayConfiguration()
            change(&configuration)
            let error = #expect(throws: RelayError.self) { _ = try RelayServer(configuration: configuration) }
            #expect(error?.description.hasPrefix(key) == true)
        }
        var configuration = RelayConfiguration()
        configuration.listen = [IPAddress(ipv4: 0x0808_0808)]
        let error = #expect(throws: RelayError.self) { try RelayServer(configuration: configuration).start() }
        #expect(error?.description.hasPrefix("relay.listen") == true)
    }
}
