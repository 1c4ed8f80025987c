internal import Crypto
internal import Foundation

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
