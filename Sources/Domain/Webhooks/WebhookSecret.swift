internal import FoundationEssentials

/// The secret of a webhook as Standard Webhooks 1.0 writes it: `whsec_` and 24 to 64 bytes in Base64.
package struct WebhookSecret: Hashable, Sendable {
    private static let prefix = "whsec_"
    private static let lengths = 24...64

    package let bytes: [UInt8]

    package init?(bytes: [UInt8]) {
        guard Self.lengths.contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// Padding may be missing.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), text.utf8.count <= 128 else { return nil }
        let digits = text.dropFirst(Self.prefix.count)
        let padding = String(repeating: "=", count: (4 - digits.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: digits + padding) else { return nil }
        self.init(bytes: Array(data))
    }

    /// 32 random bytes.
    package init(using generator: inout some RandomNumberGenerator) {
        bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    package static func generate() -> Self {
        var generator = SystemRandomNumberGenerator()
        return Self(using: &generator)
    }

    package var text: String { Self.prefix + Data(bytes).base64EncodedString() }
}
