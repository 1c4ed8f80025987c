import STUN
import TURN
import Testing
import Wire

@Suite("Retransmitted requests and what follows the signature")
struct RetransmissionTests {
    private func opened() throws -> (harness: RelayHarness, client: TestClient) {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness)
        return (harness, client)
    }

    private func ending(_ client: TestClient, _ harness: RelayHarness, _ transaction: TransactionID) -> [UInt8] {
        client.request(.refresh, harness, transaction: transaction) { $0.append(.lifetime, integer: UInt32(0)) }
    }

    @Test("a Refresh of 0 gets the same response as long as it may be retransmitted")
    func refreshOfZero() throws {
        let (harness, client) = try opened()
        let bytes = ending(client, harness, TransactionID(1, 2))
        let first = try Response(harness.receive(bytes, on: client.flow))
        #expect(first.isSuccess)
        #expect(first.lifetime == 0)
        harness.advance(seconds: 39)
        let second = try Response(harness.receive(bytes, on: client.flow))
        #expect(second.bytes == first.bytes)
        #expect(harness.liveAllocations == 0)
        harness.advance(seconds: 1)
        #expect(try Response(harness.receive(bytes, on: client.flow)).error == 437)
    }

    @Test("but not to others, nor another Refresh")
    func forwardedFlows() throws {
        let (harness, client) = try opened()
        let transaction = TransactionID(1, 2)
        #expect(try Response(harness.receive(ending(client, harness, transaction), on: client.flow)).isSuccess)
        #expect(
            try Response(harness.receive(ending(client, harness, TransactionID(1, 3)), on: client.flow)).error == 437)
        var bob = TestClient(username: "bob", password: "builder")
        bob.nonce = client.nonce
        #expect(try Response(harness.receive(ending(bob, harness, transaction), on: bob.flow)).error == 437)
        var liar = client
        liar.password = "guessed"
        #expect(try Response(harness.receive(ending(liar, harness, transaction), on: liar.flow)).error == 401)
        var elsewhere = TestClient(port: 2000)
        try elsewhere.fetchNonce(harness)
        #expect(try Response(harness.receive(ending(elsewhere, harness, transaction), on: elsewhere.flow)).error == 437)
    }

    @Test("does not end the allocation that was made since")
    func newAllocation() throws {
        let (harness, before) = try opened()
        let bytes = ending(before, harness, TransactionID(1, 2))
        #expect(try Response(harness.receive(bytes, on: before.flow)).isSuccess)
        var client = before
        #expect(try client.allocate(harness).isSuccess)
        #expect(try Response(harness.receive(bytes, on: client.flow)).lifetime == 0)
        #expect(harness.liveAllocations == 1)
    }

    @Test("is verified by the allocation's keys when the credentials are no longer good")
    func oldKeys() throws {
        let harness = try RelayHarness()
        let name = EphemeralCredential.username(user: "U1", call: nil, expiresAt: RelayHarness.unixSeconds + 60)
        let password = try #require(
            EphemeralCredential.password(of: name, secret: "first secret", harness.authentication))
        var client = TestClient(username: name, password: String(decoding: password, as: UTF8.self))
        _ = try client.allocate(harness)
        harness.advance(seconds: 100)
        let bytes = ending(client, harness, TransactionID(5, 5))
        let first = try Response(harness.receive(bytes, on: client.flow))
        #expect(first.isSuccess)
        #expect(try Response(harness.receive(bytes, on: client.flow)).bytes == first.bytes)
    }

    @Test("is all that these keys are good for: its id allocates nothing")
    func endedKeys() throws {
        let (harness, client) = try opened()
        let transaction = TransactionID(5, 5)
        #expect(try Response(harness.receive(ending(client, harness, transaction), on: client.flow)).isSuccess)
        harness.engine.credentials.users["alice"] = "looking glass"
        let bytes = client.request(.allocate, harness, transaction: transaction) {
            $0.append(.requestedTransport, integer: UInt32(17) << 24)
        }
        #expect(try Response(harness.receive(bytes, on: client.flow)).error == 401)
        #expect(harness.engine.allocationCount == 0)
        #expect(try Response(harness.receive(ending(client, harness, transaction), on: client.flow)).isSuccess)
    }

    @Test("one relay of two closes once")
    func oneFamily() throws {
        let harness = try RelayHarness()
        var client = TestClient()
        _ = try client.allocate(harness) { $0.append(.additionalAddressFamily, integer: UInt32(2) << 24) }
        let bytes = client.request(.refresh, harness) { writer in
            writer.append(.lifetime, integer: UInt32(0))
            writer.append(.requestedAddressFamily, integer: UInt32(1) << 24)
        }
        let first = try Response(harness.receive(bytes, on: client.flow))
        #expect(first.isSuccess)
        #expect(try Response(harness.receive(bytes, on: client.flow)).bytes == first.bytes)
        #expect(harness.liveAllocations == 1)
        #expect(harness.bound.count == 1)
    }

    @Test("retransmitted permissions and channels get the same response, and exist once")
    func idempotent() throws {
        let (harness, client) = try opened()
        let permission = client.request(.createPermission, harness) {
            $0.append(.xorPeerAddress, xor: RelayHarness.peer)
        }
        let channel = client.request(.channelBind, harness) { writer in
            writer.append(.channelNumber, integer: UInt32(0x4000) << 16)
            writer.append(.xorPeerAddress, xor: RelayHarness.peer)
        }
        let refresh = client.request(.refresh, harness) { $0.append(.lifetime, integer: UInt32(700)) }
        for bytes in [permission, channel, refresh] {
            let first = try Response(harness.receive(bytes, on: client.flow))
            #expect(first.isSuccess)
            #expect(try Response(harness.receive(bytes, on: client.flow)).bytes == first.bytes)
        }
        #expect(client.sendChannel(harness, 0x4000, [1]) != nil)
    }

    @Test("memory of them is bounded: the oldest is forgotten")
    func bounded() throws {
        let harness = try RelayHarness()
        harness.quota = 10_000
        var first: (TestClient, [UInt8])?
        for index in 0..<1100 {
            var client = TestClient(port: 1000 + UInt16(index))
            _ = try client.allocate(harness)
            let bytes = ending(client, harness, TransactionID(9, UInt64(index)))
            #expect(try Response(harness.receive(bytes, on: client.flow)).isSuccess)
            if first == nil { first = (client, bytes) }
            #expect(try Response(harness.receive(bytes, on: client.flow)).isSuccess)
        }
        let (client, bytes) = try #require(first)
        #expect(try Response(harness.receive(bytes, on: client.flow)).error == 437)
    }

    @Test(
        "what is appended after either signature is ignored, whatever the method",
        arguments: [IntegrityAlgorithm.sha1, .sha256])
    func appended(integrity: IntegrityAlgorithm) throws {
        let harness = try RelayHarness()
        var client = TestClient()
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
        try client.fetchNonce(harness)
        let allocate = append(
            client.request(.allocate, harness) { $0.append(.requestedTransport, integer: UInt32(17) << 24) }
        ) { writer in
            writer.append(.lifetime, integer: UInt32(3600))
            writer.append(.evenPort, integer: UInt8(0x80))
            writer.append(.additionalAddressFamily, integer: UInt32(2) << 24)
            writer.append(AttributeType(rawValue: 0x7777), bytes: [1])
        }
        let made = try Response(harness.receive(allocate, on: client.flow))
        #expect(made.isSuccess)
        #expect(made.lifetime == 600)
        #expect(made.token == nil)
        #expect(harness.bound.count == 1)

        let refresh = append(client.request(.refresh, harness)) { $0.append(.lifetime, integer: UInt32(0)) }
        #expect(try Response(harness.receive(refresh, on: client.flow)).lifetime == 600)

        let permit = append(
            client.request(.createPermission, harness) { $0.append(.xorPeerAddress, xor: RelayHarness.peer) }
        ) {
            $0.append(.xorPeerAddress, xor: evil)
        }
        #expect(try Response(harness.receive(permit, on: client.flow)).isSuccess)
        #expect(client.send(harness, [1], to: evil) == nil)
        #expect(client.send(harness, [1], to: RelayHarness.peer) != nil)

        let empty = append(client.request(.createPermission, harness)) { $0.append(.xorPeerAddress, xor: evil) }
        #expect(try Response(harness.receive(empty, on: client.flow)).error == 400)
        let bind = append(
            client.request(.channelBind, harness) { $0.append(.channelNumber, integer: UInt32(0x4000) << 16) }
        ) {
            $0.append(.xorPeerAddress, xor: evil)
        }
        #expect(try Response(harness.receive(bind, on: client.flow)).error == 400)
        #expect(client.sendChannel(harness, 0x4000, [1]) == nil)
    }
}
