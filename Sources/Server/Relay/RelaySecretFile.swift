import Foundation

/// The shared secret of ephemeral relay credentials, made once and kept in the data directory for its owner alone.
enum RelaySecretFile {
    /// The secret of a server that has run before.
    static func read(path: String) throws -> String {
        guard let text = text(in: path) else {
            throw ConfigurationError(
                "\(path) cannot be read: start the server once, run this as its user, or set relay.secrets.")
        }
        return text
    }

    static func load(path: String) throws -> String {
        if let text = text(in: path) { return text }
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<4).map { _ in String(generator.next(), radix: 36) }.joined()
        let made = FileManager.default.createFile(
            atPath: path, contents: Data((secret + "\n").utf8), attributes: [.posixPermissions: 0o600])
        guard made else {
            throw ConfigurationError(
                "\(path) cannot be written: make the directory of storage.path writable, or set relay.secrets.")
        }
        return secret
    }

    private static func text(in path: String) -> String? {
        let text = try? String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        return text?.isEmpty == false ? text : nil
    }
}
