package import Wire

/// The first fields of a ClientHello, up to its cookie (RFC 6347 section 4.2.1).
///
///     | Version (16) | Random (32 bytes) | n (8) | Session (n bytes) | m (8) | Cookie (m bytes) | cipher suites …
///
/// They are at most some 320 bytes, so the first fragment has them however large the hello is: post-quantum key shares
/// and long lists come later. A hello of DTLS 1.3 begins in the same way (RFC 9147 section 5.3).
package struct HelloStart: Hashable, Sendable {
    /// The client's random number, which identifies a hello.
    package let random: Digest
    /// The range in the datagram that the cookie authenticates: everything before it.
    package let covered: Range<Int>
    /// The cookie's range in the datagram, empty in a first hello.
    package let cookie: Range<Int>

    private static let randomOffset = 2
    private static let sessionOffset = 34
    private static let maximumSessionIDByteCount = 32

    /// nil when the fragment is not the first of a hello, or ends before the cookie does.
    package init?(_ datagram: RawSpan, _ fragment: HandshakeFragment) {
        guard fragment.isOf(.clientHello), fragment.offset == 0, let bytes = datagram.part(fragment.body),
            bytes.byte(at: 0) == RecordHeader.majorVersion,
            let random = bytes.part(Self.randomOffset..<Self.sessionOffset),
            let sessionLength = bytes.byte(at: Self.sessionOffset), sessionLength <= Self.maximumSessionIDByteCount
        else { return nil }
        let cookieOffset = Self.sessionOffset &+ 1 &+ Int(sessionLength)
        guard let cookieLength = bytes.byte(at: cookieOffset),
            bytes.byteCount &- cookieOffset &- 1 >= Int(cookieLength)
        else { return nil }
        let start = fragment.body.lowerBound
        self.random = Digest(random)
        covered = start..<start &+ cookieOffset
        cookie = start &+ cookieOffset &+ 1..<start &+ cookieOffset &+ 1 &+ Int(cookieLength)
    }
}
