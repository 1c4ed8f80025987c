/// Hashes passwords and verifies them. Both take tens of milliseconds by design and run on threads other than those
/// that serve requests.
package protocol PasswordHasher: Sendable {
    /// Throws a `Problem` of kind `unavailable` if the queue is full.
    func hash(_ password: String) async throws -> String

    /// Compares `password` with `stored`. Without a stored hash it does the same work and returns `wrong`, so that the
    /// response time does not reveal whether an account exists.
    func verify(_ password: String, against stored: String?) async throws -> PasswordVerdict

    /// Some account has this hash of another system: from now on, every wrong password does the work of that one too.
    func expect(_ stored: String)
}

extension PasswordHasher {
    package func expect(_ stored: String) {}
}

package enum PasswordVerdict: Sendable, Hashable {
    case wrong
    /// The password is right. If `isOutdated`, the stored hash has other parameters than the current ones: rehash it.
    case right(isOutdated: Bool)
}
