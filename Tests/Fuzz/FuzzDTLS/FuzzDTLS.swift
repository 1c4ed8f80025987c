import DTLS
import FuzzInput
import OpenSSLCrypto
import Wire

/// A sequence of datagrams from a few clients and passing seconds, read from the input, against the hello verifier.
/// Some datagrams are taken as they are; for others the input only says how a hello is fragmented, and the harness puts
/// in the cookie that its client was given, so that the fuzzer reaches what lies behind it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDTLS(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let harness = Harness() else { return 0 }
    var input = FuzzInput(UnsafeRawBufferPointer(start: start, count: count))
    var steps = 0
    while !input.isEmpty, steps < 200 {
        harness.step(&input)
        steps += 1
    }
    harness.finish()
    return 0
}

/// Made once: OpenSSL takes longer to look its functions up than a run takes. libFuzzer has one thread.
nonisolated(unsafe) private let openSSL = OpenSSLAuthentication()

private final class Harness {
    private var verifier: HelloVerifier
    private var now = Instant(nanoseconds: 1_000_000_000_000)
    private var cookies: [[UInt8]] = Array(repeating: [], count: 4)
    private var keys: UInt8 = 0

    init?() {
        guard let authentication = openSSL else { return nil }
        let key = Array("key".utf8)
        verifier = HelloVerifier(cookies: CookieGenerator(key: Digest(key.span.bytes)), authentication: authentication)
    }

    func step(_ input: inout FuzzInput) {
        let client = Int(input.byte() & 3)
        switch input.byte() & 3 {
        case 0: receive(input.take(Int(input.byte())), client)
        case 1, 2: receive(hello(client, &input), client)
        default:
            let choice = input.byte()
            now = now.adding(seconds: UInt32(choice & 15))
            if choice & 0x80 != 0 { rotate() }
            verifier.advance(to: now)
        }
    }

    func finish() {
        now = now.adding(seconds: 10)
        verifier.advance(to: now)
        if verifier.assemblyCount != 0 { fatalError("an assembly that never expires") }
    }

    private func rotate() {
        keys &+= 1
        let key = [keys]
        verifier.cookies.rotate(to: Digest(key.span.bytes))
    }

    /// One or two fragments of a hello, with the client's cookie or without.
    private func hello(_ client: Int, _ input: inout FuzzInput) -> [UInt8] {
        let hasCookie = input.byte() & 3 != 0
        let cookie = hasCookie ? cookies[client] : []
        var message: [UInt8] = [0xFE, 0xFD] + [UInt8](repeating: input.byte() & 1, count: 32)
        message += [0, UInt8(cookie.count)] + cookie + [UInt8](repeating: 1, count: Int(input.byte()) * 40)
        var datagram: [UInt8] = []
        for _ in 0..<(1 + Int(input.byte() & 1)) {
            let start = Int(input.byte()) * message.count / 255
            let end = start + Int(input.byte()) * (message.count - start) / 255
            var fragment: [UInt8] = [1] + length(message.count) + [0, hasCookie ? 1 : 0]
            fragment += length(start) + length(end - start) + message[start..<end]
            datagram += [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, input.byte()]
            datagram.append(bigEndian: UInt16(truncatingIfNeeded: fragment.count))
            datagram += fragment
        }
        return datagram
    }

    private func length(_ count: Int) -> [UInt8] {
        [UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255)]
    }

    private func receive(_ datagram: [UInt8], _ client: Int) {
        let flow = Flow(
            .dtls, local: TransportAddress(IPAddress(ipv4: 0x0A00_0001), port: 5349),
            remote: TransportAddress(IPAddress(ipv4: 0x0101_0101 + UInt32(client)), port: 1000))
        let before = verifier.assemblyCount
        let mayBegin = brings(cookies[client], datagram)
        switch verifier.receive(datagram.span.bytes, on: flow, at: now) {
        case .nothing, .refused:
            break
        case .unverified(let hello):
            guard let response = verifier.challenge(hello, of: datagram.span.bytes, at: now) else { return }
            if response.count >= datagram.count { fatalError("a response larger than its request") }
            cookies[client] = Array(response.suffix(CookieGenerator.byteCount))
        case .verified(let hello):
            if before == 0, !mayBegin { fatalError("verified without a cookie") }
            check(hello)
        }
        if verifier.assemblyCount > before, !mayBegin { fatalError("an assembly without a cookie") }
        if verifier.assemblyCount > 4 { fatalError("more than one hello of a client") }
    }

    /// What goes to the library: one record with one whole hello that begins as it should.
    private func check(_ hello: VerifiedHello) {
        guard let record = RecordHeader(hello.record.span.bytes, at: 0), record.body.upperBound == hello.record.count,
            let fragment = HandshakeFragment(hello.record.span.bytes, in: record.body), fragment.isWhole,
            fragment.messageByteCount <= HelloVerifier.maximumHelloByteCount,
            HelloStart(hello.record.span.bytes, fragment)?.random == hello.random
        else { fatalError("not a whole hello") }
        let filter = RecordFilter()
        if filter.admits(record, of: hello.record.span.bytes, in: .keyAwaited) { fatalError("a second hello") }
    }

    private func brings(_ cookie: [UInt8], _ datagram: [UInt8]) -> Bool {
        guard !cookie.isEmpty, datagram.count >= cookie.count else { return false }
        return (0...datagram.count - cookie.count).contains { datagram[$0..<$0 + cookie.count].elementsEqual(cookie) }
    }
}
