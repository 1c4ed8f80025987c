import STUN
import TURN
import Testing
import Wire

@Suite("Limits of one allocation")
struct AllocationLimitTests {
    private func opened(_ limits: AllocationLimits) throws -> (
        harness: RelayHarness, client: TestClient, relay: RelayID
    ) {
        let harness = try RelayHarness()
        harness.engine.limits = limits
        var client = TestClient()
        _ = try client.allocate(harness)
        #expect(try client.bind(harness, 0x4000, RelayHarness.peer).isSuccess)
        return (harness, client, try #require(harness.bound.keys.first))
    }

    @Test("packets per second, each way, channels and indications together")
    func packets() throws {
        let (harness, client, relay) = try opened(AllocationLimits(packetsPerSecond: 10))
        for index in 0..<10 {
            let forward =
                index % 2 == 0
                ? client.sendChannel(harness, 0x4000, [1]) : client.send(harness, [1], to: RelayHarness.peer)
            #expect(forward != nil, "packet \(index)")
        }
        #expect(client.sendChannel(harness, 0x4000, [1]) == nil)
        #expect(client.send(harness, [1], to: RelayHarness.peer) == nil)
        #expect(harness.engine.counters.limitedPackets == 2)
        for _ in 0..<10 {
            #expect(
                harness.engine.receiveFromPeer(on: relay, from: RelayHarness.peer, byteCount: 1, at: harness.now) != nil
            )
        }
        #expect(
            harness.engine.receiveFromPeer(on: relay, from: RelayHarness.peer, byteCount: 1, at: harness.now) == nil)
        #expect(harness.engine.counters.limitedPackets == 3)

        harness.now = harness.now.adding(nanoseconds: 99_999_999)
        #expect(client.sendChannel(harness, 0x4000, [1]) == nil)
        harness.now = harness.now.adding(nanoseconds: 1)
        #expect(client.sendChannel(harness, 0x4000, [1]) != nil)
        #expect(client.sendChannel(harness, 0x4000, [1]) == nil)
    }

    @Test("bytes per second, each way; what is over takes no packet from the other bucket")
    func bytes() throws {
        let (harness, client, relay) = try opened(AllocationLimits(bytesPerSecond: 100_000, packetsPerSecond: 101))
        let packet = [UInt8](repeating: 7, count: 1000)
        for _ in 0..<100 { #expect(client.sendChannel(harness, 0x4000, packet) != nil) }
        for _ in 0..<5 { #expect(client.sendChannel(harness, 0x4000, packet) == nil) }
        #expect(harness.engine.counters.limitedBytes == 5)
        #expect(client.sendChannel(harness, 0x4000, []) != nil)
        #expect(
            harness.engine.receiveFromPeer(on: relay, from: RelayHarness.peer, byteCount: 100_001, at: harness.now)
                == nil)
        #expect(
            harness.engine.receiveFromPeer(on: relay, from: RelayHarness.peer, byteCount: 100_000, at: harness.now)
                != nil)
        #expect(
            harness.engine.receiveFromPeer(on: relay, from: RelayHarness.peer, byteCount: 1, at: harness.now) == nil)
        #expect(harness.engine.counters.limitedBytes == 7)
        #expect(harness.engine.counters.limitedPackets == 0)
    }

    @Test("hold in the long run, whatever the steps", arguments: [7, 333, 1000, 12_345] as [UInt64])
    func longRun(rate: UInt64) throws {
        let (harness, client, _) = try opened(AllocationLimits(packetsPerSecond: rate))
        var random = SeededRandom(seed: rate)
        var passed: UInt64 = 0
        let seconds: UInt64 = 20
        let end = harness.now.adding(nanoseconds: seconds * 1_000_000_000)
        while harness.now < end {
            harness.now = harness.now.adding(nanoseconds: UInt64.random(in: 1...(1_000_000_000 / rate), using: &random))
            if client.sendChannel(harness, 0x4000, [1]) != nil { passed += 1 }
        }
        #expect(passed <= rate * (seconds + 2))
        #expect(passed >= rate * seconds - 1)
    }

    @Test("the smallest limit lets the largest datagram pass")
    func smallest() throws {
        let (harness, client, _) = try opened(AllocationLimits(bytesPerSecond: 1))
        #expect(client.sendChannel(harness, 0x4000, [UInt8](repeating: 0, count: 65_000)) != nil)
        #expect(client.sendChannel(harness, 0x4000, [UInt8](repeating: 0, count: 1000)) == nil)
    }

    @Test("no limit is none, and a limit that comes later holds for what is open")
    func changed() throws {
        let (harness, client, _) = try opened(AllocationLimits())
        for _ in 0..<20_000 where client.sendChannel(harness, 0x4000, [1]) == nil {
            Issue.record("dropped without a limit")
        }
        harness.engine.limits = AllocationLimits(packetsPerSecond: 3)
        for _ in 0..<3 { #expect(client.sendChannel(harness, 0x4000, [1]) != nil) }
        #expect(client.sendChannel(harness, 0x4000, [1]) == nil)
        harness.engine.limits = AllocationLimits()
        #expect(client.sendChannel(harness, 0x4000, [1]) != nil)
    }

    @Test("new peers come so fast and no faster: 508, all or none, and known ones are free")
    func newPeers() throws {
        let harness = try RelayHarness()
        harness.engine.limits = AllocationLimits(newPeersPerSecond: 1)
        var client = TestClient()
        _ = try client.allocate(harness)
        func peer(_ index: UInt32) -> TransportAddress {
            TransportAddress(IPAddress(ipv4: 0x0808_0000 + index), port: 9)
        }
        #expect(try client.permit(harness, peer(0), peer(0), peer(1), peer(2), peer(3), peer(4)).isSuccess)
        #expect(try client.permit(harness, peer(5), peer(6), peer(7), peer(8), peer(9), peer(10)).error == 508)
        #expect(client.send(harness, [1], to: peer(5)) == nil)
        #expect(try client.bind(harness, 0x4000, peer(5)).isSuccess)
        for index in 6..<10 { #expect(try client.bind(harness, 0x4000 + UInt16(index), peer(UInt32(index))).isSuccess) }
        #expect(try client.bind(harness, 0x4100, peer(10)).error == 508)
        #expect(harness.engine.counters.limitedPeers == 2)
        #expect(try client.permit(harness, peer(0), peer(9)).isSuccess)
        #expect(try client.bind(harness, 0x4101, peer(1)).isSuccess)
        harness.now = harness.now.adding(seconds: 1)
        #expect(try client.bind(harness, 0x4100, peer(10)).isSuccess)
        #expect(try client.permit(harness, peer(11)).error == 508)
        // Another allocation has its own.
        var other = TestClient(port: 2)
        _ = try other.allocate(harness)
        #expect(try other.permit(harness, peer(11)).isSuccess)
    }
}
