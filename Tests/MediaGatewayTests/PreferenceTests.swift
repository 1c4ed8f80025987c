import Gateway
import MediaGateway
import Testing

@Suite("What participants want in their slots")
struct WishTests {
    @Test("is kept from before the leg is connected, and when it changes")
    func kept() throws {
        let lab = try GatewayLab()
        let ann = try LegClient("ann", ssrc: 11, to: lab.address)
        ann.videoSlots = 2
        try lab.open(ann)
        #expect(try lab.want([:], on: ann) == "2: high, 3: high")
        #expect(try lab.want(["2": .low], on: ann) == "2: low, 3: high")
        try lab.renegotiate(ann)
        ann.check(nominates: true)
        lab.settle([ann])
        ann.greet()
        lab.settle([ann])
        try #require(ann.isConnected)
        #expect(try lab.want([:], on: ann) == "2: low, 3: high")
        #expect(try lab.want(["3": .off], on: ann) == "2: low, 3: off")
        ann.videoSlots = 3
        try lab.renegotiate(ann)
        #expect(try lab.want([:], on: ann) == "2: low, 3: off, 4: high")
        try lab.close(ann)
        #expect(try lab.want(["2": .high], on: ann) == nil)
    }

    @Test("is only in slots for pictures: where another section is named nothing changes", arguments: [false, true])
    func unknown(isConnected: Bool) throws {
        let lab = try GatewayLab()
        let ann = try LegClient("ann", ssrc: 11, to: lab.address)
        ann.videoSlots = 1
        if isConnected { try lab.connect(ann) } else { try lab.open(ann) }
        for mid in ["0", "1", "3", ""] { #expect(try lab.want(["2": .off, mid: .low], on: ann) == "2: high") }
        #expect(try lab.want(["2": .medium], on: ann) == "2: medium")
    }

    @Test("is forgotten with the leg")
    func replaced() async throws {
        let running = try RunningGateway()
        defer { running.server.stop() }
        let key = LegKey(call: "call", participant: "ann")
        #expect(await running.server.want(["2": .low], on: key) == nil)
        for ssrc in [11, 12] as [UInt32] {
            let ann = try LegClient("ann", ssrc: ssrc, to: running.address)
            ann.videoSlots = 2
            _ = try await running.answer(ann)
            #expect(await running.server.want([:], on: key)?.text == "2: high, 3: high")
            #expect(await running.server.want(["3": .off], on: key)?.text == "2: high, 3: off")
            // The same PeerConnection offers again.
            _ = try await running.answer(ann)
            #expect(await running.server.want([:], on: key)?.text == "2: high, 3: off")
        }
        running.server.end(key)
        #expect(await running.server.want([:], on: key) == nil)
        running.server.stop()
        #expect(await running.server.want([:], on: key) == nil)
    }
}
