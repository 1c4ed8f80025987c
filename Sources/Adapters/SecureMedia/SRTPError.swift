/// Why a packet was not protected or unprotected.
///
/// The state has not changed, but the bytes of the packet are undefined.
package enum SRTPError: Error, CaseIterable, Hashable, Sendable {
    /// Shorter than its header and the tag.
    case tooShort
    /// Longer than any datagram.
    case tooLong
    /// Not RTP or RTCP of version 2.
    case malformed
    /// The buffer is too small for what protection adds.
    case bufferTooSmall
    /// An index that was used before: a packet received twice, or one about to be sent with a used nonce.
    case replayed
    /// Older than the replay window.
    case tooOld
    /// Forged, damaged, or protected with other keys.
    case notAuthentic
    /// RTCP without encryption, which no profile here allows.
    case notEncrypted
    /// Too many sources in the session.
    case tooManySources
    /// The keys have protected as many packets as they may (RFC 3711 section 9.2).
    case keyLimitReached
    /// OpenSSL failed.
    case cryptographyFailed
}

/// The number of rejected packets by error, as running totals.
package struct SRTPRejections: Sendable {
    private var counts = InlineArray<11, UInt64>(repeating: 0)

    package init() {}

    package subscript(error: SRTPError) -> UInt64 {
        counts[Self.index(error)]
    }

    package var total: UInt64 {
        SRTPError.allCases.reduce(0) { $0 &+ self[$1] }
    }

    package mutating func count(_ error: SRTPError) {
        counts[Self.index(error)] &+= 1
    }

    private static func index(_ error: SRTPError) -> Int {
        switch error {
        case .tooShort: 0
        case .tooLong: 1
        case .malformed: 2
        case .bufferTooSmall: 3
        case .replayed: 4
        case .tooOld: 5
        case .notAuthentic: 6
        case .notEncrypted: 7
        case .tooManySources: 8
        case .keyLimitReached: 9
        case .cryptographyFailed: 10
        }
    }
}
