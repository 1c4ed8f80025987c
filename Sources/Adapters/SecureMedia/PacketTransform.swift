internal import OpenSSLCrypto
import Wire

/// Encrypts or decrypts one kind of packet in one direction, once the index is known.
///
///     RTP, AES-GCM     header | encrypted | tag                  RFC 7714 section 8
///     RTP, AES-CM      header | encrypted | code                 RFC 3711 section 3.1, the code also over the counter
///     RTCP, AES-GCM    header | encrypted | tag | E, index       RFC 7714 section 9
///     RTCP, AES-CM     header | encrypted | E, index | code      RFC 3711 section 3.4
struct PacketTransform: ~Copyable {
    private enum Algorithm: ~Copyable {
        case galois(GaloisCipher)
        case counter(SignedCounter)
    }

    /// The SRTCP trailer: the E flag and the index.
    static let trailerByteCount = 4
    static let encryptedFlag: UInt32 = 1 << 31

    private let algorithm: Algorithm
    /// In the low bits: 96 for AES-GCM, 112 for AES-CM.
    private let salt: UInt128
    let tagByteCount: Int

    private init(_ algorithm: consuming Algorithm, salt: UInt128, tagByteCount: Int) {
        self.algorithm = algorithm
        self.salt = salt
        self.tagByteCount = tagByteCount
    }

    static func make(_ keys: SRTPSessionKeys, _ direction: GaloisCipher.Direction) -> PacketTransform? {
        let salt = UInt128(bigEndian: keys.salt)
        let tagByteCount = keys.profile.tagByteCount
        guard !keys.profile.isAuthenticatedEncryption else {
            guard let cipher = GaloisCipher.make(key: keys.key, direction) else { return nil }
            return PacketTransform(.galois(cipher), salt: salt, tagByteCount: tagByteCount)
        }
        guard let cipher = CounterCipher.make(key: keys.key),
            let authenticator = PacketAuthenticator.make(key: keys.authentication)
        else { return nil }
        let pair = SignedCounter(cipher: cipher, authenticator: authenticator)
        return PacketTransform(.counter(pair), salt: salt, tagByteCount: tagByteCount)
    }

    /// Both salts are combined with the SSRC and the index in the same way (RFC 3711 section 4.1.1, RFC 7714 sections
    /// 8.1 and 9.1): the index in the last 48 bits, the SSRC before it. AES-CM appends a block counter of 16 bits.
    private func nonce(_ source: UInt32, _ index: UInt64) -> UInt128 {
        salt ^ (UInt128(source) << 48 | UInt128(index))
    }

    // MARK: RTP

    /// Encrypts the part after the header and writes the tag after it. `packet` includes the space for the tag.
    func sealRTP(_ packet: UnsafeMutableRawBufferPointer, header: Int, source: UInt32, index: UInt64) -> Bool {
        let end = packet.count &- tagByteCount
        let body = packet.part(header..<end)
        let tag = packet.part(end..<packet.count)
        switch algorithm {
        case .galois(let cipher):
            guard let tagStart = tag.baseAddress else { return false }
            return cipher.seal(
                body, tag: tagStart, nonce: nonce(source, index), associated: packet.readable(0..<header))
        case .counter(let pair):
            return pair.cipher.apply(to: body, counter: nonce(source, index) << 16)
                && pair.authenticator.sign(packet.readable(0..<end), rollover(index), into: tag)
        }
    }

    /// Decrypts the part between the header and the tag, if the packet is authentic.
    func openRTP(
        _ packet: UnsafeMutableRawBufferPointer, header: Int, source: UInt32, index: UInt64
    ) throws(SRTPError) {
        let end = packet.count &- tagByteCount
        let body = packet.part(header..<end)
        let tag = packet.part(end..<packet.count)
        switch algorithm {
        case .galois(let cipher):
            guard let tagStart = tag.baseAddress,
                cipher.open(body, tag: tagStart, nonce: nonce(source, index), associated: packet.readable(0..<header))
            else { throw .notAuthentic }
        case .counter(let pair):
            guard pair.authenticator.verify(packet.readable(0..<end), rollover(index), UnsafeRawBufferPointer(tag))
            else {
                throw .notAuthentic
            }
            guard pair.cipher.apply(to: body, counter: nonce(source, index) << 16) else { throw .cryptographyFailed }
        }
    }

    private func rollover(_ index: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: index >> 16)
    }

    // MARK: RTCP

    /// The ranges of the tag and the trailer in a protected compound of `count` bytes.
    func rtcpParts(_ count: Int) -> (end: Int, tag: Range<Int>, trailer: Range<Int>) {
        let end = count &- tagByteCount &- Self.trailerByteCount
        switch algorithm {
        case .galois:
            return (end, end..<end &+ tagByteCount, end &+ tagByteCount..<count)
        case .counter:
            return (end, end &+ Self.trailerByteCount..<count, end..<end &+ Self.trailerByteCount)
        }
    }

    func sealRTCP(_ packet: UnsafeMutableRawBufferPointer, header: Int, source: UInt32, index: UInt32) -> Bool {
        let parts = rtcpParts(packet.count)
        let body = packet.part(header..<parts.end)
        let tag = packet.part(parts.tag)
        packet.storeBytes(
            of: (index | Self.encryptedFlag).bigEndian, toByteOffset: parts.trailer.lowerBound, as: UInt32.self)
        switch algorithm {
        case .galois(let cipher):
            guard let tagStart = tag.baseAddress else { return false }
            return cipher.seal(
                body, tag: tagStart, nonce: nonce(source, UInt64(index)), associated: packet.readable(0..<header),
                packet.readable(parts.trailer))
        case .counter(let pair):
            return pair.cipher.apply(to: body, counter: nonce(source, UInt64(index)) << 16)
                && pair.authenticator.sign(packet.readable(0..<parts.trailer.upperBound), nil, into: tag)
        }
    }

    func openRTCP(
        _ packet: UnsafeMutableRawBufferPointer, header: Int, source: UInt32, index: UInt32
    ) throws(SRTPError) {
        let parts = rtcpParts(packet.count)
        let body = packet.part(header..<parts.end)
        let tag = packet.part(parts.tag)
        switch algorithm {
        case .galois(let cipher):
            guard let tagStart = tag.baseAddress,
                cipher.open(
                    body, tag: tagStart, nonce: nonce(source, UInt64(index)), associated: packet.readable(0..<header),
                    packet.readable(parts.trailer))
            else { throw .notAuthentic }
        case .counter(let pair):
            guard
                pair.authenticator.verify(
                    packet.readable(0..<parts.trailer.upperBound), nil, UnsafeRawBufferPointer(tag))
            else { throw .notAuthentic }
            guard pair.cipher.apply(to: body, counter: nonce(source, UInt64(index)) << 16) else {
                throw .cryptographyFailed
            }
        }
    }
}

/// AES-CM with its authentication.
private struct SignedCounter: ~Copyable {
    let cipher: CounterCipher
    let authenticator: PacketAuthenticator
}

extension PacketAuthenticator {
    /// Writes the first bytes of the code over the packet and, for RTP, its rollover counter.
    func sign(_ packet: UnsafeRawBufferPointer, _ rollover: UInt32?, into tag: UnsafeMutableRawBufferPointer) -> Bool {
        withRollover(rollover) { rollover in
            withCode(over: packet, rollover) { code in
                tag.copyMemory(from: UnsafeRawBufferPointer(rebasing: code.prefix(tag.count)))
                return true
            }
        }
    }

    func verify(_ packet: UnsafeRawBufferPointer, _ rollover: UInt32?, _ tag: UnsafeRawBufferPointer) -> Bool {
        withRollover(rollover) { rollover in
            withCode(over: packet, rollover) { code in
                UnsafeRawBufferPointer(rebasing: code.prefix(tag.count)).bytes.equalsInConstantTime(tag.bytes)
            }
        }
    }

    private func withRollover(_ rollover: UInt32?, _ body: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        guard let rollover else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return withUnsafeBytes(of: rollover.bigEndian) { body($0) }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// A part whose bounds the caller has checked; empty when they are wrong nevertheless.
    func part(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer {
        guard range.lowerBound >= 0, range.upperBound <= count else {
            return UnsafeMutableRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeMutableRawBufferPointer(rebasing: self[range])
    }

    func readable(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(part(range))
    }
}
