internal import Model

/// An account as the operator names one: by its e-mail address, by its id, or as `ext:<id>` by the app's own id.
package enum AccountReference: Hashable, Sendable {
    case user(UserReference)
    case email(String)

    package init(_ text: String, field: String = "account") throws {
        if text.contains("@"), !text.utf8.starts(with: UserReference.prefix.utf8) {
            self = .email(try AccountRules.email(text))
            return
        }
        do {
            self = .user(try UserReference(text, field: field))
        } catch {
            throw Problem.invalid(field, "Expected an e-mail address, a user's UUID, or ext: and the app's own id.")
        }
    }
}
