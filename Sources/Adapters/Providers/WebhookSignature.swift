internal import Crypto
internal import Foundation
internal import Webhooks

/// Signs webhooks: HMAC-SHA256 over the timestamp and the body, so that neither can be changed, nor an old request be
/// replayed.
package enum WebhookSignature {
    package static func sign(_ body: [UInt8], at timestamp: Int64, secret: String) -> String {
        var code = HMAC<SHA256>(key: SymmetricKey(data: Data(secret.utf8)))
        code.update(data: Data("\(timestamp).".utf8))
        code.update(data: body)
        let digits = Array("0123456789abcdef")
        return "v1=" + code.finalize().map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined()
    }
}

/// Signs webhooks as Standard Webhooks 1.0: HMAC-SHA256 over id, timestamp and body, with a full stop between them.
///
/// ```
/// webhook-id: 0199…                  (the same in every attempt: who keeps ids drops repetitions)
/// webhook-timestamp: 1763820000      (seconds, of this attempt)
/// webhook-signature: v1,<Base64> v1,<Base64>
/// ```
package enum StandardWebhookSignature {
    /// - Parameter secrets: their bytes; during a rotation the new one, then the old one. Each makes a signature.
    package static func headers(
        id: String, timestamp: Int64, body: [UInt8], secrets: [[UInt8]]
    ) -> [(String, String)] {
        let signatures = secrets.map { sign(id: id, timestamp: timestamp, body: body, secret: $0) }
        return [
            ("webhook-id", id), ("webhook-timestamp", "\(timestamp)"),
            ("webhook-signature", signatures.joined(separator: " ")),
        ]
    }

    package static func sign(id: String, timestamp: Int64, body: [UInt8], secret: [UInt8]) -> String {
        var code = HMAC<SHA256>(key: SymmetricKey(data: secret))
        code.update(data: Array("\(id).\(timestamp).".utf8))
        code.update(data: body)
        return "v1," + Data(code.finalize()).base64EncodedString()
    }

    /// The key that a provider's secret of any form stands for: the bytes after `whsec_`, else the text itself.
    package static func key(_ secret: String) -> [UInt8] { WebhookSecret(secret)?.bytes ?? Array(secret.utf8) }

    /// An id that stays the same when the same request is repeated.
    package static func id(of parts: [[UInt8]]) -> String {
        var hash = SHA256()
        for part in parts {
            hash.update(data: Data("\(part.count).".utf8))
            hash.update(data: part)
        }
        let digits = Array("0123456789abcdef")
        return hash.finalize().prefix(16).map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined()
    }
}
