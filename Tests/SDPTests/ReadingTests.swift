import SDP
import Testing

@Suite("Reading descriptions")
struct ReadingTests {
    static let head = "v=0\no=- 1 1 IN IP4 0.0.0.0\ns=-\nt=0 0\n"
    static let section = "m=audio 9 UDP/TLS/RTP/SAVPF 111\n"

    /// The line, what is said of it, and the text.
    static let wrong: [(Int, String, String)] = [
        (1, "v=0", ""),
        (1, "v=0 in the first line", "o=- 1 1 IN IP4 0.0.0.0\n"),
        (1, "v=0", "v=1\n"),
        (2, "o=, the origin", "v=0\n"),
        (2, "a username, a session id", "v=0\no=- 1 1\ns=-\n"),
        (5, "a lower-case letter, an equals sign", head + "hello\n"),
        (5, "a lower-case letter", head + "A=x\n"),
        (6, "a lower-case letter", head + "\nm\n"),
        (5, "no NUL and no CR", head + "a=x\u{0}y\n"),
        (5, "no NUL and no CR", head + "a=x\ry\n"),
        (5, "m=, a kind", head + "m=audio 9\n"),
        (5, "m=, a kind", head + "m=audio 65536 UDP/TLS/RTP/SAVPF 0\n"),
        (5, "m=, a kind", head + "m=audio -1 UDP/TLS/RTP/SAVPF 0\n"),
        (5, "m=, a kind", head + "m=audio 9 UDP/TLS/RTP/SAVPF\n"),
        (5, "payload types from 0 to 127", head + "m=audio 9 UDP/TLS/RTP/SAVPF 128\n"),
        (5, "payload types from 0 to 127", head + "m=audio 9 UDP/TLS/RTP/SAVPF opus\n"),
        (5, "each payload type once", head + "m=audio 9 UDP/TLS/RTP/SAVPF 0 8 0\n"),
        (6, "4 to 256 letters", head + section + "a=ice-ufrag:abc\n"),
        (6, "4 to 256 letters", head + section + "a=ice-ufrag:ab cd\n"),
        (6, "22 to 256 letters", head + section + "a=ice-pwd:short\n"),
        (6, "hexadecimal", head + section + "a=fingerprint:sha-256 AB:CD\n"),
        (6, "hexadecimal", head + section + "a=fingerprint:sha-256 \n"),
        (6, "hexadecimal", head + section + "a=fingerprint:md5 G0" + String(repeating: ":00", count: 15) + "\n"),
        (6, "actpass", head + section + "a=setup:both\n"),
        (6, "mid:", head + section + "a=mid:\n"),
        (6, "mid:", head + section + "a=mid:a b\n"),
        (6, "rtpmap:", head + section + "a=rtpmap:111 opus\n"),
        (6, "rtpmap:", head + section + "a=rtpmap:111 opus\na=rtpmap:111 opus/x\na=sendonly\n"),
        (7, "22 to 256 letters", head + section + "a=mid:0\na=ice-pwd: \n"),
    ]

    @Test("what is wrong is named with its line and with what is allowed", arguments: wrong)
    func errors(line: Int, allowed: String, text: String) throws {
        let error = #expect(throws: DescriptionError.self) { try SessionDescription(parsing: text) }
        #expect(error?.line == line)
        #expect(error?.allowed.contains(allowed) == true, "\(String(describing: error))")
    }

    /// Each is malformed, or about something that is not offered.
    static let needless = [
        "a=candidate:1 1 udp 1 192.0.2.1 70000 typ host", "a=candidate:1 1 udp 4294967296 192.0.2.1 7 typ host",
        "a=candidate:", "a=candidate:1 1 udp 1 192.0.2.1 7 typ srflx raddr 0.0.0.0 rport -1",
        "a=fmtp:106 ", "a=fmtp:106", "a=fmtp:", "a=fmtp", "a=fmtp:111", "a=fmtp:opus a=1", "a=fmtp:96 a=1",
        "a=rtcp-fb:106", "a=rtcp-fb:106 nack", "a=rtcp-fb:111", "a=rtcp-fb:*", "a=rtcp-fb:300 nack",
        "a=rtpmap:97", "a=rtpmap:97 VP8/90000", "a=rtpmap:97 VP8", "a=rtpmap:111", "a=rtpmap:300 opus/48000",
        "a=rtpmap:-1 opus/48000", "a=rtpmap:111 opus",
        "b=AS:undefined", "b=AS", "b=", "b=AS:-1", "b=TIAS:99999999999999999999",
        "a=ssrc:-1190912345 cname:x", "a=ssrc:4294967296 cname:x", "a=ssrc:", "a=ssrc-group:FID 1 two",
        "a=ssrc-group:", "a=msid:", "a=msid", "a=extmap:0 urn:x", "a=extmap:1/up urn:x", "a=extmap:1",
        "a=rid:q! send", "a=rid:q up", "a=simulcast:", "a=simulcast:send q;;f", "a=simulcast:send q send h",
        "a=sctp-port:x", "a=max-message-size:-1", "a=group:", "a=group", "  ", "\t",
    ]

    @Test("a line that is not needed is ignored, wherever it is", arguments: needless)
    func ignored(line: String) throws {
        let lines = (Self.head + Self.section + "a=rtpmap:111 opus/48000/2\n").split(separator: "\n")
        var expected = try SessionDescription(parsing: lines.joined(separator: "\n"))
        for index in 1...lines.count {
            var added = lines
            added.insert(line[...], at: index)
            var read = try SessionDescription(parsing: added.joined(separator: "\r\n"))
            // What has no meaning before the first section is kept there.
            (read.lines, read.attributes.others) = ([], [])
            (expected.lines, expected.attributes.others) = ([], [])
            read.sections[0].attributes.others = []
            #expect(read == expected, "at \(index)")
        }
    }

    @Test("a word at the end of a candidate is ignored, and the candidate is kept")
    func loneWord() throws {
        let line = "a=candidate:1 1 udp 1 192.0.2.1 7 typ host generation 0 ufrag\n"
        let candidate = try #require(
            SessionDescription(parsing: Self.head + Self.section + line).sections[0].candidates.first)
        #expect(candidate.address == "192.0.2.1")
        #expect(candidate.parameters == [Candidate.Parameter("generation", "0")])
    }

    @Test("a payload type that RFC 3551 assigned needs no rtpmap, not even a malformed one")
    func assigned() throws {
        let text = Self.head + "m=audio 9 UDP/TLS/RTP/SAVPF 0 111\na=rtpmap:0 PCMU\na=rtpmap:111 opus/48000/2\n"
        #expect(try SessionDescription(parsing: text).sections[0].payloads.map(\.encoding?.name) == [nil, "opus"])
    }

    @Test("blanks at the end of a line are cut, and so is a NUL at the end of the text")
    func blanks() throws {
        let lines = [
            "a=mid:0", "a=setup:actpass", "a=rtcp-mux", "a=ice-ufrag:abcd",
            "a=ice-pwd:" + String(repeating: "p", count: 22),
            "a=sendonly", "a=rtpmap:111 opus/48000/2", "a=fmtp:111 stereo=1", "a=rtcp-fb:111 transport-cc",
        ]
        let start = Self.head + Self.section
        let expected = try SessionDescription(parsing: start + lines.joined(separator: "\r\n"))
        #expect(expected.sections[0].mid == "0" && expected.sections[0].hasRTCPMultiplexing)
        for (blank, end) in [(" ", "\r\n"), ("\t ", "\n"), ("", "\u{0}"), ("", "\r\n\u{0}"), (" ", "\u{0}\u{0}\r\n")] {
            let text = start + lines.map { $0 + blank }.joined(separator: "\r\n") + end
            #expect(try SessionDescription(parsing: text) == expected)
        }
        let bytes = Array((start + "a=mid:0\r\n").utf8) + [0]
        #expect(try SessionDescription(parsing: bytes.span.bytes).sections[0].mid == "0")
        #expect(throws: DescriptionError.self) { try SessionDescription(parsing: start + "a=mid:0\u{0}\na=sendonly\n") }
    }

    @Test("ICE options have blanks between them, or the commas of libdatachannel")
    func options() throws {
        for text in ["ice2 trickle", "ice2,trickle", " ice2 , trickle,"] {
            let read = try SessionDescription(parsing: Self.head + "a=ice-options:\(text)\n")
            #expect(read.attributes.iceOptions == ["ice2", "trickle"])
        }
    }

    @Test("an error shows what was found there, truncated and without control characters")
    func shown() {
        let text = Self.head + "a=setup:\u{7}" + String(repeating: "x", count: 5000) + "\n"
        let error = #expect(throws: DescriptionError.self) { try SessionDescription(parsing: text) }
        #expect(error?.found.hasPrefix("a=setup:\u{FFFD}xxx") == true)
        #expect((error?.description.utf8.count ?? 1000) < 300)
    }

    @Test("bytes that are no UTF-8 are named by their line")
    func encoding() {
        let bytes = Array((Self.head + "a=tool:").utf8) + [0xFF, 0x0A]
        let error = #expect(throws: DescriptionError.self) { try SessionDescription(parsing: bytes.span.bytes) }
        #expect(error?.line == 5 && error?.allowed == "UTF-8")
    }

    @Test("256 KiB is read and a byte more is not")
    func size() throws {
        let line = "a=x-filler:" + String(repeating: "y", count: 1012) + "\n"
        var text = Self.head
        while text.utf8.count + line.utf8.count <= SessionDescription.maximumByteCount { text += line }
        text += "a=" + String(repeating: "z", count: SessionDescription.maximumByteCount - text.utf8.count - 2)
        #expect(text.utf8.count == 262_144)
        #expect(try SessionDescription(parsing: text).attributes.others.count == 256)
        #expect(throws: DescriptionError.self) { try SessionDescription(parsing: text + "z") }
    }

    @Test("at most 256 sections")
    func sections() throws {
        let many = String(repeating: Self.section, count: 256)
        #expect(try SessionDescription(parsing: Self.head + many).sections.count == 256)
        let error = #expect(throws: DescriptionError.self) {
            try SessionDescription(parsing: Self.head + many + Self.section)
        }
        #expect(error?.line == 261)
    }

    /// Nobody waits for these: each would take minutes if reading were quadratic.
    @Test(
        "lines in bulk cost no more than their length",
        arguments: [
            "a=rtcp-fb:* nack\n", "a=rtcp-fb:111 nack\n", "a=fmtp:111 a=1\n", "a=rtpmap:111 opus/48000\n", "a=x\n",
            "\n",
            "a=ssrc:1 cname:x\n", "a=candidate:1 1 udp 1 192.0.2.1 7 typ host\n", "a=extmap:1 urn:x\n", "a=mid:x\n",
            "a=ice-options:x\n", "i=\n", "a=ssrc-group:FID 1\n", "b=AS:1\n", "a=rid:x send\n", " \n",
            "a=rtpmap:0 x\n", "a=candidate:x\n", "a=group:\n", "a=x \t \t \t \t \t \t \t \t \t \n", "\u{0}",
        ])
    func bulk(line: String) throws {
        let types = (0..<128).map { String($0) }.joined(separator: " ")
        var text = Self.head + "m=audio 9 UDP/TLS/RTP/SAVPF \(types)\n"
        while text.utf8.count + line.utf8.count <= SessionDescription.maximumByteCount / 4 { text += line }
        let description = try SessionDescription(parsing: text)
        #expect(description.sections[0].payloads.count == 128)
        #expect(description.sections[0].payloads.allSatisfy { $0.feedback.count <= 32 })
    }

    @Test("a word as long as the description is no trouble")
    func longWord() throws {
        for start in ["a=ssrc-group:FID", "a=group:BUNDLE", "a=simulcast:send a", "a=msid-semantic:"] {
            let filler = start.hasSuffix("a") ? ";a" : " 1"
            let many = String(repeating: filler, count: 30_000)
            _ = try SessionDescription(parsing: Self.head + Self.section + start + many + "\n")
        }
    }

    @Test("unknown lines and attributes are kept")
    func unknown() throws {
        let text = Self.head + "a=x-one:two:three\na=x-flag\n" + Self.section + "i=words\nk=clear:1\na=x-four\nz=0 0\n"
        let read = try SessionDescription(parsing: text)
        #expect(read.attributes.others == [OtherAttribute("x-one", "two:three"), OtherAttribute("x-flag")])
        #expect(read.lines == [OtherLine("t", "0 0")])
        #expect(
            read.sections[0].lines
                == [OtherLine("i", "words"), OtherLine("k", "clear:1"), OtherLine("z", "0 0")])
        #expect(read.sections[0].attributes.others == [OtherAttribute("x-four")])
    }

    @Test("a fragment of trickled candidates is read and written")
    func fragment() throws {
        // The example of RFC 8840 section 9.2, without its relayed candidate.
        let text = """
            a=ice-pwd:asd88fgpdd777uzjYhagZg
            a=ice-ufrag:8hhY
            m=audio 9 RTP/AVP 0
            a=mid:1
            a=candidate:1 1 UDP 2130706432 2001:db8::1 5000 typ host
            a=candidate:2 1 UDP 1694498815 192.0.2.3 5000 typ srflx raddr 2001:db8::1 rport 8998
            a=end-of-candidates
            """
        let fragment = try TrickleFragment(parsing: text)
        #expect(fragment.credentials == ICECredentials(ufrag: "8hhY", password: "asd88fgpdd777uzjYhagZg"))
        #expect(fragment.sections.map(\.mid) == ["1"])
        #expect(fragment.sections[0].candidates.map(\.address) == ["2001:db8::1", "192.0.2.3"])
        #expect(fragment.sections[0].candidates[1].relatedPort == 8998)
        #expect(fragment.sections[0].hasEndOfCandidates)
        #expect(try TrickleFragment(parsing: fragment.text) == fragment)
        let error = #expect(throws: DescriptionError.self) {
            try TrickleFragment(parsing: "a=ice-ufrag:8hhY\n\nm=audio 9 RTP/AVP 0\na=end-of-candidates\n")
        }
        #expect(error?.line == 3)
    }

    @Test("a candidate as browsers hand it out")
    func candidate() throws {
        let text = "candidate:842163049 1 UDP 1677729535 192.0.2.9 46154 typ srflx raddr 0.0.0.0 rport 0 generation 0"
        let candidate = try #require(Candidate(attribute: text))
        #expect(candidate.transport == "udp" && candidate.type == "srflx" && candidate.relatedPort == 0)
        #expect(candidate.parameters == [Candidate.Parameter("generation", "0")])
        #expect(Candidate(attribute: "candidate:" + candidate.text) == candidate)
        #expect(Candidate(attribute: "1 1 udp 1 192.0.2.9 1 typ host") == nil)
        #expect(Candidate(attribute: "candidate:" + String(text.dropFirst(10).dropLast(1)))?.parameters == [])
        #expect(Candidate(attribute: "candidate:" + String(text.dropFirst(10).prefix(40))) == nil)
    }
}
