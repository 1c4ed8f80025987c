package import Model

/// Where a user's photo is: a path on this server, in documents as `photoURL`.
///
/// It is made of the file's id, of which 74 bits are random, and says nothing of the user; whoever was shown it may load it,
/// since pages load pictures without a token. Another photo is another address, so that a copy never goes stale.
package enum PhotoAddress {
    package static let prefix = "/v1/photos/"

    package static func path(of file: FileID) -> String { prefix + file.text }

    package static func file(at path: String) -> FileID? {
        path.hasPrefix(prefix) ? FileID(String(path.dropFirst(prefix.count))) : nil
    }
}
