/// The name and version of a client's library or program, as it names itself: shown to its user, never trusted.
package struct ClientInfo: Codable, Hashable, Sendable {
    /// The most characters of a name, and of a version.
    package static let maxLength = 64

    package var name: String
    package var version: String

    package init(name: String, version: String) {
        self.name = name
        self.version = version
    }

    /// Whether a text can be a name or a version: 1 to `maxLength` printable characters of ASCII.
    package static func isValid(_ text: String) -> Bool {
        (1...maxLength).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}
