/// Why a packet was neither protected nor unprotected.
///
/// Nothing has changed then, but for the packet: its bytes may be of no use any more.
package enum SRTPError: Error, CaseIterable, Hashable, Sendable {
    /// Shorter than its header and what protection adds.
    case tooShort
    /// Longer than any datagram.
    case tooLong
    /// Not RTP or RTCP of version 2.
    case malformed
    /// The buffer has no room for what protection adds.
    case noRoom
    /// An index that was there before: a packet received twice, or one about to be sent under a used nonce.
    case replayed
    /// So far behind the newest that nobody can say whether it was there before.
    case tooOld
    /// Forged, damaged, or protected with other keys.
    case notAuthentic
    /// RTCP without encryption, which no profile here allows.
    case notEncrypted
    /// More sources than a session may have.
    case tooManySources
    /// The keys have protected as many packets as they may (RFC 3711 section 9.2).
    case keyLimitReached
    /// OpenSSL failed.
    case cryptographyFailed
}

/// How many packets were refused, and why, as running totals.
package struct SRTPRefusals: Sendable {
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
        case .noRoom: 3
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
