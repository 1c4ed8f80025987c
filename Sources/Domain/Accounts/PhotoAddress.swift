package import Model

/// The path of a user's photo on this server, in documents as `photoURL`.
///
/// It contains the file's id, of which 74 bits are random, and reveals nothing about the user. Whoever has it may load
/// the photo, since pages load images without a token. Another photo has another path, so that cached copies never get
/// stale.
package enum PhotoAddress {
    package static let prefix = "/v1/photos/"

    package static func path(of file: FileID) -> String { prefix + file.text }

    package static func file(at path: String) -> FileID? {
        path.hasPrefix(prefix) ? FileID(String(path.dropFirst(prefix.count))) : nil
    }
}
