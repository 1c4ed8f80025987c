import Gateway
import MediaGateway
import Testing

@Suite("Slot preferences")
struct PreferenceTests {
    @Test("are kept from before the leg is connected, and when it is renegotiated")
    func kept() throws {
        let harness = try MediaGatewayHarness()
        let ann = try LegClient("ann", ssrc: 11, to: harness.address)
        ann.videoSlots = 2
        try harness.open(ann)
        #expect(try harness.setPreferences([:], on: ann) == "2: high, 3: high")
        #expect(try harness.setPreferences(["2": .low], on: ann) == "2: low, 3: high")
        try harness.renegotiate(ann)
        ann.check(nominates: true)
        harness.settle([ann])
        ann.startHandshake()
        harness.settle([ann])
        try #require(ann.isConnected)
        #expect(try harness.setPreferences([:], on: ann) == "2: low, 3: high")
        #expect(try harness.setPreferences(["3": .off], on: ann) == "2: low, 3: off")
        ann.videoSlots = 3
        try harness.renegotiate(ann)
        #expect(try harness.setPreferences([:], on: ann) == "2: low, 3: off, 4: high")
        try harness.close(ann)
        #expect(try harness.setPreferences(["2": .high], on: ann) == nil)
    }

    @Test("apply only to video slots: another mid changes nothing", arguments: [false, true])
    func unknown(isConnected: Bool) throws {
        let harness = try MediaGatewayHarness()
        let ann = try LegClient("ann", ssrc: 11, to: harness.address)
        ann.videoSlots = 1
        if isConnected { try harness.connect(ann) } else { try harness.open(ann) }
        for mid in ["0", "1", "3", ""] {
            #expect(try harness.setPreferences(["2": .off, mid: .low], on: ann) == "2: high")
        }
        #expect(try harness.setPreferences(["2": .medium], on: ann) == "2: medium")
    }

    @Test("end with the leg")
    func replaced() async throws {
        let running = try RunningGateway()
        defer { running.server.stop() }
        let key = LegKey(call: "call", participant: "ann")
        #expect(await running.server.setPreferences(["2": .low], on: key) == nil)
        for ssrc in [11, 12] as [UInt32] {
            let ann = try LegClient("ann", ssrc: ssrc, to: running.address)
            ann.videoSlots = 2
            _ = try await running.answer(ann)
            #expect(await running.server.setPreferences([:], on: key)?.text == "2: high, 3: high")
            #expect(await running.server.setPreferences(["3": .off], on: key)?.text == "2: high, 3: off")
            // The same PeerConnection offers again.
            _ = try await running.answer(ann)
            #expect(await running.server.setPreferences([:], on: key)?.text == "2: high, 3: off")
        }
        running.server.end(key)
        #expect(await running.server.setPreferences([:], on: key) == nil)
        running.server.stop()
        #expect(await running.server.setPreferences([:], on: key) == nil)
    }
}
