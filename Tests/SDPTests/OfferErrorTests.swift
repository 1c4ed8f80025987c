import SDP
import Testing

@Suite("Offers that cannot be answered")
struct OfferErrorTests {
    /// The reason, the section, and what is done to a good offer.
    static let changes: [(OfferError.Reason, Int?, @Sendable (inout SessionDescription) -> Void)] = [
        (.noSections, nil, { $0.sections = [] }),
        (.noBundle, nil, { $0.groups = [] }),
        (.noMid, 1, { $0.sections[1].mid = nil }),
        (.repeatedMid, 3, { $0.sections[3].mid = "1" }),
        (.noRTCPMultiplexing, 1, { $0.sections[1].hasRTCPMultiplexing = false }),
        (.noICECredentials, 0, { $0.sections[0].attributes.iceUfrag = nil }),
        (.noFingerprint, 0, { $0.sections[0].attributes.fingerprints = [] }),
        (
            .noFingerprint, 0,
            {
                $0.sections[0].attributes.fingerprints = [
                    FingerprintAttribute(algorithm: "sha-1", digest: [UInt8](repeating: 1, count: 20))
                ]
            }
        ),
        (.setup(.holdconn), 0, { $0.sections[0].attributes.setup = .holdconn }),
        (.payloadTypeChanged(97), 4, { $0.sections[4].payloads[1].encoding?.name = "ulpfec" }),
        (.extensionChanged(4), 2, { $0.sections[2].attributes.extensions[3].uri = "urn:other" }),
        (.nothingAcceptable("it is not in the BUNDLE group"), nil, { $0.groups[0].mids = [] }),
        (
            .nothingAcceptable("RTP/AVP is not supported"), nil,
            { for index in $0.sections.indices { $0.sections[index].transport = "RTP/AVP" } }
        ),
        (
            .nothingAcceptable(
                "no codec of this call is offered in it: it has none, and accepted are opus"), nil,
            { for index in $0.sections.indices { $0.sections[index].payloads.removeAll { $0.encoding != nil } } }
        ),
    ]

    @Test("the section and the reason are named", arguments: changes.indices)
    func errors(index: Int) throws {
        let (reason, section, change) = Self.changes[index]
        var offer = try Offers.description("chromium-life-1")
        change(&offer)
        var leg = TestLeg()
        let error = #expect(throws: OfferError.self) { try leg.answer(offer) }
        #expect(error?.reason == reason && error?.section == section)
        if let section { #expect(error?.description.hasPrefix("section \(section + 1)") == true) }
    }

    @Test("a later offer may not take back what lives, and changes nothing when it tries")
    func later() throws {
        let first = try Offers.description("chromium-life-1")
        let changes: [(OfferError.Reason, (inout SessionDescription) -> Void)] = [
            (.sectionsMissing(7), { $0.sections.removeLast() }),
            (.sectionChanged(was: "audio with mid 2"), { $0.sections[2].mid = "22" }),
            (.sectionChanged(was: "audio with mid 2"), { $0.sections[2].kind = "video" }),
            (
                .fingerprintChanged,
                {
                    $0.sections[0].attributes.fingerprints = [
                        FingerprintAttribute(algorithm: "sha-256", digest: [UInt8](repeating: 1, count: 32))
                    ]
                }
            ),
            (
                .roleChanged(.passive), { $0.sections[0].attributes.setup = .passive }
            ),
            (
                .payloadTypeChanged(63),
                { for index in [0, 2, 3] { $0.sections[index].payloads[1].encoding?.name = "G722" } }
            ),
        ]
        var leg = TestLeg()
        let before = try leg.answer(first)
        for (reason, change) in changes {
            var offer = first
            change(&offer)
            let error = #expect(throws: OfferError.self) { try leg.answer(offer) }
            #expect(error?.reason == reason)
        }
        var again = try leg.answer(first)
        #expect(again.answer.origin.version == "2")
        again.answer.origin.version = "1"
        #expect(again == before)
    }

    /// An offer of Opus and of H.264 with these parameters, as an encoder makes it.
    private func encoder(_ parameters: String?, name: String = "H264", audio: String = "opus/48000/2") throws
        -> SessionDescription
    {
        let section = { (kind: String, mid: Int, type: Int, map: String, more: String) in
            """
            m=\(kind) 9 UDP/TLS/RTP/SAVPF \(type)\r\nc=IN IP4 0.0.0.0\r\na=mid:\(mid)\r\na=sendonly\r\na=rtcp-mux\r
            a=ice-ufrag:peer\r\na=ice-pwd:abcdabcdabcdabcdabcdabcd\r\na=setup:actpass\r
            a=fingerprint:sha-256 \(Array(repeating: "01", count: 32).joined(separator: ":"))\r
            a=rtpmap:\(type) \(map)\r\n\(more)
            """
        }
        let fmtp = parameters.map { "a=fmtp:106 \($0)\r\n" } ?? ""
        return try SessionDescription(
            parsing: ReadingTests.head + "a=group:BUNDLE 0 1\r\n" + section("audio", 0, 111, audio, "")
                + section("video", 1, 106, "\(name)/90000", fmtp))
    }

    private static var publisher: TestLeg {
        var test = TestLeg()
        test.capabilities.videoCodecs = MediaCodec.forwardedVideo
        test.capabilities.requiresEveryKind = true
        return test
    }

    @Test(
        "H.264 counts as constrained baseline without the bit for it, without parameters, and in mode 0",
        arguments: [
            "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42000d",
            "packetization-mode=1;profile-level-id=42001f", "packetization-mode=1;profile-level-id=42801f",
            "packetization-mode=1", "packetization-mode=0;profile-level-id=42e01f", "profile-level-id=42E01F",
            "packetization-mode=1;profile-level-id=4d801f", "packetization-mode=1; profile-level-id=42c02a", nil,
        ])
    func baseline(parameters: String?) throws {
        var test = Self.publisher
        let leg = try test.answer(encoder(parameters))
        #expect(leg.sections[1].codecs.map(\.codec) == [.h264(.constrainedBaseline, packetizationMode: 1)])
        let answered = try #require(leg.answer.sections[1].payloads.first)
        // Mode and profile are those of the offer (RFC 6184 section 8.2.2).
        for name in ["packetization-mode", "profile-level-id"] {
            #expect(answered.parameter(name) == PayloadFormat(106, parameters: parameters).parameter(name))
        }
    }

    @Test(
        "a publisher whose only video is another profile is refused with its codecs and the accepted ones",
        arguments: ["4d000d", "64000d", "4d001f", "640c1f", "f4001f"])
    func otherProfiles(id: String) throws {
        let offer = try encoder("level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=\(id)")
        var test = Self.publisher
        let error = #expect(throws: OfferError.self) { try test.answer(offer) }
        let accepted = "AV1 (profile=0), H264 (profile=baseline), VP8, VP9 (profile-id=0)"
        let rejection = SectionRejection.codecs(offered: "H264 (profile-level-id=\(id))", accepted: accepted)
        #expect(error?.reason == .codecsNotSupported(rejection) && error?.section == 1 && error?.mid == "1")
        #expect(
            error?.description == "section 2 (mid 1): no codec of this call is offered in it: it has "
                + "H264 (profile-level-id=\(id)), and accepted are \(accepted)")
        // In a call the others of the leg are of use.
        test.capabilities.requiresEveryKind = false
        let leg = try test.answer(offer)
        #expect(leg.sections[0].rejection == nil && leg.sections[1].rejection == rejection)
        #expect(leg.answer.sections[1].port == 0)
    }

    @Test("the same holds for other codecs and for audio, but not where another section of the kind is received")
    func otherCodecs() throws {
        var test = Self.publisher
        var error = #expect(throws: OfferError.self) { try test.answer(encoder("profile-id=1", name: "H265")) }
        #expect(error?.description.contains("it has H265, and accepted are AV1") == true)
        error = #expect(throws: OfferError.self) { try test.answer(encoder(nil, audio: "L16/48000/2")) }
        #expect(
            error?.description == "section 1 (mid 0): no codec of this call is offered in it: it has L16, and "
                + "accepted are opus")
        // Malformed parameters are no codec, and are not shown.
        error = #expect(throws: OfferError.self) { try test.answer(encoder("profile-level-id=zz\u{7}")) }
        #expect(error?.description.contains("it has H264, and") == true)
        var offer = try encoder("profile-level-id=64001f")
        var second = try #require(encoder(nil).sections.last)
        second.mid = "2"
        second.payloads = [PayloadFormat(96, .init("VP8", clockRate: 90000))]
        offer.sections.append(second)
        offer.groups = [SectionGroup("BUNDLE", ["0", "1", "2"])]
        let leg = try test.answer(offer)
        #expect(leg.sections.map { $0.rejection == nil } == [true, false, true])
        // It does not send in it.
        offer = try encoder("profile-level-id=64001f")
        offer.sections[1].attributes.direction = .receiveOnly
        test = Self.publisher
        #expect(try test.answer(offer).sections[1].rejection != nil)
    }

    @Test("of payload types that count as the same codec the true one is taken")
    func preference() throws {
        for (order, expected) in [([102, 104, 108], 108), ([104, 102], 102), ([104, 110], 110), ([104], 104)] {
            let parameters = [
                102: "packetization-mode=1;profile-level-id=42001f",
                104: "packetization-mode=0;profile-level-id=42001f",
                108: "packetization-mode=1;profile-level-id=42e01f",
                110: "packetization-mode=0;profile-level-id=42e01f",
            ]
            var offer = try encoder(nil)
            offer.sections[1].payloads = order.map { type in
                PayloadFormat(UInt8(type), .init("H264", clockRate: 90000), parameters: parameters[type])
            }
            var test = Self.publisher
            #expect(try test.answer(offer).sections[1].codecs.map(\.payloadType) == [UInt8(expected)])
        }
    }

    @Test("a section that cannot be used is rejected alone, and the bundle begins with the next")
    func rejected() throws {
        var offer = try Offers.description("chromium-life-1")
        offer.sections[0].payloads.removeAll { $0.payloadType == 111 }
        var leg = TestLeg()
        let made = try leg.answer(offer)
        #expect(made.sections[0].rejection == .codecs(offered: "G722, PCMU, PCMA", accepted: "opus"))
        #expect(made.answer.sections[0].port == 0 && made.answer.bundle?.first == "1")
        #expect(made.answer.sections[1].candidates == TestLeg.candidates)
        let data = try #require(leg.answerFresh("firefox-plain-1").sections.last)
        #expect(data.rejection == .kind("application") && data.kind == nil)
        #expect(data.rejection?.description == "application is not forwarded")
    }
}

extension PayloadFormat {
    init(_ payloadType: UInt8, _ encoding: Encoding? = nil, parameters: String?) {
        self.init(payloadType, encoding)
        self.parameters = parameters
    }
}

extension MediaSection {
    var stopped: MediaSection {
        var section = self
        (section.port, section.isBundleOnly) = (0, false)
        return section
    }
}

extension TestLeg {
    /// The first answer of such a leg.
    func negotiation(of offer: SessionDescription) throws -> NegotiatedLeg {
        var leg = self
        return try leg.answer(offer)
    }

    func answerFresh(_ name: String) throws -> NegotiatedLeg {
        var leg = TestLeg()
        return try leg.answer(Offers.description(name))
    }
}
