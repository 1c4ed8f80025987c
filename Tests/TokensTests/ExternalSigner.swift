import Crypto
import CryptoExtras
import Foundation

/// An external issuer: keys of both kinds, their JWKs, and tokens signed with them. Written over the bare
/// primitives, so that it shares no code with what it tests.
struct ExternalSigner {
    enum Kind { case es256, rs256 }

    let identifier: String
    private let elliptic = P256.Signing.PrivateKey()
    private let rsa: _RSA.Signing.PrivateKey

    init(_ identifier: String) throws {
        self.identifier = identifier
        rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    }

    func jwk(_ kind: Kind, identifier: String? = nil) throws -> String {
        let name = identifier ?? self.identifier
        switch kind {
        case .es256:
            let raw = elliptic.publicKey.rawRepresentation
            return """
                {"kty":"EC","crv":"P-256","kid":"\(name)","x":"\(Self.base64(raw.prefix(32)))","y":"\(Self.base64(raw.suffix(32)))"}
                """
        case .rs256:
            let numbers = try rsa.publicKey.getKeyPrimitives()
            return """
                {"kty":"RSA","alg":"RS256","use":"sig","kid":"\(name)","n":"\(Self.base64(numbers.modulus))","e":"\(Self.base64(numbers.publicExponent))"}
                """
        }
    }

    func token(_ kind: Kind, _ claims: String, alg: String? = nil, kid: String?? = nil) throws -> String {
        let name = kid ?? identifier
        let member = name.map { ",\"kid\":\"\($0)\"" } ?? ""
        let head = "{\"alg\":\"\(alg ?? (kind == .es256 ? "ES256" : "RS256"))\"\(member)}"
        let signed = Self.base64(Data(head.utf8)) + "." + Self.base64(Data(claims.utf8))
        let signature =
            switch kind {
            case .es256: try elliptic.signature(for: Data(signed.utf8)).rawRepresentation
            case .rs256:
                try rsa.signature(for: SHA256.hash(data: Data(signed.utf8)), padding: .insecurePKCS1v1_5)
                    .rawRepresentation
            }
        return signed + "." + Self.base64(signature)
    }

    static func base64(_ data: some DataProtocol) -> String {
        Data(data).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
}
