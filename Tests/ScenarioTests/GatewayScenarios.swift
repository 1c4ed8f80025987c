import SecureMedia
import SwitchboardClient
import Testing

@testable import switchboard_load

/// The SDK in calls of the media gateway, with the load generator's ICE, DTLS and SRTP as the WebRTC stack of the app.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct GatewayScenarios {
    @Test func joinsAGroupAndSeesEverybody() async throws {
        let server = try await RealServer()
        let apps = try await App.group(["Ann", "Ben", "Cleo"], on: server)
        for app in apps {
            #expect(app.needs == [.first])
            #expect(app.call.document.mode == "gateway")
            try await app.untilMedia(of: apps.count - 1)
            // The same offer once more leaves the leg unchanged.
            #expect(try await app.call.leg(offer: app.lastOffer).epoch == app.call.document.gatewayEpoch)
            try await app.untilMedia(of: apps.count - 1)
        }
        // One of them leaves, and no slot shows her any more.
        let (ann, others) = (apps[0], apps.dropFirst())
        try await ann.call.leave()
        for app in others {
            try await app.untilShown(others.map(\.me.id).filter { $0 != app.me.id })
            #expect(app.needs == [.first], "This leg is unchanged.")
        }
        #expect(ann.call.legState.need == nil && ann.call.legState.slots.isEmpty)
        for app in apps { await app.close() }
    }

    @Test func joinsAgainWhenTheServerWasRestarted() async throws {
        let server = try await RealServer()
        let apps = try await App.group(["Ann", "Ben", "Cleo"], on: server)
        for app in apps { try await app.untilMedia(of: apps.count - 1) }
        let epoch = try #require(apps[0].call.document.gatewayEpoch)
        try await server.crashAndRestart()
        let ready = ContinuousClock.now
        for app in apps { try await app.untilNeeds([.first, .gatewayRestarted]) }
        for app in apps {
            try await app.untilShown(apps.map(\.me.id).filter { $0 != app.me.id })
            try await app.untilMedia(of: apps.count - 1)
            #expect(app.call.document.gatewayEpoch == epoch + 1)
            #expect(app.call.document.participants.allSatisfy { $0.state == .joined })
        }
        print("Media flows again \(ContinuousClock.now - ready) after the server was ready again.")
        for app in apps { await app.close() }
    }

    /// The app's side of the leg breaks: the server notifies the app, which makes another.
    @Test func makesAnotherLegWhenOneEnds() async throws {
        let server = try await RealServer()
        let apps = try await App.group(["Ann", "Ben"], on: server, mode: "gateway")
        for app in apps { try await app.untilMedia(of: 1) }
        await apps[1].hangUpLeg()
        try await apps[1].untilNeeds([.first, .ended(reason: "closed")])
        for app in apps { try await app.untilMedia(of: 1) }
        for app in apps { await app.close() }
    }

    @Test func setsPreferredVideoQuality() async throws {
        let server = try await RealServer()
        let apps = try await App.group(["Ann", "Ben", "Cleo"], on: server)
        let ann = apps[0]
        for app in apps { try await app.untilMedia(of: apps.count - 1) }
        let mids = ann.call.legState.slots.filter { $0.kind == .video }.map(\.mid)
        try #require(mids.count == 2)
        #expect(try await ann.call.setSlotPreferences([mids[0]: .low]) == [mids[0]: .low, mids[1]: .high])
        #expect(try await ann.call.setSlotPreferences([mids[1]: .medium]) == [mids[0]: .low, mids[1]: .medium])
        let audioMid = try #require(ann.call.legState.slots.first { $0.kind == .audio }?.mid)
        do {
            try await ann.call.setSlotPreferences([mids[0]: .off, audioMid: .low])
            Issue.record("An audio slot accepted a video quality.")
        } catch SwitchboardError.refused(let problem) {
            #expect(problem.kind == .invalidRequest && problem.field == "slots.\(audioMid)")
        }
        // The same offer once more leaves the leg and its preferences unchanged.
        try await ann.call.leg(offer: ann.lastOffer)
        #expect(try await ann.call.setSlotPreferences([:]) == [mids[0]: .low, mids[1]: .medium])
        await ann.hangUpLeg()
        try await ann.untilNeeds([.first, .ended(reason: "closed")])
        try await ann.untilMedia(of: apps.count - 1)
        #expect(Set(try await ann.call.setSlotPreferences([:]).values) == [.high])
        for app in apps { await app.close() }
    }

    @Test func recordsAVoiceMessage() async throws {
        let server = try await RealServer()
        let (ann, annMe) = try await server.person("Ann")
        #expect(try await ann.serverDescription().voice.recording)
        let worker = try MediaWorker(0, .init(bitrate: 200_000, junk: 0))
        defer { worker.stop() }
        let maker = try LegMaker(SRTPProfile.preferred, on: worker, expectsMedia: false)
        func record() async throws -> (VoiceRecording, LegMaker.Leg) {
            let opening = try maker.open(MediaParameters(audio: true, video: false, audioSlots: 0, videoSlots: 0))
            let recording = try await ann.recordVoice(offer: opening.offer.text)
            return (recording, try await maker.connect(opening, LegPlan(opening.offer, answer: recording.answer)))
        }
        let (recording, leg) = try await record()
        // The time of the recording.
        try await Task.sleep(for: .seconds(2))
        await leg.expectEnd()
        let file = try await recording.finish()
        #expect(file.durationMs > 1_000)
        #expect(try await recording.finish().id == file.id)
        let conversation = try await ann.conversations.notes().id
        let notes = ann.messages(in: conversation)
        let sent = try await notes.sendVoice(file)
        for await state in notes where state.messages.last?.delivery == .sent {
            #expect(state.messages.last?.id == sent && sent.author == annMe.id)
            #expect(state.messages.last?.voice?.file == file.id)
            break
        }
        let (other, itsLeg) = try await record()
        await itsLeg.expectEnd()
        try await other.discard()
        let gone = await #expect(throws: SwitchboardError.self) { _ = try await other.finish() }
        #expect(gone?.problem?.kind == .notFound)
        await ann.close()
    }

    @Test func refusesInvalidLegs() async throws {
        let server = try await RealServer()
        let (ann, _) = try await server.person("Ann")
        let (ben, benMe) = try await server.person("Ben")
        var incoming = await ben.incomingCalls.makeAsyncIterator()
        let direct = try await ann.call([benMe.id], kind: .audio)
        try await #require(await incoming.next()).accept()
        await #expect(throws: SwitchboardError.self) { try await direct.leg(offer: "v=0") }
        #expect(direct.legState.need == nil)
        try await direct.end()
        let call = try await ann.call([benMe.id], kind: .audio, mode: "gateway")
        do {
            try await call.leg(offer: "v=0")
            Issue.record("An offer without a section was answered.")
        } catch SwitchboardError.refused(let problem) {
            #expect(problem.kind == .invalidRequest && problem.field == "offer.sdp")
        }
        #expect(call.legState.need == .first)
        await ann.close()
        await ben.close()
    }
}
