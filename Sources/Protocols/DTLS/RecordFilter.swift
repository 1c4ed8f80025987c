import Wire

/// Which of a client's records may reach its session at all.
///
/// Before the keys are agreed on anyone who knows the client's address can forge a record, and after it anyone can make
/// the library work on one that will not decrypt, or keep what it cannot read yet. So a session gets only what an honest
/// client sends in its phase: of plain records those two that its last flight has, no plain alert, nothing of a later
/// epoch before its keys are there. Junk between handshake packets is so never seen by the session. Sessions are to use
/// AES-GCM alone.
package struct RecordGate: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        /// The hello is answered, or is still to come where there are no cookies; the client's key and ChangeCipherSpec are
        /// awaited.
        case keyAwaited
        /// The client has changed to encryption; its Finished is awaited.
        case finishedAwaited
        case established
    }

    /// A key exchange message is a key or an encrypted secret: far below this, also for RSA of 4096 bits.
    private static let maximumMessageByteCount = 2048
    /// A Finished on its way again is the only handshake record of an established session: a header, 12 bytes, a nonce and a
    /// tag. There is no renegotiation.
    private static let finishedByteCount = 48
    private static let hugeRecordByteCount = 16_384 + 2048
    /// An empty record of AES-GCM: a nonce of 8 bytes and a tag of 16. A shorter one is not only wrong: OpenSSL 3.0 gives up
    /// the session over it, whoever sent it, where it drops a longer one in silence.
    private static let minimumEncryptedByteCount = 24

    /// Whether clients are asked for a certificate, so that two more messages are theirs to send.
    package let asksForCertificate: Bool

    /// Whether a hello comes by the front door, so that sessions see none. Without cookies it is the session's first
    /// message, in as many fragments as it likes.
    package let hasCookies: Bool

    package init(asksForCertificate: Bool = false, hasCookies: Bool = true) {
        self.asksForCertificate = asksForCertificate
        self.hasCookies = hasCookies
    }

    package func admits(_ record: RecordHeader, of datagram: RawSpan, in phase: Phase) -> Bool {
        guard record.body.count <= Self.hugeRecordByteCount,
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
            // It overtook the Finished, and the library would keep it in a buffer of 16 KB.
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

    private func admits(_ fragment: HandshakeFragment) -> Bool {
        // A first hello is number 0, one with a cookie number 1.
        let hello: UInt16 = hasCookies ? 1 : 0
        return switch HandshakeFragment.MessageType(rawValue: fragment.type) {
        case .clientHello:
            !hasCookies && fragment.messageSequence == hello
                && fragment.messageByteCount <= HelloDoor.maximumHelloByteCount
        case .clientKeyExchange where !asksForCertificate:
            fragment.messageSequence == hello + 1 && fragment.messageByteCount <= Self.maximumMessageByteCount
        case .clientKeyExchange, .certificateVerify:
            asksForCertificate && (hello + 1...hello + 3).contains(fragment.messageSequence)
                && fragment.messageByteCount <= Self.maximumMessageByteCount
        case .certificate:
            asksForCertificate && fragment.messageSequence == hello + 1
                && fragment.messageByteCount <= HelloDoor.maximumHelloByteCount
        default:
            false
        }
    }
}
