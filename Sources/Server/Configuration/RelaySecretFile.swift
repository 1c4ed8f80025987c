import Foundation

/// The shared secret of ephemeral relay credentials, generated once and stored in the data directory, readable only by
/// its owner.
enum RelaySecretFile {
    /// Reads the secret of a server that has been started before.
    static func read(path: String) throws -> String {
        guard let text = text(in: path) else {
            throw ConfigurationError(
                "\(path) cannot be read: start the server once, run this as its user, or set relay.secrets.")
        }
        return text
    }

    /// Reads the secret, or generates one.
    static func load(path: String) throws -> String {
        if let text = text(in: path) { return text }
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<4).map { _ in String(generator.next(), radix: 36) }.joined()
        let isWritten = FileManager.default.createFile(
            atPath: path, contents: Data((secret + "\n").utf8), attributes: [.posixPermissions: 0o600])
        guard isWritten else {
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
