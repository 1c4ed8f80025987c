import STUN
import Wire

/// A self-contained access token of RFC 7635, decrypted: an authorization server made it for this relay, with the key
/// in it that the client signs with.
///
///     | nonce length (16) | nonce | sealed with the long-term key:                         | tag (128) |
///     |                           | key length (16) | mac key | timestamp (64) | lifetime (32) |  RFC 7635 section 6.2
///
/// USERNAME names the key that decrypts it; the associated data is the relay's name (THIRD-PARTY-AUTHORIZATION).
struct AccessToken {
    let macKey: [UInt8]
    /// Unix time in seconds.
    let expiresAt: Int64

    /// How far the clocks of the two servers may be apart (RFC 7635 section 7).
    static let tolerance: Int64 = 5
    private static let keyByteCounts = [20, 32]

    init?(
        _ token: RawSpan, key: [UInt8], serverName: String, _ decryption: any AuthenticatedDecryption
    ) {
        guard let nonceLength = token.integer(at: 0, as: UInt16.self).map({ Int($0) }), nonceLength <= 64,
            let nonce = token.part(2..<2 + nonceLength.clamped(to: token.byteCount - 2)),
            nonce.byteCount == nonceLength,
            let sealed = token.part(2 + nonceLength..<token.byteCount)
        else { return nil }
        let name = Array(serverName.utf8)
        guard
            let opened = decryption.open(
                sealed, key: key.span.bytes, nonce: nonce, associated: name.span.bytes)
        else { return nil }
        let bytes = opened.span.bytes
        guard let keyLength = bytes.integer(at: 0, as: UInt16.self).map({ Int($0) }),
            Self.keyByteCounts.contains(keyLength), bytes.byteCount == 2 + keyLength + 12,
            let macKey = bytes.part(2..<2 + keyLength)?.copyToArray(),
            let timestamp = bytes.integer(at: 2 + keyLength, as: UInt64.self),
            let lifetime = bytes.integer(at: 2 + keyLength + 8, as: UInt32.self)
        else { return nil }
        self.macKey = macKey
        // 48 bits of seconds, 16 of fractions.
        expiresAt = Int64(timestamp >> 16) + Int64(lifetime)
    }

    /// The key, and its first 128 bits: coturn's clients sign with only those of a key of 160 bits.
    var keys: [CredentialKeys] {
        let whole = CredentialKeys(macKey: macKey)
        return macKey.count == 20 ? [whole, CredentialKeys(macKey: Array(macKey.prefix(16)))] : [whole]
    }

    func isValid(at unixSeconds: Int64) -> Bool {
        unixSeconds < expiresAt + Self.tolerance
    }
}

extension Int {
    fileprivate func clamped(to limit: Int) -> Int { Swift.max(0, Swift.min(self, limit)) }
}
