import Gateway
import SDP
import Testing

/// What participants want in their slots is kept with these.
@Suite struct PreferenceTests {
    @Test func everySlotBeginsWithTheHighestQuality() throws {
        var harness = GatewayHarness()
        let leg = try harness.join("anna", Client(audioSlots: 1, videoSlots: 2))
        #expect(harness.preferences(of: leg) == ["1": .high, "2": .high])
    }

    @Test func onlySlotsThatAreNamedChange() throws {
        var harness = GatewayHarness()
        let leg = try harness.join("anna", Client(audioSlots: 1, videoSlots: 3))
        let other = try harness.join("ben", Client(audioSlots: 1, videoSlots: 3))
        harness.setPreferences(["1": .low, "2": .off], on: leg)
        harness.setPreferences(["2": .medium], on: leg)
        #expect(harness.preferences(of: leg) == ["1": .low, "2": .medium, "3": .high])
        #expect(harness.preferences(of: other) == ["1": .high, "2": .high, "3": .high])
    }

    /// An audio slot, the leg's own track and an unknown section have no preference.
    @Test func whatIsNoVideoSlotIsLeftAlone() throws {
        var harness = GatewayHarness()
        let leg = try harness.join("anna", Client(audio: 100, audioSlots: 1, videoSlots: 1))
        harness.setPreferences(["0": .off, "1": .off, "7": .off], on: leg)
        #expect(harness.preferences(of: leg) == ["2": .high])
    }

    @Test func slotsKeepTheirPreferencesWhenTheLegIsRenegotiated() throws {
        var harness = GatewayHarness()
        let leg = try harness.join("anna", Client(audioSlots: 0, videoSlots: 2))
        harness.setPreferences(["0": .low, "1": .off], on: leg)
        try harness.renegotiate(leg, Client(audioSlots: 0, videoSlots: 3))
        #expect(harness.preferences(of: leg) == ["0": .low, "1": .off, "2": .high])
        try harness.renegotiate(leg, Client(audioSlots: 0, videoSlots: 1))
        #expect(harness.preferences(of: leg) == ["0": .low])
        // A slot that is there again is another one.
        try harness.renegotiate(leg, Client(audioSlots: 0, videoSlots: 2))
        #expect(harness.preferences(of: leg) == ["0": .low, "1": .high])
    }

    @Test func aRemovedLegHasNoPreferences() throws {
        var harness = GatewayHarness()
        let client = Client(audioSlots: 0, videoSlots: 1)
        let old = try harness.join("anna", client)
        _ = try harness.join("ben", client)
        harness.setPreferences(["0": .off], on: old)
        harness.leave(old)
        #expect(harness.preferences(of: old) == nil)
        let new = try harness.join("anna", client)
        #expect(new.index == old.index)
        let isKept = harness.setPreferences(["0": .low], on: old)
        #expect(!isKept)
        #expect(harness.preferences(of: new) == ["0": .high])
    }
}
