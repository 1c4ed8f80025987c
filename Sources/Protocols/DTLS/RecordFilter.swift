import Wire

/// Decides which of a peer's records reach its session.
///
/// Before the keys are agreed on anyone who knows the peer's address can forge a record, and afterwards anyone can
/// make the library process one that does not decrypt, or buffer one that it cannot decrypt yet. So a session gets only
/// records that an honest peer sends in its phase: of plaintext records those of its flights, no plaintext alert, and
/// none of a later epoch before its keys are agreed on. Sessions must use AES-GCM only.
package struct RecordFilter: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        /// A client's key exchange and ChangeCipherSpec are expected, without cookies its hello before them; of a server all
        /// from its hello to its ChangeCipherSpec.
        case keyAwaited
        /// The peer has switched to encryption; its Finished is expected.
        case finishedAwaited
        case established
    }

    /// A key exchange message is a key or an encrypted secret: far below this, even for RSA of 4096 bits.
    private static let maximumMessageByteCount = 2048
    /// A retransmitted Finished is the only handshake record of an established session: a header, 12 bytes, a nonce and
    /// a tag. There is no renegotiation.
    private static let finishedByteCount = 48
    /// A self-signed certificate of a server has some 1,000 bytes.
    private static let maximumCertificateByteCount = 8192
    private static let maximumRecordByteCount = 16_384 + 2048
    /// An empty record of AES-GCM: a nonce of 8 bytes and a tag of 16. OpenSSL 3.0 ends the session on a shorter one,
    /// whoever sent it, but silently drops a longer one that does not decrypt.
    private static let minimumEncryptedByteCount = 24

    /// Whether clients are asked for a certificate, so that they send two more messages.
    package let asksForCertificate: Bool

    /// Whether hellos go through a `HelloVerifier`, so that sessions get none. Without cookies a hello is the session's
    /// first message, in any number of fragments.
    package let hasCookies: Bool

    /// Whether the peer is a server.
    private let isOfServer: Bool

    package init(asksForCertificate: Bool = false, hasCookies: Bool = true) {
        self.asksForCertificate = asksForCertificate
        self.hasCookies = hasCookies
        isOfServer = false
    }

    private init(ofServer: ()) {
        asksForCertificate = false
        hasCookies = false
        isOfServer = true
    }

    /// For the records of a server, which may ask for cookies and for a certificate.
    package static let ofServer = RecordFilter(ofServer: ())

    package func admits(_ record: RecordHeader, of datagram: RawSpan, in phase: Phase) -> Bool {
        guard record.body.count <= Self.maximumRecordByteCount,
            record.epoch == 0 || record.body.count >= Self.minimumEncryptedByteCount
        else { return false }
        switch (record.epoch, record.contentType, phase) {
        case (0, .handshake, .keyAwaited):
            return admitsMessages(record, of: datagram)
        case (0, .changeCipherSpec, .keyAwaited):
            return record.body.count == 1 && datagram.byte(at: record.body.lowerBound) == 1
        case (1, .handshake, .finishedAwaited), (1, .alert, .finishedAwaited):
            return true
        case (1, .applicationData, .finishedAwaited):
            // It overtook the Finished, and the library would keep it in a 16 KB buffer.
            return false
        case (1, .handshake, .established):
            return record.body.count == Self.finishedByteCount
        case (1, .applicationData, .established), (1, .alert, .established):
            return true
        default:
            return false
        }
    }

    private func admitsMessages(_ record: RecordHeader, of datagram: RawSpan) -> Bool {
        var rest = record.body
        while !rest.isEmpty {
            guard let fragment = HandshakeFragment(datagram, in: rest), admits(fragment) else { return false }
            rest = fragment.body.upperBound..<rest.upperBound
        }
        return !record.body.isEmpty
    }

    /// A request for a cookie is message 0, and the hello then number 1.
    private func admitsOfServer(_ fragment: HandshakeFragment) -> Bool {
        let (sequences, limit): (ClosedRange<UInt16>, Int)
        switch HandshakeFragment.MessageType(rawValue: fragment.type) {
        case .helloVerifyRequest: (sequences, limit) = (0...0, HelloVerifyRequest.maximumByteCount)
        case .serverHello: (sequences, limit) = (0...1, Self.maximumMessageByteCount)
        case .certificate: (sequences, limit) = (1...2, Self.maximumCertificateByteCount)
        case .serverKeyExchange: (sequences, limit) = (2...3, Self.maximumMessageByteCount)
        case .certificateRequest: (sequences, limit) = (3...4, Self.maximumMessageByteCount)
        case .serverHelloDone: (sequences, limit) = (3...5, 0)
        default: return false
        }
        return sequences.contains(fragment.messageSequence) && fragment.messageByteCount <= limit
    }

    private func admits(_ fragment: HandshakeFragment) -> Bool {
        if isOfServer { return admitsOfServer(fragment) }
        // A first hello is number 0, one with a cookie number 1.
        let hello: UInt16 = hasCookies ? 1 : 0
        return switch HandshakeFragment.MessageType(rawValue: fragment.type) {
        case .clientHello:
            !hasCookies && fragment.messageSequence == hello
                && fragment.messageByteCount <= HelloVerifier.maximumHelloByteCount
        case .clientKeyExchange where !asksForCertificate:
            fragment.messageSequence == hello + 1 && fragment.messageByteCount <= Self.maximumMessageByteCount
        case .clientKeyExchange, .certificateVerify:
            asksForCertificate && (hello + 1...hello + 3).contains(fragment.messageSequence)
                && fragment.messageByteCount <= Self.maximumMessageByteCount
        case .certificate:
            asksForCertificate && fragment.messageSequence == hello + 1
                && fragment.messageByteCount <= HelloVerifier.maximumHelloByteCount
        default:
            false
        }
    }
}
