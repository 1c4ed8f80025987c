/// How much work one hash costs (RFC 9106 section 3.1).
package struct Argon2Parameters: Hashable, Sendable {
    /// Kibibytes of memory.
    package var memory: UInt32
    /// Passes over the memory.
    package var passes: UInt32
    /// Lanes (degree of parallelism).
    package var lanes: UInt32

    package init(memory: UInt32, passes: UInt32, lanes: UInt32) {
        self.memory = memory
        self.passes = passes
        self.lanes = lanes
    }

    /// 19 MiB, two passes, one lane: OWASP's recommended minimum for argon2id; about 26 ms.
    package static let standard = Self(memory: 19 * 1024, passes: 2, lanes: 1)

    /// The prefix of a PHC string with these parameters; 19 is version 1.3 of Argon2.
    var prefix: String { "$argon2id$v=19$m=\(memory),t=\(passes),p=\(lanes)$" }
}
