import Accounts
import Model

/// The limits of friendships, contact links and reports.
package enum FriendRules {
    package static let noteCharacters = 300
    /// How long a request waits, and how long a declined one cannot be repeated.
    package static let requestSeconds: Int64 = 30 * 86_400
    /// Requests of one user that wait.
    package static let sentLimit = 200
    /// Requests that wait for one user. What comes beyond it does not arrive, which nobody can see.
    package static let receivedLimit = 1000
    package static let friendLimit = 5000
    /// Friends and requests in a snapshot of the user's stream: the newest.
    package static let snapshotLimit = 200

    package static let reportCharacters = 2000
    package static let reportsPerDay = 20

    /// The note of a request; nil if it is empty.
    package static func note(_ note: String?) throws -> String? {
        guard let note else { return nil }
        let text = try AccountRules.text(note, field: "note", characters: noteCharacters)
        return text.isEmpty ? nil : text
    }

    static func cannotBeOneself(_ user: UserID, _ principal: Principal, _ words: String) throws {
        guard user != principal.user else { throw Problem.invalid("user", words) }
    }
}
