/// The id of a server key: 16 random digits of base 62 (95 bits). It is public: lists, logs and tokens name it.
package struct ServerKeyID: Hashable, Sendable {
    package static let length = 16

    package let text: String

    /// Takes 16 digits of base 62.
    package init?(_ text: String) {
        guard text.utf8.count == Self.length, text.utf8.allSatisfy({ Base62.value(of: $0) != nil }) else { return nil }
        self.text = text
    }

    /// For digits that were checked.
    init(digits: some Sequence<UInt8>) { text = String(decoding: Array(digits), as: UTF8.self) }

    /// Makes a random id.
    package static func make(using generator: inout some RandomNumberGenerator) -> Self {
        Self(digits: Base62.random(count: length, using: &generator))
    }
}

extension ServerKeyID: CustomStringConvertible {
    package var description: String { text }
}
