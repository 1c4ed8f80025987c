import Crypto
import Tokens

/// By what a push service replaces an earlier notification: of one user, since accounts may share a device. Services read
/// it, and Apple's takes 64 bytes.
enum CollapseKey {
    /// - Parameter subject: what is told of, such as a call.
    static func make(user: String, subject: String) -> String {
        Base64URL.encode(Array(SHA256.hash(data: Array("\(user)\n\(subject)".utf8))))
    }
}
