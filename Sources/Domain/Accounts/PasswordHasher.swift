/// Turns passwords into what may be stored, and compares them with it. Both take tens of milliseconds by design and
/// run away from the threads that serve requests.
package protocol PasswordHasher: Sendable {
    /// Throws `Problem` of kind `unavailable` when too many wait already.
    func hash(_ password: String) async throws -> String

    /// Compares `password` with `stored`. Without a stored hash it does the same work and answers `wrong`, so that the
    /// time of the answer does not tell whether an account exists.
    func verify(_ password: String, against stored: String?) async throws -> PasswordVerdict
}

package enum PasswordVerdict: Sendable, Hashable {
    case wrong
    /// The password is right. When the stored hash was made with other parameters than today's, it should be made anew.
    case right(isOutdated: Bool)
}
