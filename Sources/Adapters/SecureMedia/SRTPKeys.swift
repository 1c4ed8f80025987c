internal import OpenSSLCrypto

/// The master key and salt of one direction, from which everything else is derived.
package struct SRTPMasterKey: Hashable, Sendable {
    package let profile: SRTPProfile
    package let key: [UInt8]
    package let salt: [UInt8]

    /// nil when a length is not the profile's.
    package init?(_ profile: SRTPProfile, key: [UInt8], salt: [UInt8]) {
        guard key.count == profile.keyByteCount, salt.count == profile.saltByteCount else { return nil }
        self.profile = profile
        self.key = key
        self.salt = salt
    }

    /// The keys for one kind of packet; nil when OpenSSL failed.
    func derive(_ kind: SRTPSessionKeys.Kind) -> SRTPSessionKeys? {
        guard let key = derive(kind.labels.key, profile.keyByteCount),
            let authentication = derive(kind.labels.authentication, profile.authenticationKeyByteCount),
            let salt = derive(kind.labels.salt, profile.saltByteCount)
        else { return nil }
        return SRTPSessionKeys(profile: profile, key: key, authentication: authentication, salt: salt)
    }

    /// RFC 3711 section 4.3.1 with a derivation rate of 0: the start of the AES keystream under the master key, with a
    /// counter of the label and the salt; AES-256 with a key of 256 bits (RFC 6188 section 2). A salt of 96 bits is
    /// padded with zeros on the right (RFC 7714 section 11).
    func derive(_ label: UInt8, _ count: Int) -> [UInt8]? {
        guard let cipher = CounterCipher.make(key: key) else { return nil }
        // 112 bits, then 16 that count the blocks.
        let counter = (UInt128(bigEndian: salt) << (8 * UInt128(14 &- salt.count)) ^ UInt128(label) << 48) << 16
        var bytes = [UInt8](repeating: 0, count: count)
        let isDone = bytes.withUnsafeMutableBytes { cipher.apply(to: $0, counter: counter) }
        return isDone ? bytes : nil
    }
}

/// The session keys of one transform, derived from a master key.
struct SRTPSessionKeys {
    enum Kind {
        case rtp
        case rtcp

        fileprivate var labels: (key: UInt8, authentication: UInt8, salt: UInt8) {
            self == .rtp ? (0, 1, 2) : (3, 4, 5)
        }
    }

    let profile: SRTPProfile
    let key: [UInt8]
    /// Empty with AES-GCM.
    let authentication: [UInt8]
    let salt: [UInt8]
}

/// The master keys of both directions, as exported from a DTLS handshake (RFC 5764 section 4.2):
///
///     | client's key | server's key | client's salt | server's salt |
package struct SRTPKeyingMaterial: Hashable, Sendable {
    /// The key with which the DTLS client protects and the server unprotects.
    package let client: SRTPMasterKey
    package let server: SRTPMasterKey

    /// The key with which this side protects, and that of the peer.
    package func keys(isServer: Bool) -> (own: SRTPMasterKey, peer: SRTPMasterKey) {
        isServer ? (server, client) : (client, server)
    }

    /// The label of the exporter (RFC 5705).
    package static let exporterLabel = "EXTRACTOR-dtls_srtp"

    package static func byteCount(for profile: SRTPProfile) -> Int {
        2 &* (profile.keyByteCount &+ profile.saltByteCount)
    }

    /// nil when the number of bytes does not fit the profile.
    package init?(_ profile: SRTPProfile, exported bytes: [UInt8]) {
        guard bytes.count == Self.byteCount(for: profile) else { return nil }
        let (key, salt) = (profile.keyByteCount, profile.saltByteCount)
        guard
            let client = SRTPMasterKey(
                profile, key: Array(bytes[..<key]), salt: Array(bytes[2 * key..<2 * key + salt])),
            let server = SRTPMasterKey(
                profile, key: Array(bytes[key..<2 * key]), salt: Array(bytes[(2 * key + salt)...]))
        else { return nil }
        self.client = client
        self.server = server
    }
}

extension UInt128 {
    /// The last 16 bytes as a number in network order.
    init(bigEndian bytes: [UInt8]) {
        self = bytes.reduce(0) { $0 << 8 | UInt128($1) }
    }
}
