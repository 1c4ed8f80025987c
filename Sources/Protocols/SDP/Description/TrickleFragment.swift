/// An ICE update during a session (RFC 8840 section 9, `application/trickle-ice-sdpfrag`): candidates that were found
/// later, or the credentials of a restart. WHIP and WHEP send it by PATCH (RFC 9725 section 4.3).
///
///     a=ice-ufrag:EsAw
///     a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1
///     m=audio 9 UDP/TLS/RTP/SAVPF 0
///     a=mid:0
///     a=candidate:1387637174 1 udp 2122260223 192.0.2.1 61764 typ host
///     a=end-of-candidates
package struct TrickleFragment: Hashable, Sendable {
    package struct Section: Hashable, Sendable {
        package var mid: String
        package var credentials: ICECredentials?
        package var candidates: [Candidate]
        package var hasEndOfCandidates: Bool
        package var kind: String

        package init(
            mid: String, kind: String = "audio", credentials: ICECredentials? = nil, candidates: [Candidate] = [],
            hasEndOfCandidates: Bool = false
        ) {
            self.mid = mid
            self.kind = kind
            self.credentials = credentials
            self.candidates = candidates
            self.hasEndOfCandidates = hasEndOfCandidates
        }
    }

    /// The credentials of all sections.
    package var credentials: ICECredentials?
    package var iceOptions: [String] = []
    package var isICELite = false
    /// Candidates have ended in every section.
    package var hasEndOfCandidates = false
    package var bundle: [String]?
    package var sections: [Section] = []

    package init() {}

    /// The credentials in it, either for all sections or of the first section that has some.
    package var newCredentials: ICECredentials? {
        credentials ?? sections.lazy.compactMap(\.credentials).first
    }

    package init(parsing bytes: RawSpan) throws(DescriptionError) {
        try self.init(parsing: SessionDescription.text(of: bytes))
    }

    package init(parsing text: String) throws(DescriptionError) {
        let body = try SessionDescription(parsing: text, isWhole: false)
        credentials = ICECredentials(body.attributes)
        iceOptions = body.attributes.iceOptions
        isICELite = body.isICELite
        hasEndOfCandidates = body.attributes.others.contains { $0.name == "end-of-candidates" }
        bundle = body.bundle
        for (index, section) in body.sections.enumerated() {
            guard let mid = section.mid else {
                throw DescriptionError(
                    line: Self.line(ofSection: index, in: text), found: "m=\(section.kind)",
                    allowed: "a=mid: in this section")
            }
            sections.append(
                Section(
                    mid: mid, kind: section.kind, credentials: ICECredentials(section.attributes),
                    candidates: section.candidates, hasEndOfCandidates: section.hasEndOfCandidates))
        }
    }

    private static func line(ofSection target: Int, in text: String) -> Int {
        var reader = LineReader(text)
        var index = -1
        while let line = try? reader.next() {
            if line.letter == UInt8(ascii: "m") { index += 1 }
            if index == target { return line.number }
        }
        return reader.number
    }

    package var text: String {
        var text = DescriptionText()
        text.flag("ice-lite", isICELite)
        if let bundle { text.attribute("group", (["BUNDLE"] + bundle).joined(separator: " ")) }
        if !iceOptions.isEmpty { text.attribute("ice-options", iceOptions.joined(separator: " ")) }
        text.attribute("ice-ufrag", credentials?.ufrag)
        text.attribute("ice-pwd", credentials?.password)
        text.flag("end-of-candidates", hasEndOfCandidates)
        for section in sections {
            // The port and the format have no meaning here (RFC 8840 section 9.2).
            text.line("m", "\(section.kind) 9 UDP/TLS/RTP/SAVPF 0")
            text.attribute("mid", section.mid)
            text.attribute("ice-ufrag", section.credentials?.ufrag)
            text.attribute("ice-pwd", section.credentials?.password)
            for candidate in section.candidates { text.attribute("candidate", candidate.text) }
            text.flag("end-of-candidates", section.hasEndOfCandidates)
        }
        return text.text
    }
}

/// A user fragment and a password of ICE (RFC 8839 section 5.4). They change together, by an ICE restart.
package struct ICECredentials: Hashable, Sendable {
    package var ufrag: String
    package var password: String

    package init(ufrag: String, password: String) {
        self.ufrag = ufrag
        self.password = password
    }

    init?(_ attributes: LevelAttributes) {
        guard let ufrag = attributes.iceUfrag, let password = attributes.icePassword else { return nil }
        self.init(ufrag: ufrag, password: password)
    }
}
