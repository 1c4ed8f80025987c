import Foundation

/// The directory with a store for each user, and whose token belongs to which user: known since their first
/// connection, so that a store can be opened without one.
struct StoreDirectory: Sendable {
    /// How long the store of a user who does not sign in again is kept.
    static let lifetime: TimeInterval = 30 * 24 * 3_600

    let url: URL

    init(_ path: String) { url = URL(fileURLWithPath: path, isDirectory: true) }

    func path(of user: UserID) -> String {
        // An id is a UUID; anything else must not leave the directory.
        let name = user.rawValue.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        return url.appendingPathComponent("conversations-\(name).sqlite").path
    }

    private var index: URL { url.appendingPathComponent("users.json") }

    private var users: [String: UserID] {
        (try? Data(contentsOf: index)).flatMap { try? StoredJSON.decode([String: UserID].self, $0) } ?? [:]
    }

    /// The user to whom a token belongs, if they were connected before.
    func user(of subject: TokenSubject) -> UserID? { users[subject.text] }

    /// Remembers to whom a token belongs.
    func remember(_ user: UserID, of subject: TokenSubject) {
        var users = users
        guard users.updateValue(user, forKey: subject.text) != user else { return }
        write(users)
    }

    func forget(_ user: UserID) { write(users.filter { $0.value != user }) }

    private func write(_ users: [String: UserID]) {
        try? FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try? StoredJSON.encode(users).write(to: index, options: .atomic)
    }

    /// Marks a user's store as used, and removes those that were not used for 30 days.
    func use(_ user: UserID) {
        let (files, own) = (FileManager.default, path(of: user))
        try? files.setAttributes([.modificationDate: Date()], ofItemAtPath: own)
        let found = try? files.contentsOfDirectory(at: url, includingPropertiesForKeys: [.contentModificationDateKey])
        for file in found ?? [] where file.pathExtension == "sqlite" && file.path != own {
            let date = try? file.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
            guard let date, -date.timeIntervalSinceNow > Self.lifetime else { continue }
            try? files.removeItem(at: AudioFiles.directory(of: file))
            StoreFile.remove(file.path)
        }
    }
}

/// The owner of an access token: the issuer and the subject of a JSON Web Token (RFC 7519 section 4.1). They are not
/// verified, since they only find what is stored on this device; the server alone decides who is signed in.
struct TokenSubject: Hashable, Sendable {
    let text: String

    init?(of token: String) {
        struct Claims: Decodable { var iss: String?; var sub: String }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var base64 = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        while base64.count % 4 != 0 { base64 += "=" }
        guard let data = Data(base64Encoded: base64), let claims = try? JSONDecoder().decode(Claims.self, from: data)
        else { return nil }
        text = "\(claims.iss ?? "")\n\(claims.sub)"
    }
}
