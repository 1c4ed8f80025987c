import SDP
import TestSupport
import Testing
import Wire

@Suite("Properties of descriptions")
struct DescriptionProperties {
    @Test("whatever is written is read as the same", arguments: 0..<200)
    func roundTrip(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let description = SessionDescription.random(using: &random)
        let text = description.text
        #expect(try SessionDescription(parsing: text) == description, "seed \(seed)")
        #expect(try SessionDescription(parsing: text).text == text)
    }

    @Test("real offers that were damaged are refused with a line, or read", arguments: Offers.names)
    func damage(name: String) throws {
        let original = Array(try Offers.text(name).utf8).prefix(20_000)
        var random = SeededRandom(seed: UInt64(name.utf8.count))
        var refused = 0
        for _ in 0..<150 {
            var bytes = Array(original)
            for _ in 0..<Int.random(in: 1...4, using: &random) { damage(&bytes, &random) }
            do {
                let read = try SessionDescription(parsing: bytes.span.bytes)
                #expect(try SessionDescription(parsing: read.text) == read)
            } catch {
                refused += 1
                #expect(error.line >= 1 && error.line <= bytes.count { $0 == 0x0A } + 2)
                #expect(!error.allowed.isEmpty)
            }
        }
        #expect(refused > 0)
    }

    private func damage(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        guard bytes.count > 100 else { return }
        let offset = Int.random(in: 0..<bytes.count - 50, using: &random)
        switch UInt8.random(in: 0..<6, using: &random) {
        case 0: bytes[offset] = .random(in: 0...255, using: &random)
        case 1: bytes.removeSubrange(offset..<offset + .random(in: 1..<40, using: &random))
        case 2: bytes.insert(contentsOf: bytes[offset..<offset + 40], at: .random(in: 0..<bytes.count, using: &random))
        case 3: bytes.removeLast(bytes.count - offset)
        case 4: bytes.insert(0x0A, at: offset)
        default:
            let intruder = ["65536", "-1", "  ", "::", "=", "99999999999999999999"].randomElement(using: &random)
            bytes.insert(contentsOf: (intruder ?? "").utf8, at: offset)
        }
    }
}

extension SessionDescription {
    /// A description with some of everything.
    static func random(using random: inout SeededRandom) -> SessionDescription {
        var made = SessionDescription()
        made.name = ["-", "", "a call"].randomElement(using: &random) ?? "-"
        made.origin.session = String(UInt64.random(in: 0...UInt64.max, using: &random))
        if Bool.random(using: &random) { made.groups.append(SectionGroup("BUNDLE", ["0", "1"])) }
        if Bool.random(using: &random) { made.groups.append(SectionGroup("LS", [])) }
        made.isICELite = Bool.random(using: &random)
        made.attributes = .random(using: &random)
        for index in 0..<Int.random(in: 0..<6, using: &random) {
            made.sections.append(.random(mid: String(index), using: &random))
        }
        return made
    }
}

extension LevelAttributes {
    static func random(using random: inout SeededRandom) -> LevelAttributes {
        var made = LevelAttributes()
        if Bool.random(using: &random) { made.iceUfrag = "uf+/" }
        if Bool.random(using: &random) { made.icePassword = String(repeating: "p", count: 22) }
        if Bool.random(using: &random) { made.iceOptions = ["trickle", "renomination"] }
        if Bool.random(using: &random) {
            let digest = random.bytes(32)
            made.fingerprints = [FingerprintAttribute(algorithm: "SHA-256", digest: digest)]
        }
        made.setup = Bool.random(using: &random) ? SetupRole.allCases.randomElement(using: &random) : nil
        made.direction = Bool.random(using: &random) ? Direction.allCases.randomElement(using: &random) : nil
        for id in 0..<UInt16.random(in: 0..<5, using: &random) {
            var map = ExtensionMap(id + 1, "urn:x:\(id)", direction: Direction.allCases.randomElement(using: &random))
            map.attributes = Bool.random(using: &random) ? "some thing" : nil
            made.extensions.append(map)
        }
        made.allowsMixedExtensions = Bool.random(using: &random)
        if Bool.random(using: &random) { made.others = [OtherAttribute("x"), OtherAttribute("y", "a:b c")] }
        return made
    }
}

extension MediaSection {
    static func random(mid: String, using random: inout SeededRandom) -> MediaSection {
        guard Bool.random(using: &random) || mid == "0" else {
            var data = MediaSection(kind: "application", port: 9, transport: "UDP/DTLS/SCTP")
            data.formats = ["webrtc-datachannel"]
            (data.mid, data.sctpPort, data.maximumMessageSize) = (mid, 5000, 262144)
            return data
        }
        var made = MediaSection(
            kind: ["audio", "video"].randomElement(using: &random) ?? "audio",
            port: [0, 9, 65535][Int(random.next() % 3)],
            transport: "UDP/TLS/RTP/SAVPF")
        made.attributes = .random(using: &random)
        made.mid = Bool.random(using: &random) ? mid : nil
        for type in UInt8(90)..<UInt8.random(in: 91..<127, using: &random) {
            var payload = PayloadFormat(type, Bool.random(using: &random) ? .init("VP8", clockRate: 90000) : nil)
            if Bool.random(using: &random) { payload.encoding?.channels = 2 }
            if Bool.random(using: &random) { payload.parameters = "apt=96;x=y" }
            if Bool.random(using: &random) { payload.feedback = ["nack", "nack pli", "nack"] }
            made.payloads.append(payload)
        }
        made.isBundleOnly = Bool.random(using: &random)
        made.hasRTCPMultiplexing = Bool.random(using: &random)
        made.hasReducedSizeRTCP = Bool.random(using: &random)
        made.hasEndOfCandidates = Bool.random(using: &random)
        if Bool.random(using: &random) { made.connection = nil }
        if Bool.random(using: &random) { made.bandwidths = [Bandwidth("AS", 500), Bandwidth("TIAS", .max)] }
        if Bool.random(using: &random) { made.lines = [OtherLine("i", "information")] }
        if Bool.random(using: &random) {
            var candidate = Candidate(
                foundation: "1", transport: "tcp", priority: .max, address: "2001:db8::1", port: 9, type: "srflx",
                tcpType: "passive")
            (candidate.relatedAddress, candidate.relatedPort) = ("0.0.0.0", 0)
            candidate.parameters = [Candidate.Parameter("generation", "0")]
            made.candidates = [candidate]
        }
        if Bool.random(using: &random) { made.streams = [MSID(stream: "-", track: "t")] }
        if Bool.random(using: &random) {
            made.sources = [SourceAttribute(.max, "cname", "a b"), SourceAttribute(1, "", nil)]
            made.sourceGroups = [SourceGroup("FID", [1, .max])]
        }
        if Bool.random(using: &random) {
            var limited = RestrictionID("q", .send)
            limited.restrictions = "pt=96;max-width=1280"
            made.restrictionIDs = [limited, RestrictionID("h", .recv)]
            made.simulcast = Simulcast(
                send: [[.init("q"), .init("x", isPaused: true)], [.init("h")]], receive: [[.init("r")]])
        }
        return made
    }
}
