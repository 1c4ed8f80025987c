import SDP
import Testing

@Suite("What an answer says")
struct AnswerRuleTests {
    @Test("the gateway begins the handshake where the client waits for it, and goes on with its role")
    func roles() throws {
        var offer = try Offers.description("chromium-life-1")
        func answered(_ role: SetupRole?, _ leg: inout TestLeg) throws -> [SetupRole?] {
            for index in offer.sections.indices { offer.sections[index].attributes.setup = role }
            return try leg.answer(offer).answer.sections.filter { $0.port != 0 }.map(\.attributes.setup)
        }
        for first in [SetupRole.passive, .active, .actpass, nil] {
            var leg = TestLeg()
            let own: SetupRole = first == .passive ? .active : .passive
            for later in [first, .actpass, nil, first == .passive ? .passive : .active] {
                #expect(try Set(answered(later, &leg)) == [own])
            }
            #expect(throws: OfferError.self) { try answered(first == .passive ? .active : .passive, &leg) }
            #expect(try Set(answered(.actpass, &leg)) == [own])
        }
        // In the session's attributes it counts for all sections.
        for index in offer.sections.indices { offer.sections[index].attributes.setup = nil }
        offer.attributes.setup = .passive
        var leg = TestLeg()
        #expect(try leg.answer(offer).answer.sections[0].attributes.setup == .active)
    }

    @Test("each answer fits its offer, section by section", arguments: Offers.names)
    func shape(name: String) throws {
        let offer = try Offers.description(name)
        var test = TestLeg()
        test.capabilities.videoCodecs = [.vp8, .h264(.constrainedBaseline, packetizationMode: 1), .vp9(profile: 0)]
        let leg = try test.answer(offer)
        #expect(leg.answer.isICELite)
        #expect(leg.answer.sections.count == offer.sections.count && leg.sections.count == offer.sections.count)
        let live = leg.sections.filter { $0.rejection == nil }.map(\.mid)
        #expect(leg.answer.bundle == offer.bundle?.filter { live.contains($0) })
        for (offered, (made, answered)) in zip(offer.sections, zip(leg.sections, leg.answer.sections)) {
            #expect(answered.mid == offered.mid && answered.kind == offered.kind)
            #expect(answered.transport == offered.transport)
            guard made.rejection == nil else {
                #expect(answered.port == 0 && answered.attributes.fingerprints.isEmpty)
                continue
            }
            #expect(answered.port != 0 && answered.hasRTCPMultiplexing && answered.attributes.setup == .passive)
            #expect(answered.attributes.iceUfrag == leg.credentials.ufrag)
            #expect(answered.direction == offered.direction?.reversed)
            #expect(!answered.payloads.isEmpty)
            for payload in answered.payloads {
                let counterpart = try #require(offered.payloads.first { $0.payloadType == payload.payloadType })
                #expect(payload.encoding == counterpart.encoding)
                #expect(Set(payload.feedback).isSubset(of: counterpart.feedback))
                if let apt = payload.parameter("apt") {
                    #expect(answered.payloads.contains { String($0.payloadType) == apt })
                }
            }
            for map in answered.attributes.extensions {
                #expect(
                    offered.attributes.extensions.contains {
                        $0.id == map.id && $0.uri == map.uri && $0.direction == map.direction?.reversed
                    })
            }
            #expect((made.slot != nil) == made.direction.sends)
            #expect(answered.sources.isEmpty == (made.slot == nil))
            #expect(answered.streams.count == (made.slot == nil ? 0 : 1))
        }
        let slots = leg.sections.compactMap(\.slot).flatMap { [$0.ssrc, $0.retransmissionSSRC] }
        #expect(Set(slots).count == slots.count)
    }

    @Test("simulcast is received by rid, and the result says what is needed to forward")
    func simulcast() throws {
        var test = TestLeg()
        let leg = try test.answer(Offers.description("chromium-life-1"))
        let camera = leg.sections[1]
        #expect(camera.direction == .receiveOnly && camera.rids == ["q", "h", "f"] && camera.slot == nil)
        #expect(leg.answer.sections[1].simulcast == Simulcast(receive: [[.init("q")], [.init("h")], [.init("f")]]))
        #expect(leg.answer.sections[1].restrictionIDs.allSatisfy { $0.direction == .recv })
        #expect(camera.codecs.map(\.codec) == [.vp8])
        #expect(camera.codec(96)?.retransmission == 97 && camera.codec(97)?.codec == .vp8)
        #expect(camera.codecs[0].feedback == [.nack, .pictureLoss, .fullIntraRequest, .transportWide])
        #expect(camera.extensionID(ExtensionURI.rid) == 10 && camera.extensionID(ExtensionURI.repairedRID) == 11)
        #expect(leg.sections[0].codecs.map(\.codec) == [.opus, .redundantAudio])
        #expect(leg.sections[0].codecs[0].feedback == .transportWide && leg.sections[0].sources.count == 1)
        let slot = leg.sections[4]
        #expect(slot.direction == .sendOnly && slot.extensionID(ExtensionURI.rid) == nil)
        #expect(slot.extensionID(ExtensionURI.transportWide) == 3)
        #expect(leg.allowsMixedExtensions && !leg.isICERestart && leg.remote.trickles && !leg.remote.renominates)
    }

    @Test("a client without transport-wide feedback is left its REMB; retransmissions are announced by FID")
    func aiortc() throws {
        var test = TestLeg()
        let leg = try test.answer(Offers.description("aiortc-1"))
        #expect(leg.sections.map(\.direction) == [.sendReceive, .sendReceive, .sendOnly, .sendOnly])
        #expect(leg.sections[1].codecs[0].feedback == [.nack, .pictureLoss, .receiverEstimatedBitrate])
        #expect(leg.sections[1].sources.first?.retransmission != nil && leg.sections[1].rids.isEmpty)
        #expect(leg.remote.fingerprints.count == 3 && !leg.remote.candidates.isEmpty)
    }

    @Test("the extensions that Firefox only sends have no place in its slots")
    func directions() throws {
        var test = TestLeg()
        let leg = try test.answer(Offers.description("firefox-life-1"))
        #expect(leg.sections[1].rids == ["q", "h", "f"])
        #expect(leg.sections[1].extensionID(ExtensionURI.dependencyDescriptor) == 8)
        #expect(leg.sections[4].extensionID(ExtensionURI.dependencyDescriptor) == nil)
        #expect(leg.answer.sections[1].attributes.extensions.contains { $0.id == 9 && $0.direction == .receiveOnly })
    }

    @Test("H.264 by profile and mode, in the offer's order; what differs is another codec")
    func codecs() throws {
        var test = TestLeg()
        test.capabilities.videoCodecs = [
            .av1(profile: 0), .h264(.constrainedBaseline, packetizationMode: 1), .h264(.high, packetizationMode: 1),
            .vp8,
        ]
        let leg = try test.answer(Offers.description("chromium-life-1"))
        #expect(leg.sections[1].codecs.map(\.payloadType) == [96, 108, 45])
        let h264 = try #require(leg.answer.sections[1].payloads.first { $0.payloadType == 108 })
        #expect(h264.parameters == "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f")
    }

    @Test("published is what all can play, if the client has any of it; slots take all that there is")
    func common() throws {
        var test = TestLeg()
        test.capabilities.videoCodecs = [.vp8, .h264(.constrainedBaseline, packetizationMode: 1), .av1(profile: 0)]
        test.capabilities.commonVideoCodecs = [.vp8, .av1(profile: 0)]
        var leg = try test.answer(Offers.description("chromium-life-1"))
        #expect(leg.sections[1].direction == .receiveOnly)
        #expect(leg.sections[1].codecs.map(\.codec) == [.vp8, .av1(profile: 0)])
        #expect(leg.answer.sections[1].payloads.map(\.payloadType) == [96, 97, 45, 46])
        let slot = try #require(leg.sections.first { $0.kind == .video && $0.direction.sends })
        #expect(
            slot.codecs.map(\.codec) == [.vp8, .h264(.constrainedBaseline, packetizationMode: 1), .av1(profile: 0)])
        test = TestLeg()
        test.capabilities.videoCodecs = [.h264(.constrainedBaseline, packetizationMode: 1)]
        test.capabilities.commonVideoCodecs = [.vp8]
        leg = try test.answer(Offers.description("chromium-life-1"))
        #expect(leg.sections[1].codecs.map(\.codec) == [.h264(.constrainedBaseline, packetizationMode: 1)])
    }

    @Test("slots end where the gateway's end, and what may not be published is not taken")
    func limits() throws {
        var test = TestLeg()
        (test.capabilities.audioSlots, test.capabilities.videoSlots) = (1, 24)
        test.capabilities.mayPublish = [.audio]
        test.capabilities.audioBitrate = 48_000
        let leg = try test.answer(Offers.description("chromium-slots-1"))
        #expect(leg.sections[0].direction == .receiveOnly && leg.sections[1].direction == .inactive)
        #expect(leg.sections.filter { $0.direction == .sendOnly }.count == 25)
        #expect(leg.sections[3].direction == .inactive && leg.sections.last?.direction == .inactive)
        #expect(leg.answer.sections[0].bandwidths == [Bandwidth("AS", 48), Bandwidth("TIAS", 48000)])
    }

    @Test("over a leg's life slots and payload types stay, credentials change with the client's")
    func life() throws {
        for client in ["chromium", "firefox"] {
            var test = TestLeg()
            let legs = try (1...5).map { try test.answer(Offers.description("\(client)-life-\($0)")) }
            let slots = { (leg: NegotiatedLeg) in
                Dictionary(
                    uniqueKeysWithValues: leg.sections.compactMap { section in section.slot.map { (section.mid, $0) } })
            }
            for (before, after) in zip(legs, legs.dropFirst()) {
                #expect(slots(after).merging(slots(before)) { _, old in old } == slots(after))
                #expect(UInt64(after.answer.origin.version) == UInt64(before.answer.origin.version).map { $0 + 1 })
                #expect(after.answer.origin.session == before.answer.origin.session)
            }
            #expect(legs.map(\.isICERestart) == [false, false, false, false, true])
            #expect(Set(legs.prefix(4).map(\.credentials)).count == 1 && legs[3].credentials != legs[4].credentials)
            #expect(legs[2].sections[7].rejection != nil && legs[3].sections[7].mid == "9")
            #expect(legs[4].sections[0].direction == .inactive && legs[4].sections[0].rejection == nil)
        }
    }

    @Test("a stopped section without a mid is answered with port 0 at its place")
    func stopped() throws {
        // As Firefox leaves a section whose transceiver was stopped.
        let section = "m=audio 0 UDP/TLS/RTP/SAVPF 0\r\nc=IN IP4 0.0.0.0\r\na=inactive\r\na=rtpmap:0 PCMU/8000\r\n"
        var offer = try Offers.description("firefox-life-1")
        offer.sections.insert(try SessionDescription(parsing: ReadingTests.head + section).sections[0], at: 0)
        offer = try SessionDescription(parsing: offer.text)
        #expect(offer.sections[0].isRejected && offer.sections[0].mid == nil)
        var test = TestLeg()
        let leg = try test.answer(offer)
        #expect(leg.sections[0].rejection == .stopped)
        #expect(leg.answer.sections[0].port == 0 && leg.answer.sections[0].mid == nil)
        #expect(leg.answer.text.contains("m=audio 0 UDP/TLS/RTP/SAVPF 0\r\n"))
        let direct = try TestLeg().answerFresh("firefox-life-1")
        #expect(leg.answer.bundle == direct.answer.bundle)
        #expect(leg.sections.dropFirst().map(\.direction) == direct.sections.map(\.direction))
        #expect(leg.answer.sections[1].candidates == TestLeg.candidates)
        // One in the middle, and one that was in use before.
        var later = offer
        later.sections[3] = offer.sections[0]
        #expect(try test.answer(later).sections[3].rejection == .stopped)
        // Its place may be taken by another one.
        later.sections[0] = offer.sections[1]
        later.sections[0].mid = "new"
        later.groups[0].mids.append("new")
        #expect(try test.answer(later).sections[0].rejection == nil)
        var live = offer
        live.sections[0].port = 9
        let error = #expect(throws: OfferError.self) { try test.answer(live) }
        #expect(error?.reason == .noMid && error?.section == 0)
    }

    @Test("one section needs no BUNDLE, and its answer has none; two need it")
    func alone() throws {
        var offer = try Offers.description("gstreamer-1")
        offer.groups = []
        let error = #expect(throws: OfferError.self) { try TestLeg().negotiation(of: offer) }
        #expect(error?.reason == .noBundle && error?.description.contains("max-bundle") == true)
        let data = try #require(Offers.description("firefox-plain-1").sections.last)
        // Alone, beside a stopped section, and beside one that is not forwarded.
        for others in [[], [offer.sections[2].stopped], [data]] {
            var single = offer
            single.sections = [offer.sections[0]] + others
            var test = TestLeg()
            let leg = try test.answer(single)
            #expect(leg.sections[0].rejection == nil && leg.sections.dropFirst().allSatisfy { $0.rejection != nil })
            #expect(leg.answer.groups == [] && !leg.answer.text.contains("BUNDLE"))
            #expect(leg.answer.sections[0].port == 3480 && leg.answer.sections[0].candidates == TestLeg.candidates)
            // Another section of a later offer needs the group.
            single.sections = [offer.sections[0]] + others + [offer.sections[1]]
            let error = #expect(throws: OfferError.self) { try test.answer(single) }
            #expect(error?.reason == .noBundle)
            single.groups = [SectionGroup("BUNDLE", ["audio0", "video1"])]
            #expect(try test.answer(single).answer.bundle == ["audio0", "video1"])
        }
    }

    /// The offered parameters of Opus, and the answered ones: in a call, and from a leg that only publishes.
    static let stereo = [
        ("minptime=10;useinbandfec=1", "usedtx=1", "usedtx=1"),
        ("minptime=10;useinbandfec=1;stereo=1;sprop-stereo=1", "stereo=1", "stereo=1"),
        ("sprop-stereo=1; stereo=1", "stereo=1", "stereo=1"), ("sprop-stereo=1", "stereo=1", "stereo=1"),
        ("maxplaybackrate=48000;stereo=1;useinbandfec=1", "usedtx=1", "stereo=1"),
        ("stereo=0;sprop-stereo=0", "usedtx=1", "usedtx=1"), ("stereo=10;sprop-stereo", "usedtx=1", "usedtx=1"),
    ]

    @Test("two channels of Opus are asked for where the client sends them, and then without DTX", arguments: stereo)
    func channels(offered: String, inCall: String, published: String) throws {
        var offer = try Offers.description("chromium-plain-1")
        let index = try #require(offer.sections[0].payloads.firstIndex { $0.payloadType == 111 })
        offer.sections[0].payloads[index].parameters = offered
        for (isPublisher, expected) in [(false, inCall), (true, published)] {
            var test = TestLeg()
            test.capabilities.prefersStereo = isPublisher
            let leg = try test.answer(offer)
            let opus = try #require(leg.answer.sections[0].payloads.first { $0.payloadType == 111 })
            #expect(opus.parameters == "minptime=10;useinbandfec=1;" + expected)
            #expect(leg.sections[0].isStereo == (expected == "stereo=1"))
            #expect(leg.sections.filter(\.isStereo).allSatisfy { $0.kind == .audio })
            test.capabilities.requestsDTX = false
            let quiet = try #require(test.answer(offer).answer.sections[0].payloads.first { $0.payloadType == 111 })
            #expect(quiet.parameter("usedtx") == nil && (quiet.parameter("stereo") == "1") == leg.sections[0].isStereo)
        }
    }

    @Test("SSRCs that the client uses are not given to slots")
    func collisions() throws {
        let offer = try Offers.description("chromium-life-1")
        let taken = try #require(offer.sections[0].sources.first?.ssrc)
        var leg = LegNegotiation(session: 1)
        let transport = GatewayTransport(
            fingerprints: [TestLeg.fingerprint], candidates: [],
            freshCredentials: ICECredentials(ufrag: "abcd", password: String(repeating: "p", count: 22)))
        let slot = { (ssrc: UInt32) in
            SlotIdentity(ssrc: ssrc, retransmissionSSRC: ssrc &+ 1, cname: "c", stream: "s", track: "t")
        }
        var next = taken &- 2
        let made = try leg.answer(offer, .init(), transport) { _ in
            next &+= 2
            return slot(next)
        }
        #expect(made.sections.compactMap(\.slot).allSatisfy { $0.ssrc != taken })
        #expect(made.answer.sections[0].port == 9)
        var other = LegNegotiation(session: 1)
        let error = #expect(throws: OfferError.self) {
            try other.answer(offer, .init(), transport) { _ in slot(taken) }
        }
        #expect(error?.reason == .noFreeSSRC && error?.mid == "2")
    }
}
