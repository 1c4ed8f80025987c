/// Writes a description line by line, each ended by CR LF.
struct DescriptionText {
    private(set) var text = ""

    mutating func line(_ letter: Unicode.Scalar, _ value: String) {
        text.unicodeScalars.append(letter)
        text += "="
        text += value
        text += "\r\n"
    }

    mutating func attribute(_ name: String, _ value: String?) {
        guard let value else { return }
        text += "a="
        text += name
        text += ":"
        text += value
        text += "\r\n"
    }

    mutating func flag(_ name: String, _ isSet: Bool) {
        if isSet { line("a", name) }
    }
}

extension SessionDescription {
    /// The description as text, with CR LF.
    package var text: String {
        var text = DescriptionText()
        text.line("v", "0")
        text.line("o", "\(origin.username) \(origin.session) \(origin.version) \(origin.address)")
        text.line("s", name)
        for line in lines { text.line(line.letter, line.value) }
        for group in groups { text.attribute("group", ([group.semantics] + group.mids).joined(separator: " ")) }
        text.flag("ice-lite", isICELite)
        attributes.write(into: &text)
        for section in sections { section.write(into: &text) }
        return text.text
    }
}

extension MediaSection {
    func write(into text: inout DescriptionText) {
        let formats = self.formats + payloads.map { String($0.payloadType) }
        text.line("m", ([kind, String(port), transport] + formats).joined(separator: " "))
        if let connection { text.line("c", connection) }
        for bandwidth in bandwidths { text.line("b", "\(bandwidth.type):\(bandwidth.value)") }
        for line in lines { text.line(line.letter, line.value) }
        text.attribute("mid", mid)
        text.flag("bundle-only", isBundleOnly)
        for candidate in candidates { text.attribute("candidate", candidate.text) }
        text.flag("end-of-candidates", hasEndOfCandidates)
        attributes.write(into: &text)
        for stream in streams { text.attribute("msid", stream.text) }
        text.flag("rtcp-mux", hasRTCPMultiplexing)
        text.flag("rtcp-rsize", hasReducedSizeRTCP)
        for payload in payloads {
            text.attribute("rtpmap", payload.encoding.map { "\(payload.payloadType) \($0.text)" })
            for feedback in payload.feedback { text.attribute("rtcp-fb", "\(payload.payloadType) \(feedback)") }
            text.attribute("fmtp", payload.parameters.map { "\(payload.payloadType) \($0)" })
        }
        for rid in restrictionIDs { text.attribute("rid", rid.text) }
        text.attribute("simulcast", simulcast?.text)
        for group in sourceGroups { text.attribute("ssrc-group", group.text) }
        for source in sources { text.attribute("ssrc", source.text) }
        text.attribute("sctp-port", sctpPort.map { String($0) })
        text.attribute("max-message-size", maximumMessageSize.map { String($0) })
    }
}
