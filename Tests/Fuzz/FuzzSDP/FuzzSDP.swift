import SDP

/// Any bytes: reading a description or a fragment must not trap, an error must name a line that is there, and what was
/// read must be written so that it is read again as the same. An offer that is answered is answered in the same way
/// with another line that no answer needs.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSDP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: start, count: count)
    let bytes = input.bytes
    do {
        let description = try SessionDescription(parsing: bytes)
        let again = try? SessionDescription(parsing: description.text)
        if again != description { fatalError("read \(description), and then \(String(describing: again))") }
        checkAnswers(to: description, Array(input))
    } catch {
        if error.line < 1 || error.line > count + 1 { fatalError("no such line: \(error)") }
    }
    if let fragment = try? TrickleFragment(parsing: bytes) {
        if (try? TrickleFragment(parsing: fragment.text)) != fragment { fatalError("\(fragment)") }
    }
    return 0
}

/// Lines that are malformed, or about what is not offered.
private let needless = [
    "a=candidate:1 1 udp 4294967296 192.0.2.1 7 typ host", "a=candidate:1 1 udp 1 192.0.2.1 7 typ host generation",
    "a=candidate:", "a=fmtp:106 ", "a=fmtp:200 a=1", "a=fmtp", "a=rtcp-fb:106", "a=rtcp-fb:200 nack", "a=rtcp-fb:*",
    "a=rtpmap:97", "a=rtpmap:200 VP8/90000", "a=rtpmap:0 PCMU", "b=AS:undefined", "b=", "a=ssrc:-1190912345 cname:x",
    "a=ssrc:", "a=ssrc-group:FID 1 two", "a=msid:", "a=extmap:0 urn:x", "a=rid:q! send", "a=simulcast:send q;;f",
    "a=sctp-port:x", "a=max-message-size:-1", "a=group:", "a=x-unknown:y", "", " \t",
]

private func checkAnswers(to offer: SessionDescription, _ bytes: [UInt8]) {
    guard let expected = answer(offer) else { return }
    var text = bytes[...]
    while let last = text.last, last == 0 || last == 0x0A || last == 0x0D { text = text.dropLast() }
    var lines = text.split(separator: 0x0A, omittingEmptySubsequences: false)
    let hash = bytes.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF_FFFF }
    let line = needless[hash % needless.count]
    // Behind v=0, which only empty lines may precede.
    let first = 1 + (lines.firstIndex { $0.contains(0x76) } ?? 0)
    lines.insert(Array(line.utf8)[...], at: first + hash / needless.count % (lines.count - first + 1))
    // Every line ends with a blank, and the text with a NUL.
    let ends: [UInt8] = hash & 1 == 0 ? [0x0A] : [0x20, 0x0D, 0x0A]
    var changed = Array(lines.map { $0.last == 0x0D ? $0.dropLast() : $0 }.joined(separator: ends))
    changed += ends + [0]
    guard changed.count <= SessionDescription.maximumByteCount else { return }
    do {
        let again = try SessionDescription(parsing: changed.span.bytes)
        if answer(again) != expected { fatalError("another answer with “\(line)”") }
    } catch {
        fatalError("with “\(line)”: \(error)")
    }
}

private let transport = GatewayTransport(
    fingerprints: [FingerprintAttribute(algorithm: "sha-256", digest: [UInt8](repeating: 7, count: 32))],
    candidates: [], freshCredentials: ICECredentials(ufrag: "gate", password: "passwordOfTheGateway12"))

private func answer(_ offer: SessionDescription) -> String? {
    var leg = LegNegotiation(session: 1)
    var ssrc: UInt32 = 0x7000_0000
    let negotiated = try? leg.answer(offer, GatewayCapabilities(), transport) { _ in
        ssrc &+= 2
        return SlotIdentity(ssrc: ssrc, retransmissionSSRC: ssrc &+ 1, cname: "c", stream: "s", track: "t")
    }
    return negotiated?.answer.text
}
