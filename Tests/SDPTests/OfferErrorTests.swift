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
            .nothingAcceptable("no codec of this call is offered in it"), nil,
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

    @Test("a section that cannot be used is rejected alone, and the bundle begins with the next")
    func rejected() throws {
        var offer = try Offers.description("chromium-life-1")
        offer.sections[0].payloads.removeAll { $0.payloadType == 111 }
        var leg = TestLeg()
        let made = try leg.answer(offer)
        #expect(made.sections[0].rejection == "no codec of this call is offered in it")
        #expect(made.answer.sections[0].port == 0 && made.answer.bundle?.first == "1")
        #expect(made.answer.sections[1].candidates == TestLeg.candidates)
        let data = try #require(leg.answerFresh("firefox-plain-1").sections.last)
        #expect(data.rejection == "application is not forwarded" && data.kind == nil)
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
