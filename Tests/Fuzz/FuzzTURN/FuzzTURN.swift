import FuzzInput
import OpenSSLCrypto
import TURN
import Wire

/// A sequence of datagrams, connections, peers' packets, an operator's changes and passing seconds, read from the
/// input, against the TURN engines of two workers. Some messages are taken as they are; for others the input only says
/// what a client asks, and the harness signs it, so that the fuzzer reaches what lies behind the authentication.
///
/// `TURNHarness` is the host: it opens ports, counts charges, connects to peers and carries what workers tell each
/// other, at once or later, as the input says. Beside that it keeps a model of what each allocation was granted, made
/// of nothing but the answers that went out, and stops at the first thing that the model does not allow.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTURN(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let openSSL, let harness = TURNHarness(openSSL) else { return 0 }
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

extension TURNHarness {
    func step(_ input: inout FuzzInput) {
        let kind = input.byte()
        let flow = Flow.clients[Int(input.byte()) % Flow.clients.count]
        switch kind & 15 {
        case 0:
            send(Sent(input.take(Int(input.byte()))), on: flow)
        case 1, 2, 3, 4:
            send(request(&input, on: flow), on: flow)
        case 5:
            send(payload(&input), on: flow)
        case 6: fromPeer(&input)
        case 7: peerConnects(&input)
        case 8: respondLater(&input)
        case 9: closed(flow)
        case 10:
            let bits = input.byte()
            pass(bits & 0x80 == 0 ? UInt64(bits) << 26 : UInt64(bits & 0x7F) * 16_000_000_000)
        case 11: deliver(&input)
        case 12: revoke(&input)
        case 13: change(&input)
        case 14:
            // A retransmission, or the same message from somewhere else.
            if let last { send(last.sent, on: input.byte() & 3 == 0 ? flow : last.flow) }
        default: settleAll()
        }
    }
}

extension Flow {
    /// Where clients come from: datagrams, connections and DTLS.
    static let clients: [Flow] = {
        let transports: [Flow.Transport] = [.udp, .udp, .udp, .udp, .tcp, .tcp, .tcp, .tcp, .tls, .dtls]
        return transports.enumerated().map { index, transport in
            Flow(
                transport, local: TransportAddress(TURNHarness.server, port: 3478),
                remote: TransportAddress(IPAddress(ipv4: 0x0101_0101), port: UInt16(1000 + index)))
        }
    }()
}
