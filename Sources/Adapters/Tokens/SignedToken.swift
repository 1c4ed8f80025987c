internal import Foundation

/// A JSON Web Token in compact serialization (RFC 7515 section 3.1), parsed but not yet verified.
struct SignedToken {
    struct Header: Decodable {
        let alg: String
        let kid: String?
        /// Extensions that must be understood (RFC 7515 section 4.1.11); none is supported.
        let crit: [String]?
    }

    static let maxLength = 16 * 1024

    let header: Header
    let payload: [UInt8]
    let signature: [UInt8]
    /// The bytes that the signature covers.
    let signed: [UInt8]

    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maxLength else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2]),
            let header = try? JSONDecoder().decode(Header.self, from: Data(head)), header.crit == nil
        else { return nil }
        self.header = header
        self.payload = payload
        self.signature = signature
        signed = Array(bytes.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
    }

    func claims<Claims: Decodable>(as type: Claims.Type) -> Claims? {
        try? JSONDecoder().decode(type, from: Data(payload))
    }
}
