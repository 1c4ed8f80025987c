import STUN
import TURN
import Testing
import Wire

@Suite("Allocations")
struct AllocationTests {
    @Test("Binding tells the client its address, without credentials")
    func binding() throws {
        let lab = try Lab()
        let client = LabClient()
        let answer = try Answer(lab.receive(client.request(.binding, lab, signed: false), on: client.flow))
        #expect(answer.isSuccess)
        #expect(answer.mapped == client.flow.remote)
        #expect(answer.bytes.count == 32)
    }

    @Test("are made with the relay's told address, lifetime and the client's address, signed")
    func made() throws {
        let lab = try Lab()
        var client = LabClient()
        let answer = try client.allocate(lab)
        #expect(answer.isSuccess)
        #expect(answer.relayed?.address == Lab.external)
        #expect(answer.lifetime == 600)
        #expect(answer.mapped == client.flow.remote)
        #expect(answer.isSigned(by: client, .sha1, lab))
        #expect(lab.liveAllocations == 1)
    }

    @Test("a retransmission gets the same answer and nothing twice")
    func retransmission() throws {
        let lab = try Lab()
        var client = LabClient()
        try client.learnNonce(lab)
        let transaction = LabClient.nextTransaction()
        let first = try client.allocate(lab, transaction: transaction)
        lab.advance(seconds: 3)
        let second = try client.allocate(lab, transaction: transaction)
        #expect(first.bytes == second.bytes)
        #expect(lab.liveAllocations == 1)
        #expect(lab.bound.count == 1)
    }

    @Test("a second Allocate on the flow is a mismatch")
    func mismatch() throws {
        let lab = try Lab()
        var client = LabClient()
        _ = try client.allocate(lab)
        #expect(try client.allocate(lab).error == 437)
        #expect(lab.liveAllocations == 1)
    }

    @Test(
        "lifetimes are kept between 10 minutes and an hour",
        arguments: [
            (nil, 600), (0, 600), (1, 600), (600, 600), (777, 777), (3600, 3600), (.max, 3600),
        ] as [(UInt32?, UInt32)])
    func lifetimes(wished: UInt32?, granted: UInt32) throws {
        let lab = try Lab()
        var client = LabClient()
        let answer = try client.allocate(lab) { writer in
            if let wished { writer.append(.lifetime, integer: wished) }
        }
        #expect(answer.lifetime == granted)
        if wished != 0 {
            #expect(try client.refresh(lab, lifetime: wished).lifetime == granted)
        }
        lab.advance(seconds: granted - 1)
        #expect(lab.liveAllocations == 1)
        lab.advance(seconds: 1)
        #expect(lab.liveAllocations == 0)
        #expect(lab.relays.count == 0)
    }

    @Test("a Refresh of 0 ends it, and what follows is a mismatch")
    func ended() throws {
        let lab = try Lab()
        var client = LabClient()
        _ = try client.allocate(lab)
        let answer = try client.refresh(lab, lifetime: 0)
        #expect(answer.isSuccess)
        #expect(answer.lifetime == 0)
        #expect(lab.liveAllocations == 0)
        #expect(lab.relays.count == 0)
        #expect(try client.refresh(lab, lifetime: 600).error == 437)
        #expect(try client.permit(lab, Lab.peer).error == 437)
        #expect(try client.bind(lab, 0x4000, Lab.peer).error == 437)
        #expect(try client.allocate(lab).isSuccess)
    }

    @Test("requests that make no sense are refused", arguments: RefusedAllocate.all)
    func refused(_ refused: RefusedAllocate) throws {
        let lab = try Lab()
        var client = LabClient()
        try client.learnNonce(lab)
        let bytes = client.request(.allocate, lab, extra: refused.write)
        #expect(try Answer(lab.receive(bytes, on: client.flow)).error == refused.code)
        #expect(lab.liveAllocations == 0)
        #expect(lab.engine.allocationCount == 0)
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
        let lab = try Lab()
        lab.quota = 2
        var clients = (0..<3).map { LabClient(port: 1000 + UInt16($0)) }
        #expect(try clients[0].allocate(lab).isSuccess)
        #expect(try clients[1].allocate(lab).isSuccess)
        #expect(try clients[2].allocate(lab).error == 486)
        #expect(lab.engine.allocationCount == 2)
        #expect(try clients[0].refresh(lab, lifetime: 0).isSuccess)
        #expect(try clients[2].allocate(lab).isSuccess)
        #expect(lab.liveAllocations == 2)
    }

    @Test("an even port and the one above, reserved and claimed once")
    func reservation() throws {
        let lab = try Lab()
        var first = LabClient(port: 1)
        var second = LabClient(port: 2)
        var third = LabClient(port: 3)
        let even = try first.allocate(lab) { $0.append(.evenPort, integer: UInt8(0x80)) }
        let port = try #require(even.relayed?.port)
        #expect(port % 2 == 0)
        let token = try #require(even.token)
        let odd = try second.allocate(lab) { $0.append(.reservationToken, integer: token) }
        #expect(odd.relayed?.port == port + 1)
        #expect(try third.allocate(lab) { $0.append(.reservationToken, integer: token) }.error == 508)
    }

    @Test("IPv6, and both families at once")
    func families() throws {
        let lab = try Lab()
        var client = LabClient(port: 1)
        let six = try client.allocate(lab) { $0.append(.requestedAddressFamily, integer: UInt32(2) << 24) }
        #expect(six.relayed?.address == Lab.serverIPv6)
        #expect(try client.permit(lab, Lab.peer).error == 443)
        #expect(try client.bind(lab, 0x4000, Lab.peer).error == 443)

        var draft = LabClient(port: 3)
        #expect(
            try draft.allocate(lab) { $0.append(.draftAdditionalAddressFamily, integer: UInt32(2) << 24) }.isSuccess)
        #expect(lab.bound.count == 3)
        #expect(try draft.refresh(lab, lifetime: 0).isSuccess)

        var dual = LabClient(port: 2)
        let both = try dual.allocate(lab) { $0.append(.additionalAddressFamily, integer: UInt32(2) << 24) }
        #expect(both.isSuccess)
        #expect(lab.bound.count == 3)
        #expect(try dual.permit(lab, Lab.peer).isSuccess)
        #expect(try dual.refresh(lab, lifetime: 0, family: 1).isSuccess)
        #expect(lab.bound.count == 2)
        #expect(try dual.permit(lab, Lab.peer).error == 443)
        #expect(try dual.refresh(lab, lifetime: 600, family: 1).error == 443)
        #expect(try dual.refresh(lab, lifetime: 0, family: 2).isSuccess)
        #expect(lab.liveAllocations == 1)
    }

    @Test("are revoked by user and by call")
    func revoked() throws {
        let lab = try Lab()
        let name = EphemeralCredential.username(user: "U1", call: "C1", expiresAt: Lab.unixSeconds + 60)
        let password = try #require(EphemeralCredential.password(of: name, secret: "second secret", lab.authentication))
        var clients = [
            LabClient(port: 1), LabClient(port: 2, username: "bob", password: "builder"),
            LabClient(port: 3, username: name, password: String(decoding: password, as: UTF8.self)),
        ]
        for index in clients.indices { #expect(try clients[index].allocate(lab).isSuccess) }
        lab.revoke(.user("nobody"))
        #expect(lab.liveAllocations == 3)
        lab.revoke(.user("bob"))
        #expect(lab.liveAllocations == 2)
        lab.revoke(.call("C1"))
        #expect(lab.charged["U1"] == 0)
        #expect(try clients[2].refresh(lab, lifetime: 600).error == 437)
        lab.revoke(.user("alice"))
        #expect(lab.liveAllocations == 0)
        #expect(lab.relays.count == 0)
    }
}
