import STUN
import TURN
import Testing
import Wire

@Suite("Allocations")
struct AllocationTests {
    @Test("Binding returns the client its address, without credentials")
    func binding() throws {
        let harness = try RelayHarness()
        let client = TestClient()
        let response = try Response(harness.receive(client.request(.binding, harness, signed: false), on: client.flow))
        #expect(response.isSuccess)
        #expect(response.mapped == client.flow.remote)
        #expect(response.bytes.count == 32)
    }

    @Test("are made with the relay's advertised address, lifetime and the client's address, signed")
    func made() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        let response = try client.allocate(harness)
        #expect(response.isSuccess)
        #expect(response.relayed?.address == RelayHarness.external)
        #expect(response.lifetime == 600)
        #expect(response.mapped == client.flow.remote)
        #expect(response.isSigned(by: client, .sha1, harness))
        #expect(harness.liveAllocations == 1)
    }

    @Test("a retransmission gets the same response and allocates nothing twice")
    func retransmission() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        try client.fetchNonce(harness)
        let transaction = TestClient.nextTransaction()
        let first = try client.allocate(harness, transaction: transaction)
        harness.advance(seconds: 3)
        let second = try client.allocate(harness, transaction: transaction)
        #expect(first.bytes == second.bytes)
        #expect(harness.liveAllocations == 1)
        #expect(harness.bound.count == 1)
    }

    @Test("a second Allocate on the flow is a mismatch")
    func mismatch() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness)
        #expect(try client.allocate(harness).error == 437)
        #expect(harness.liveAllocations == 1)
    }

    @Test(
        "lifetimes are kept between 10 minutes and an hour",
        arguments: [
            (nil, 600), (0, 600), (1, 600), (600, 600), (777, 777), (3600, 3600), (.max, 3600),
        ] as [(UInt32?, UInt32)])
    func lifetimes(requested: UInt32?, granted: UInt32) throws {
        let harness = try RelayHarness()
        var client = TestClient()
        let response = try client.allocate(harness) { writer in
            if let requested { writer.append(.lifetime, integer: requested) }
        }
        #expect(response.lifetime == granted)
        if requested != 0 {
            #expect(try client.refresh(harness, lifetime: requested).lifetime == granted)
        }
        harness.advance(seconds: granted - 1)
        #expect(harness.liveAllocations == 1)
        harness.advance(seconds: 1)
        #expect(harness.liveAllocations == 0)
        #expect(harness.relays.count == 0)
    }

    @Test("a Refresh of 0 ends it, and what follows is a mismatch")
    func ended() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness)
        let response = try client.refresh(harness, lifetime: 0)
        #expect(response.isSuccess)
        #expect(response.lifetime == 0)
        #expect(harness.liveAllocations == 0)
        #expect(harness.relays.count == 0)
        #expect(try client.refresh(harness, lifetime: 600).error == 437)
        #expect(try client.permit(harness, RelayHarness.peer).error == 437)
        #expect(try client.bind(harness, 0x4000, RelayHarness.peer).error == 437)
        #expect(try client.allocate(harness).isSuccess)
    }

    @Test("invalid requests are rejected", arguments: RefusedAllocate.all)
    func refused(_ refused: RefusedAllocate) throws {
        let harness = try RelayHarness()
        var client = TestClient()
        try client.fetchNonce(harness)
        let bytes = client.request(.allocate, harness, extra: refused.write)
        #expect(try Response(harness.receive(bytes, on: client.flow)).error == refused.code)
        #expect(harness.liveAllocations == 0)
        #expect(harness.engine.allocationCount == 0)
    }

    struct RefusedAllocate: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let code: UInt16
        let write: @Sendable (inout MessageWriter) -> Void

        private static func udp(_ writer: inout MessageWriter) {
            writer.append(.requestedTransport, integer: UInt32(17) << 24)
        }

        static let all: [RefusedAllocate] = [
            RefusedAllocate(testDescription: "no transport", code: 400) { _ in },
            RefusedAllocate(testDescription: "transport of one byte", code: 400) {
                $0.append(.requestedTransport, integer: UInt8(17))
            },
            RefusedAllocate(testDescription: "TCP", code: 442) {
                $0.append(.requestedTransport, integer: UInt32(6) << 24)
            },
            RefusedAllocate(testDescription: "no such family", code: 440) {
                udp(&$0)
                $0.append(.requestedAddressFamily, integer: UInt32(3) << 24)
            },
            RefusedAllocate(testDescription: "family of one byte", code: 400) {
                udp(&$0)
                $0.append(.requestedAddressFamily, integer: UInt8(1))
            },
            RefusedAllocate(testDescription: "token and even port", code: 400) {
                udp(&$0)
                $0.append(.reservationToken, integer: UInt64(1))
                $0.append(.evenPort, integer: UInt8(0))
            },
            RefusedAllocate(testDescription: "token and family", code: 400) {
                udp(&$0)
                $0.append(.reservationToken, integer: UInt64(1))
                $0.append(.requestedAddressFamily, integer: UInt32(1) << 24)
            },
            RefusedAllocate(testDescription: "unknown token", code: 508) {
                udp(&$0)
                $0.append(.reservationToken, integer: UInt64(1))
            },
            RefusedAllocate(testDescription: "additional family with a family", code: 400) {
                udp(&$0)
                $0.append(.additionalAddressFamily, integer: UInt32(2) << 24)
                $0.append(.requestedAddressFamily, integer: UInt32(1) << 24)
            },
            RefusedAllocate(testDescription: "additional IPv4", code: 400) {
                udp(&$0)
                $0.append(.additionalAddressFamily, integer: UInt32(1) << 24)
            },
            RefusedAllocate(testDescription: "additional family with a reserved port", code: 400) {
                udp(&$0)
                $0.append(.additionalAddressFamily, integer: UInt32(2) << 24)
                $0.append(.evenPort, integer: UInt8(0x80))
            },
            RefusedAllocate(testDescription: "lifetime of two bytes", code: 400) {
                udp(&$0)
                $0.append(.lifetime, integer: UInt16(600))
            },
            RefusedAllocate(testDescription: "unknown attribute", code: 420) {
                udp(&$0)
                $0.append(AttributeType(rawValue: 0x7000), bytes: [1])
            },
        ]
    }

    @Test("the quota is exact and comes back")
    func quota() throws {
        let harness = try RelayHarness()
        harness.quota = 2
        var clients = (0..<3).map { TestClient(port: 1000 + UInt16($0)) }
        #expect(try clients[0].allocate(harness).isSuccess)
        #expect(try clients[1].allocate(harness).isSuccess)
        #expect(try clients[2].allocate(harness).error == 486)
        #expect(harness.engine.allocationCount == 2)
        #expect(try clients[0].refresh(harness, lifetime: 0).isSuccess)
        #expect(try clients[2].allocate(harness).isSuccess)
        #expect(harness.liveAllocations == 2)
    }

    @Test("an even port and the one above, reserved and claimed once")
    func reservation() throws {
        let harness = try RelayHarness()
        var first = TestClient(port: 1)
        var second = TestClient(port: 2)
        var third = TestClient(port: 3)
        let even = try first.allocate(harness) { $0.append(.evenPort, integer: UInt8(0x80)) }
        let port = try #require(even.relayed?.port)
        #expect(port % 2 == 0)
        let token = try #require(even.token)
        let odd = try second.allocate(harness) { $0.append(.reservationToken, integer: token) }
        #expect(odd.relayed?.port == port + 1)
        #expect(try third.allocate(harness) { $0.append(.reservationToken, integer: token) }.error == 508)
    }

    @Test("IPv6, and both families at once")
    func families() throws {
        let harness = try RelayHarness()
        var client = TestClient(port: 1)
        let six = try client.allocate(harness) { $0.append(.requestedAddressFamily, integer: UInt32(2) << 24) }
        #expect(six.relayed?.address == RelayHarness.serverIPv6)
        #expect(try client.permit(harness, RelayHarness.peer).error == 443)
        #expect(try client.bind(harness, 0x4000, RelayHarness.peer).error == 443)

        var draft = TestClient(port: 3)
        #expect(
            try draft.allocate(harness) { $0.append(.draftAdditionalAddressFamily, integer: UInt32(2) << 24) }.isSuccess
        )
        #expect(harness.bound.count == 3)
        #expect(try draft.refresh(harness, lifetime: 0).isSuccess)

        var dual = TestClient(port: 2)
        let both = try dual.allocate(harness) { $0.append(.additionalAddressFamily, integer: UInt32(2) << 24) }
        #expect(both.isSuccess)
        #expect(harness.bound.count == 3)
        #expect(try dual.permit(harness, RelayHarness.peer).isSuccess)
        #expect(try dual.refresh(harness, lifetime: 0, family: 1).isSuccess)
        #expect(harness.bound.count == 2)
        #expect(try dual.permit(harness, RelayHarness.peer).error == 443)
        #expect(try dual.refresh(harness, lifetime: 600, family: 1).error == 443)
        #expect(try dual.refresh(harness, lifetime: 0, family: 2).isSuccess)
        #expect(harness.liveAllocations == 1)
    }

    @Test("are revoked by user and by call")
    func revoked() throws {
        let harness = try RelayHarness()
        let name = EphemeralCredential.username(user: "U1", call: "C1", expiresAt: RelayHarness.unixSeconds + 60)
        let password = try #require(
            EphemeralCredential.password(of: name, secret: "second secret", harness.authentication))
        var clients = [
            TestClient(port: 1), TestClient(port: 2, username: "bob", password: "builder"),
            TestClient(port: 3, username: name, password: String(decoding: password, as: UTF8.self)),
        ]
        for index in clients.indices { #expect(try clients[index].allocate(harness).isSuccess) }
        harness.revoke(.user("nobody"))
        #expect(harness.liveAllocations == 3)
        harness.revoke(.user("bob"))
        #expect(harness.liveAllocations == 2)
        harness.revoke(.call("C1"))
        #expect(harness.charged["U1"] == 0)
        #expect(try clients[2].refresh(harness, lifetime: 600).error == 437)
        harness.revoke(.user("alice"))
        #expect(harness.liveAllocations == 0)
        #expect(harness.relays.count == 0)
    }
}
