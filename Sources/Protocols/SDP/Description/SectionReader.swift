/// Reads the lines of one section. Payload types are found by index and not by search, so that the time is linear in
/// the length of the section.
struct SectionReader {
    private var section: MediaSection
    /// The index of each payload type in the section's list; `UInt8.max` when it is not in it.
    private var payloadIndices = [UInt8](repeating: .max, count: 128)
    /// The first malformed `rtpmap` of each payload type.
    private var malformedMaps: [UInt8: DescriptionLine] = [:]

    static let grammar = "m=, a kind, a port, a transport and at least one format"

    init(_ line: DescriptionLine) throws(DescriptionError) {
        var rest = line.value
        guard let kind = rest.takeWord(), kind.isToken, let ports = rest.takeWord(), let transport = rest.takeWord(),
            // RFC 8866 section 5.14: a number of ports may follow, which has no meaning in a bundle.
            let port = ports.split(at: "/").0.number(as: UInt16.self)
        else { throw line.error(Self.grammar) }
        section = MediaSection(kind: String(kind), port: port, transport: String(transport))
        section.connection = nil
        let isRTP = section.isRTP
        while let word = rest.takeWord() {
            guard isRTP else {
                section.formats.append(String(word))
                continue
            }
            guard let type = word.number(as: UInt8.self), type < 128 else {
                throw line.error("payload types from 0 to 127")
            }
            guard payloadIndices[Int(type)] == .max else {
                throw line.error("each payload type once; \(type) is repeated")
            }
            payloadIndices[Int(type)] = UInt8(truncatingIfNeeded: section.payloads.count)
            section.payloads.append(PayloadFormat(type))
        }
        if section.payloads.isEmpty, section.formats.isEmpty { throw line.error(Self.grammar) }
    }

    mutating func take(_ line: DescriptionLine) throws(DescriptionError) {
        switch line.letter {
        case UInt8(ascii: "a"):
            let (name, value) = line.value.split(at: ":")
            if try section.attributes.take(name, value, in: line) { return }
            try take(name, value, in: line)
        case UInt8(ascii: "b"):
            if let bandwidth = Bandwidth(line.value) { section.bandwidths.append(bandwidth) }
        case UInt8(ascii: "c") where section.connection == nil:
            section.connection = String(line.value)
        default:
            section.lines.append(OtherLine(Unicode.Scalar(line.letter), String(line.value)))
        }
    }

    /// The section, when all its lines were taken.
    func finish() throws(DescriptionError) -> MediaSection {
        // RFC 3551 section 6 assigns 0 to 34, which need no rtpmap.
        for payload in section.payloads where payload.encoding == nil && payload.payloadType > 34 {
            guard let line = malformedMaps[payload.payloadType] else { continue }
            throw line.error("rtpmap:, a payload type, a name, a slash and a clock rate")
        }
        return section
    }

    /// Of the attributes only the mid has to be valid. An answer can do without the others, so those that are malformed
    /// are ignored, as unknown ones are (RFC 8866 section 5.13).
    private mutating func take(
        _ name: Substring, _ value: Substring?, in line: DescriptionLine
    ) throws(DescriptionError) {
        switch name {
        case "mid":
            guard let value, value.isToken, value.utf8.count <= 255 else {
                throw line.error("mid:, a token of at most 255 characters")
            }
            section.mid = String(value)
        case "candidate":
            if let candidate = value.flatMap({ Candidate($0) }) { section.candidates.append(candidate) }
        case "end-of-candidates": section.hasEndOfCandidates = true
        case "rtcp-mux": section.hasRTCPMultiplexing = true
        case "rtcp-rsize": section.hasReducedSizeRTCP = true
        case "bundle-only": section.isBundleOnly = true
        case "msid":
            if let stream = value.flatMap({ MSID($0) }) { section.streams.append(stream) }
        case "ssrc":
            if let source = value.flatMap({ SourceAttribute($0) }) { section.sources.append(source) }
        case "ssrc-group":
            if let group = value.flatMap({ SourceGroup($0) }) { section.sourceGroups.append(group) }
        case "rid":
            if let rid = value.flatMap({ RestrictionID($0) }) { section.restrictionIDs.append(rid) }
        case "simulcast":
            if let simulcast = value.flatMap({ Simulcast($0) }) { section.simulcast = simulcast }
        case "sctp-port":
            if let port = value?.number(as: UInt16.self) { section.sctpPort = port }
        case "max-message-size":
            if let size = value?.number(as: UInt64.self) { section.maximumMessageSize = size }
        case "rtpmap", "fmtp", "rtcp-fb":
            takePayload(name, value ?? "", in: line)
        default:
            section.attributes.others.append(OtherAttribute(String(name), value.map { String($0) }))
        }
    }

    private mutating func takePayload(_ name: Substring, _ value: Substring, in line: DescriptionLine) {
        let (number, rest) = value.split(at: " ")
        guard let rest, !rest.isEmpty else { return }
        if name == "rtcp-fb", number == "*" {
            for index in section.payloads.indices { addFeedback(rest, at: index) }
            return
        }
        // A payload type that the m= line does not offer is ignored (RFC 8866 section 6.6).
        guard let type = number.number(as: UInt8.self), let index = payloadIndices[safe: Int(type)].map({ Int($0) }),
            section.payloads.indices.contains(index)
        else { return }
        switch name {
        case "rtpmap":
            guard let encoding = PayloadFormat.Encoding(rest.words.first ?? "") else {
                if malformedMaps[type] == nil { malformedMaps[type] = line }
                return
            }
            section.payloads[index].encoding = encoding
        case "fmtp":
            if section.payloads[index].parameters == nil {
                section.payloads[index].parameters = String(rest)
            } else {
                section.payloads[index].parameters?.append(";" + rest)
            }
        default:
            addFeedback(rest, at: index)
        }
    }

    private mutating func addFeedback(_ feedback: Substring, at index: Int) {
        if section.payloads[index].feedback.count < PayloadFormat.maximumFeedback {
            section.payloads[index].feedback.append(String(feedback))
        }
    }
}

extension Array {
    subscript(safe index: Int) -> Element? {
        indices.contains(index) ? self[index] : nil
    }
}
