import STUN
import TURN
import Testing
import Wire

@Suite("Retransmitted requests and what follows the signature")
struct RetransmissionTests {
    private func opened() throws -> (lab: Lab, client: LabClient) {
        let lab = try Lab()
        var client = LabClient()
        _ = try client.allocate(lab)
        return (lab, client)
    }

    private func ending(_ client: LabClient, _ lab: Lab, _ transaction: TransactionID) -> [UInt8] {
        client.request(.refresh, lab, transaction: transaction) { $0.append(.lifetime, integer: UInt32(0)) }
    }

    @Test("a Refresh of 0 is answered again as long as it may be retransmitted")
    func refreshOfZero() throws {
        let (lab, client) = try opened()
        let bytes = ending(client, lab, TransactionID(1, 2))
        let first = try Answer(lab.receive(bytes, on: client.flow))
        #expect(first.isSuccess)
        #expect(first.lifetime == 0)
        lab.advance(seconds: 39)
        let second = try Answer(lab.receive(bytes, on: client.flow))
        #expect(second.bytes == first.bytes)
        #expect(lab.liveAllocations == 0)
        lab.advance(seconds: 1)
        #expect(try Answer(lab.receive(bytes, on: client.flow)).error == 437)
    }

    @Test("but not to others, nor another Refresh")
    func strangers() throws {
        let (lab, client) = try opened()
        let transaction = TransactionID(1, 2)
        #expect(try Answer(lab.receive(ending(client, lab, transaction), on: client.flow)).isSuccess)
        #expect(try Answer(lab.receive(ending(client, lab, TransactionID(1, 3)), on: client.flow)).error == 437)
        var bob = LabClient(username: "bob", password: "builder")
        bob.nonce = client.nonce
        #expect(try Answer(lab.receive(ending(bob, lab, transaction), on: bob.flow)).error == 437)
        var liar = client
        liar.password = "guessed"
        #expect(try Answer(lab.receive(ending(liar, lab, transaction), on: liar.flow)).error == 401)
        var elsewhere = LabClient(port: 2000)
        try elsewhere.learnNonce(lab)
        #expect(try Answer(lab.receive(ending(elsewhere, lab, transaction), on: elsewhere.flow)).error == 437)
    }

    @Test("does not end the allocation that was made since")
    func newAllocation() throws {
        let (lab, before) = try opened()
        let bytes = ending(before, lab, TransactionID(1, 2))
        #expect(try Answer(lab.receive(bytes, on: before.flow)).isSuccess)
        var client = before
        #expect(try client.allocate(lab).isSuccess)
        #expect(try Answer(lab.receive(bytes, on: client.flow)).lifetime == 0)
        #expect(lab.liveAllocations == 1)
    }

    @Test("is verified by the allocation's keys when the credentials are no longer good")
    func oldKeys() throws {
        let lab = try Lab()
        let name = EphemeralCredential.username(user: "U1", call: nil, expiresAt: Lab.unixSeconds + 60)
        let password = try #require(EphemeralCredential.password(of: name, secret: "first secret", lab.authentication))
        var client = LabClient(username: name, password: String(decoding: password, as: UTF8.self))
        _ = try client.allocate(lab)
        lab.advance(seconds: 100)
        let bytes = ending(client, lab, TransactionID(5, 5))
        let first = try Answer(lab.receive(bytes, on: client.flow))
        #expect(first.isSuccess)
        #expect(try Answer(lab.receive(bytes, on: client.flow)).bytes == first.bytes)
    }

    @Test("is all that these keys are good for: its id allocates nothing")
    func endedKeys() throws {
        let (lab, client) = try opened()
        let transaction = TransactionID(5, 5)
        #expect(try Answer(lab.receive(ending(client, lab, transaction), on: client.flow)).isSuccess)
        lab.engine.credentials.users["alice"] = "looking glass"
        let bytes = client.request(.allocate, lab, transaction: transaction) {
            $0.append(.requestedTransport, integer: UInt32(17) << 24)
        }
        #expect(try Answer(lab.receive(bytes, on: client.flow)).error == 401)
        #expect(lab.engine.allocationCount == 0)
        #expect(try Answer(lab.receive(ending(client, lab, transaction), on: client.flow)).isSuccess)
    }

    @Test("one relay of two closes once")
    func oneFamily() throws {
        let lab = try Lab()
        var client = LabClient()
        _ = try client.allocate(lab) { $0.append(.additionalAddressFamily, integer: UInt32(2) << 24) }
        let bytes = client.request(.refresh, lab) { writer in
            writer.append(.lifetime, integer: UInt32(0))
            writer.append(.requestedAddressFamily, integer: UInt32(1) << 24)
        }
        let first = try Answer(lab.receive(bytes, on: client.flow))
        #expect(first.isSuccess)
        #expect(try Answer(lab.receive(bytes, on: client.flow)).bytes == first.bytes)
        #expect(lab.liveAllocations == 1)
        #expect(lab.bound.count == 1)
    }

    @Test("permissions and channels are answered alike, and stand once")
    func idempotent() throws {
        let (lab, client) = try opened()
        let permission = client.request(.createPermission, lab) { $0.append(.xorPeerAddress, xor: Lab.peer) }
        let channel = client.request(.channelBind, lab) { writer in
            writer.append(.channelNumber, integer: UInt32(0x4000) << 16)
            writer.append(.xorPeerAddress, xor: Lab.peer)
        }
        let refresh = client.request(.refresh, lab) { $0.append(.lifetime, integer: UInt32(700)) }
        for bytes in [permission, channel, refresh] {
            let first = try Answer(lab.receive(bytes, on: client.flow))
            #expect(first.isSuccess)
            #expect(try Answer(lab.receive(bytes, on: client.flow)).bytes == first.bytes)
        }
        #expect(client.sendChannel(lab, 0x4000, [1]) != nil)
    }

    @Test("memory of them is bounded: the oldest is forgotten")
    func bounded() throws {
        let lab = try Lab()
        lab.quota = 10_000
        var first: (LabClient, [UInt8])?
        for index in 0..<1100 {
            var client = LabClient(port: 1000 + UInt16(index))
            _ = try client.allocate(lab)
            let bytes = ending(client, lab, TransactionID(9, UInt64(index)))
            #expect(try Answer(lab.receive(bytes, on: client.flow)).isSuccess)
            if first == nil { first = (client, bytes) }
            #expect(try Answer(lab.receive(bytes, on: client.flow)).isSuccess)
        }
        let (client, bytes) = try #require(first)
        #expect(try Answer(lab.receive(bytes, on: client.flow)).error == 437)
    }

    @Test(
        "what is appended behind either signature is not obeyed, whatever the method",
        arguments: [IntegrityAlgorithm.sha1, .sha256])
    func appended(integrity: IntegrityAlgorithm) throws {
        let lab = try Lab()
        var client = LabClient()
        client.integrity = integrity
        let evil = TransportAddress(IPAddress(ipv4: 0x0909_0909), port: 6666)
        func append(_ bytes: [UInt8], _ body: (inout MessageWriter) -> Void) -> [UInt8] {
            var writer = MessageWriter()
            writer.begin(MessageType(.request, .binding), TransactionID(0, 0))
            body(&writer)
            var message = bytes + writer.bytes.dropFirst(Message.headerByteCount)
            let length = UInt16(message.count - Message.headerByteCount)
            message[2] = UInt8(length >> 8)
            message[3] = UInt8(length & 0xFF)
            return message
        }
        try client.learnNonce(lab)
        let allocate = append(
            client.request(.allocate, lab) { $0.append(.requestedTransport, integer: UInt32(17) << 24) }
        ) { writer in
            writer.append(.lifetime, integer: UInt32(3600))
            writer.append(.evenPort, integer: UInt8(0x80))
            writer.append(.additionalAddressFamily, integer: UInt32(2) << 24)
            writer.append(AttributeType(rawValue: 0x7777), bytes: [1])
        }
        let made = try Answer(lab.receive(allocate, on: client.flow))
        #expect(made.isSuccess)
        #expect(made.lifetime == 600)
        #expect(made.token == nil)
        #expect(lab.bound.count == 1)

        let refresh = append(client.request(.refresh, lab)) { $0.append(.lifetime, integer: UInt32(0)) }
        #expect(try Answer(lab.receive(refresh, on: client.flow)).lifetime == 600)

        let permit = append(client.request(.createPermission, lab) { $0.append(.xorPeerAddress, xor: Lab.peer) }) {
            $0.append(.xorPeerAddress, xor: evil)
        }
        #expect(try Answer(lab.receive(permit, on: client.flow)).isSuccess)
        #expect(client.send(lab, [1], to: evil) == nil)
        #expect(client.send(lab, [1], to: Lab.peer) != nil)

        let empty = append(client.request(.createPermission, lab)) { $0.append(.xorPeerAddress, xor: evil) }
        #expect(try Answer(lab.receive(empty, on: client.flow)).error == 400)
        let bind = append(
            client.request(.channelBind, lab) { $0.append(.channelNumber, integer: UInt32(0x4000) << 16) }
        ) {
            $0.append(.xorPeerAddress, xor: evil)
        }
        #expect(try Answer(lab.receive(bind, on: client.flow)).error == 400)
        #expect(client.sendChannel(lab, 0x4000, [1]) == nil)
    }
}
