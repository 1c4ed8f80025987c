/// A truncated HMAC-SHA256 with which a server recognises what it gave out without storing it, such as nonces and
/// cookies.
///
/// The message contains the time at which the code was made, as `seconds(at:)`, and the code is valid for `lifetime`
/// seconds from then. Two keys are valid at a time: codes are made with the current one, and those of the previous one
/// are accepted. So a code outlives a rotation, if there is at most one per lifetime.
package struct RotatingKeyMAC: Sendable {
    /// The size of a code.
    package let byteCount: Int
    /// Seconds that a code is valid.
    package let lifetime: UInt32

    private var current: Digest
    private var previous: Digest

    /// - Parameter byteCount: at most 32, the size of SHA-256.
    package init(key: Digest, byteCount: Int, lifetime: UInt32) {
        self.byteCount = min(max(1, byteCount), HashFunction.sha256.byteCount)
        self.lifetime = lifetime
        current = key
        previous = key
    }

    package mutating func rotate(to key: Digest) {
        previous = current
        current = key
    }

    /// The time that the message of a code contains: seconds of the monotonic clock, which may wrap around.
    package static func seconds(at now: Instant) -> UInt32 {
        UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000_000)
    }

    /// The code of a message in two parts. nil when the cryptography failed.
    package func code(
        of first: RawSpan, _ second: RawSpan, _ authentication: some MessageAuthentication
    ) -> Digest? {
        code(of: first, second, key: current, authentication)
    }

    /// Whether `given` is the code of a message that contains the time `seconds`, and has not expired. Codes are
    /// compared in constant time.
    package func isValid(
        _ given: RawSpan, from seconds: UInt32, at now: Instant, of first: RawSpan, _ second: RawSpan,
        _ authentication: some MessageAuthentication
    ) -> Bool {
        // A time that lies ahead wraps around, and is rejected too.
        guard Self.seconds(at: now) &- seconds < lifetime else { return false }
        return matches(given, first, second, key: current, authentication)
            || matches(given, first, second, key: previous, authentication)
    }

    private func matches(
        _ given: RawSpan, _ first: RawSpan, _ second: RawSpan, key: Digest,
        _ authentication: some MessageAuthentication
    ) -> Bool {
        code(of: first, second, key: key, authentication)?.equalsInConstantTime(given) ?? false
    }

    private func code(
        of first: RawSpan, _ second: RawSpan, key: Digest, _ authentication: some MessageAuthentication
    ) -> Digest? {
        guard let code = key.withBytes({ authentication.code(.sha256, key: $0, first, second) }) else { return nil }
        return code.withBytes { Digest($0.extracting(0..<min(byteCount, $0.byteCount))) }
    }
}
