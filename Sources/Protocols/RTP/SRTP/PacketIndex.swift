/// The index of an SRTP packet (RFC 3711 section 3.3.1): 2^16 times the rollover counter, plus the sequence number.
///
/// Only the sequence number is on the wire. The receiver estimates the rollover counter: the index closest to the
/// highest one seen. With a wrong estimate the authentication fails, so nothing but the packet is lost.
package enum PacketIndex {
    /// Indices below this are 48 bits long; the key is used up at the end.
    package static let limit: UInt64 = 1 << 48
    private static let half: UInt64 = 1 << 15
    private static let round: UInt64 = 1 << 16

    /// The index with this sequence number that is closest to `highest`.
    ///
    /// Before the first wrap there are no earlier indices: a sequence number far above `highest` then jumped forward,
    /// where the RFC's formula would give a counter of -1.
    package static func estimate(_ sequence: UInt16, highest: UInt64) -> UInt64 {
        let start = highest & ~(round &- 1)
        let position = highest & (round &- 1)
        let sequence = UInt64(sequence)
        if position < half {
            let isOfRoundBefore = sequence > position &+ half && start > 0
            return isOfRoundBefore ? start &- round &+ sequence : start &+ sequence
        }
        return sequence < position &- half ? start &+ round &+ sequence : start &+ sequence
    }
}
