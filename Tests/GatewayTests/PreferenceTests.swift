import Gateway
import SDP
import Testing

/// What participants want in their slots is kept with these.
@Suite struct WishTests {
    @Test func everySlotBeginsWithTheBestPicture() throws {
        var conference = Conference()
        let leg = try conference.join("anna", Client(audioSlots: 1, videoSlots: 2))
        #expect(conference.wishes(of: leg) == ["1": .high, "2": .high])
    }

    @Test func onlySlotsThatAreNamedChange() throws {
        var conference = Conference()
        let leg = try conference.join("anna", Client(audioSlots: 1, videoSlots: 3))
        let other = try conference.join("ben", Client(audioSlots: 1, videoSlots: 3))
        conference.want(["1": .low, "2": .off], on: leg)
        conference.want(["2": .medium], on: leg)
        #expect(conference.wishes(of: leg) == ["1": .low, "2": .medium, "3": .high])
        #expect(conference.wishes(of: other) == ["1": .high, "2": .high, "3": .high])
    }

    /// An audio slot, the leg's own track and a section that there is not have no picture to be asked for.
    @Test func whatIsNoVideoSlotIsLeftAlone() throws {
        var conference = Conference()
        let leg = try conference.join("anna", Client(audio: 100, audioSlots: 1, videoSlots: 1))
        conference.want(["0": .off, "1": .off, "7": .off], on: leg)
        #expect(conference.wishes(of: leg) == ["2": .high])
    }

    @Test func slotsThatStayKeepTheirWishesWhenTheLegChanges() throws {
        var conference = Conference()
        let leg = try conference.join("anna", Client(audioSlots: 0, videoSlots: 2))
        conference.want(["0": .low, "1": .off], on: leg)
        try conference.renegotiate(leg, Client(audioSlots: 0, videoSlots: 3))
        #expect(conference.wishes(of: leg) == ["0": .low, "1": .off, "2": .high])
        try conference.renegotiate(leg, Client(audioSlots: 0, videoSlots: 1))
        #expect(conference.wishes(of: leg) == ["0": .low])
        // A slot that is there again is another one.
        try conference.renegotiate(leg, Client(audioSlots: 0, videoSlots: 2))
        #expect(conference.wishes(of: leg) == ["0": .low, "1": .high])
    }

    @Test func aLegThatHasGoneWantsNothing() throws {
        var conference = Conference()
        let client = Client(audioSlots: 0, videoSlots: 1)
        let old = try conference.join("anna", client)
        _ = try conference.join("ben", client)
        conference.want(["0": .off], on: old)
        conference.leave(old)
        #expect(conference.wishes(of: old) == nil)
        let new = try conference.join("anna", client)
        #expect(new.place == old.place)
        let isKept = conference.want(["0": .low], on: old)
        #expect(!isKept)
        #expect(conference.wishes(of: new) == ["0": .high])
    }
}
