import STUN
import TURN
import Testing
import Wire

@Suite("Limits of one allocation")
struct AllocationLimitTests {
    private func opened(_ limits: AllocationLimits) throws -> (lab: Lab, client: LabClient, relay: RelayID) {
        let lab = try Lab()
        lab.engine.limits = limits
        var client = LabClient()
        _ = try client.allocate(lab)
        #expect(try client.bind(lab, 0x4000, Lab.peer).isSuccess)
        return (lab, client, try #require(lab.bound.keys.first))
    }

    @Test("packets per second, each way, channels and indications together")
    func packets() throws {
        let (lab, client, relay) = try opened(AllocationLimits(packetsPerSecond: 10))
        for index in 0..<10 {
            let forward =
                index % 2 == 0 ? client.sendChannel(lab, 0x4000, [1]) : client.send(lab, [1], to: Lab.peer)
            #expect(forward != nil, "packet \(index)")
        }
        #expect(client.sendChannel(lab, 0x4000, [1]) == nil)
        #expect(client.send(lab, [1], to: Lab.peer) == nil)
        #expect(lab.engine.tally.limitedPackets == 2)
        for _ in 0..<10 {
            #expect(lab.engine.receiveFromPeer(on: relay, from: Lab.peer, byteCount: 1, at: lab.now) != nil)
        }
        #expect(lab.engine.receiveFromPeer(on: relay, from: Lab.peer, byteCount: 1, at: lab.now) == nil)
        #expect(lab.engine.tally.limitedPackets == 3)

        lab.now = lab.now.adding(nanoseconds: 99_999_999)
        #expect(client.sendChannel(lab, 0x4000, [1]) == nil)
        lab.now = lab.now.adding(nanoseconds: 1)
        #expect(client.sendChannel(lab, 0x4000, [1]) != nil)
        #expect(client.sendChannel(lab, 0x4000, [1]) == nil)
    }

    @Test("bytes per second, each way; what is over takes no packet from the other bucket")
    func bytes() throws {
        let (lab, client, relay) = try opened(AllocationLimits(bytesPerSecond: 100_000, packetsPerSecond: 101))
        let packet = [UInt8](repeating: 7, count: 1000)
        for _ in 0..<100 { #expect(client.sendChannel(lab, 0x4000, packet) != nil) }
        for _ in 0..<5 { #expect(client.sendChannel(lab, 0x4000, packet) == nil) }
        #expect(lab.engine.tally.limitedBytes == 5)
        #expect(client.sendChannel(lab, 0x4000, []) != nil)
        #expect(lab.engine.receiveFromPeer(on: relay, from: Lab.peer, byteCount: 100_001, at: lab.now) == nil)
        #expect(lab.engine.receiveFromPeer(on: relay, from: Lab.peer, byteCount: 100_000, at: lab.now) != nil)
        #expect(lab.engine.receiveFromPeer(on: relay, from: Lab.peer, byteCount: 1, at: lab.now) == nil)
        #expect(lab.engine.tally.limitedBytes == 7)
        #expect(lab.engine.tally.limitedPackets == 0)
    }

    @Test("hold in the long run, whatever the steps", arguments: [7, 333, 1000, 12_345] as [UInt64])
    func longRun(rate: UInt64) throws {
        let (lab, client, _) = try opened(AllocationLimits(packetsPerSecond: rate))
        var chance = SeededRandom(seed: rate)
        var passed: UInt64 = 0
        let seconds: UInt64 = 20
        let end = lab.now.adding(nanoseconds: seconds * 1_000_000_000)
        while lab.now < end {
            lab.now = lab.now.adding(nanoseconds: UInt64.random(in: 1...(1_000_000_000 / rate), using: &chance))
            if client.sendChannel(lab, 0x4000, [1]) != nil { passed += 1 }
        }
        #expect(passed <= rate * (seconds + 2))
        #expect(passed >= rate * seconds - 1)
    }

    @Test("the smallest limit lets the largest datagram pass")
    func smallest() throws {
        let (lab, client, _) = try opened(AllocationLimits(bytesPerSecond: 1))
        #expect(client.sendChannel(lab, 0x4000, [UInt8](repeating: 0, count: 65_000)) != nil)
        #expect(client.sendChannel(lab, 0x4000, [UInt8](repeating: 0, count: 1000)) == nil)
    }

    @Test("no limit is none, and a limit that comes later holds for what is open")
    func changed() throws {
        let (lab, client, _) = try opened(AllocationLimits())
        for _ in 0..<20_000 where client.sendChannel(lab, 0x4000, [1]) == nil {
            Issue.record("dropped without a limit")
        }
        lab.engine.limits = AllocationLimits(packetsPerSecond: 3)
        for _ in 0..<3 { #expect(client.sendChannel(lab, 0x4000, [1]) != nil) }
        #expect(client.sendChannel(lab, 0x4000, [1]) == nil)
        lab.engine.limits = AllocationLimits()
        #expect(client.sendChannel(lab, 0x4000, [1]) != nil)
    }

    @Test("new peers come so fast and no faster: 508, all or none, and known ones are free")
    func newPeers() throws {
        let lab = try Lab()
        lab.engine.limits = AllocationLimits(newPeersPerSecond: 1)
        var client = LabClient()
        _ = try client.allocate(lab)
        func peer(_ index: UInt32) -> TransportAddress {
            TransportAddress(IPAddress(ipv4: 0x0808_0000 + index), port: 9)
        }
        #expect(try client.permit(lab, peer(0), peer(0), peer(1), peer(2), peer(3), peer(4)).isSuccess)
        #expect(try client.permit(lab, peer(5), peer(6), peer(7), peer(8), peer(9), peer(10)).error == 508)
        #expect(client.send(lab, [1], to: peer(5)) == nil)
        #expect(try client.bind(lab, 0x4000, peer(5)).isSuccess)
        for index in 6..<10 { #expect(try client.bind(lab, 0x4000 + UInt16(index), peer(UInt32(index))).isSuccess) }
        #expect(try client.bind(lab, 0x4100, peer(10)).error == 508)
        #expect(lab.engine.tally.limitedPeers == 2)
        #expect(try client.permit(lab, peer(0), peer(9)).isSuccess)
        #expect(try client.bind(lab, 0x4101, peer(1)).isSuccess)
        lab.now = lab.now.adding(seconds: 1)
        #expect(try client.bind(lab, 0x4100, peer(10)).isSuccess)
        #expect(try client.permit(lab, peer(11)).error == 508)
        // Another allocation has its own.
        var other = LabClient(port: 2)
        _ = try other.allocate(lab)
        #expect(try other.permit(lab, peer(11)).isSuccess)
    }
}
