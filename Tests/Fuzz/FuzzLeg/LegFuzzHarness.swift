import DatagramIO
import Gateway
import ICE
import MediaGateway
import OpenSSLCrypto
import SDP
import SecureMedia
import Wire

/// What all runs share, since it takes longer to make than a run: certificates, sockets, and the answer to an offer.
/// libFuzzer has one thread.
final class LegFuzzHarness {
    nonisolated(unsafe) static let shared = LegFuzzHarness()

    let socket: DatagramSocketOwner
    let contexts: MediaContexts
    let clientContexts: MediaContexts
    let ofServer: [CertificateFingerprint]
    let authentication: OpenSSLAuthentication
    let negotiated: NegotiatedLeg
    /// The same for a client whose certificate nobody has, so that no handshake of such a leg can succeed.
    let negotiatedForNobody: NegotiatedLeg
    /// The same for a client that waits for the handshake.
    let negotiatedPassive: NegotiatedLeg
    /// The clients' sockets, that the worker's answers really arrive at.
    let clients: [DatagramSocketOwner]
    private var batch = ReceiveBatch()

    private init?() {
        let loopback = TransportAddress(IPAddress(ipv4: 0x7F00_0001), port: 0)
        guard let authentication = OpenSSLAuthentication(), let one = MediaIdentity.make(),
            let other = MediaIdentity.make(), let ofServer = one.fingerprint(), let ofClient = other.fingerprint(),
            let contexts = MediaContexts.make(one, profiles: SRTPProfile.preferred),
            let clientContexts = MediaContexts.make(other, profiles: SRTPProfile.preferred),
            let socket = try? DatagramSocketOwner(loopback)
        else { return nil }
        self.authentication = authentication
        self.contexts = contexts
        self.clientContexts = clientContexts
        self.ofServer = [ofServer]
        self.socket = socket
        clients = (0..<3).compactMap { _ in try? DatagramSocketOwner(loopback) }
        guard clients.count == 3, let negotiated = Self.negotiate(ofClient) else { return nil }
        self.negotiated = negotiated
        var foreign = negotiated
        foreign.remote.fingerprints = [
            FingerprintAttribute(algorithm: "sha-256", digest: [UInt8](repeating: 1, count: 32))
        ]
        negotiatedForNobody = foreign
        var passive = negotiated
        passive.remote.awaitsHandshake = true
        negotiatedPassive = passive
    }

    /// What has arrived at a client.
    func take(_ client: Int) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        while true {
            let slots = batch.receive(from: clients[client].descriptor, limit: ReceiveBatch.capacity)
            for slot in slots { packets.append(Array(batch.datagram(slot))) }
            batch.reset()
            if slots.isEmpty { return packets }
        }
    }

    /// A microphone, a camera with two encodings, and a slot for each kind.
    private static func negotiate(_ fingerprint: CertificateFingerprint) -> NegotiatedLeg? {
        let hexadecimal = fingerprint.bytes.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        let common = """
            c=IN IP4 0.0.0.0\r\na=rtcp-mux\r\na=ice-ufrag:peer\r\na=ice-pwd:abcdabcdabcdabcdabcdabcd\r\na=setup:actpass\r
            a=fingerprint:sha-256 \(hexadecimal.joined(separator: ":"))\r
            a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid\r
            a=extmap:2 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id\r
            a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r\n
            """
        let audio = "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n\(common)a=rtpmap:111 opus/48000/2\r\n"
        let video = """
            m=video 9 UDP/TLS/RTP/SAVPF 96 97\r\n\(common)a=rtpmap:96 VP8/90000\r\na=rtcp-fb:96 nack\r
            a=rtcp-fb:96 nack pli\r\na=rtcp-fb:96 transport-cc\r\na=rtpmap:97 rtx/90000\r\na=fmtp:97 apt=96\r\n
            """
        let text = """
            v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0 1 2 3\r
            \(audio)a=mid:0\r\na=sendonly\r\na=ssrc:11 cname:c\r
            \(video)a=mid:1\r\na=sendonly\r\na=rid:l send\r\na=rid:h send\r\na=simulcast:send l;h\r
            \(audio)a=mid:2\r\na=recvonly\r\n\(video)a=mid:3\r\na=recvonly\r\n
            """
        var negotiation = LegNegotiation(session: 1)
        var next: UInt32 = 900_000
        let transport = GatewayTransport(
            fingerprints: [FingerprintAttribute(algorithm: "sha-256", digest: [UInt8](repeating: 9, count: 32))],
            candidates: [], freshCredentials: ICECredentials(ufrag: "gate", password: "gatewaygatewaygatewayga"))
        do {
            return try negotiation.answer(SessionDescription(parsing: text), GatewayCapabilities(), transport) { kind in
                next += 2
                return SlotIdentity(
                    ssrc: next, retransmissionSSRC: next + 1, cname: "g", stream: "s", track: "\(kind)\(next)")
            }
        } catch {
            fatalError("the harness's own offer: \(error)")
        }
    }
}
