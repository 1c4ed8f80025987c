package import Model

/// A refresh token as the client holds it: `<sign-in>.<counter>.<family>.<secret>`.
///
/// `family` is 256 random bits that stay the same for the life of the sign-in: whoever presents them has had a genuine
/// token of it. `secret` is 256 random bits of this token. The store holds only SHA-256 digests of both. Without the
/// family part, anybody who knows a sign-in's id could end it by presenting made-up tokens.
package struct RefreshToken: Hashable, Sendable {
    package var signIn: SignInID
    package var counter: Int64
    package var family: String
    package var secret: String

    package init(signIn: SignInID, counter: Int64, family: String, secret: String) {
        self.signIn = signIn
        self.counter = counter
        self.family = family
        self.secret = secret
    }

    package init?(_ text: String) {
        guard text.utf8.count <= 256 else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, let signIn = SignInID(String(parts[0])), let counter = Int64(parts[1]), counter > 0,
            !parts[2].isEmpty, !parts[3].isEmpty
        else { return nil }
        self.init(signIn: signIn, counter: counter, family: String(parts[2]), secret: String(parts[3]))
    }

    package var text: String { "\(signIn.text).\(counter).\(family).\(secret)" }
}
