import Crypto
import CryptoExtras
import Foundation
import Model
import Testing

@testable import Tokens

@Suite("Service accounts of Google") struct GoogleServiceAccountTests {
    private static let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048)

    private static func file(_ changes: [String: String?] = [:]) throws -> Data {
        var members: [String: String] = [
            "type": "service_account", "project_id": "an-app-4711", "private_key_id": "abc",
            "private_key": try #require(key).pemRepresentation,
            "client_email": "push@an-app-4711.iam.gserviceaccount.com",
            "token_uri": "https://oauth2.googleapis.com/token",
        ]
        for (name, value) in changes { members[name] = value }
        return try JSONEncoder().encode(members)
    }

    @Test("an assertion is as Google checks it") func assertion() throws {
        let account = try GoogleServiceAccount(Self.file(), named: "a.json")
        #expect(account.project == "an-app-4711")
        let now = Timestamp(milliseconds: 1_800_000_000_999)
        let parts = try account.assertion(for: "https://scope.example/a", at: now).split(separator: ".")
        try #require(parts.count == 3)
        let header = try #require(Base64URL.decode(parts[0]))
        #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"RS256","typ":"JWT","kid":"abc"}"#)
        struct Claims: Decodable, Equatable {
            var iss: String
            var scope: String
            var aud: String
            var iat: Int
            var exp: Int
        }
        let claims = try JSONDecoder().decode(Claims.self, from: Data(#require(Base64URL.decode(parts[1]))))
        #expect(
            claims
                == Claims(
                    iss: "push@an-app-4711.iam.gserviceaccount.com", scope: "https://scope.example/a",
                    aud: "https://oauth2.googleapis.com/token", iat: 1_800_000_000, exp: 1_800_003_600))
        let signature = _RSA.Signing.RSASignature(rawRepresentation: Data(try #require(Base64URL.decode(parts[2]))))
        let digest = SHA256.hash(data: Data("\(parts[0]).\(parts[1])".utf8))
        #expect(
            try #require(Self.key).publicKey.isValidSignature(signature, for: digest, padding: .insecurePKCS1v1_5))
    }

    @Test(
        "what is missing or wrong is named, and no key is",
        arguments: [
            ("type", "authorized_user", "service account"), ("type", nil, "service account"),
            ("project_id", nil, "project_id"), ("project_id", "a/../b", "project_id"),
            ("client_email", "", "client_email"),
            ("token_uri", "http://oauth2.example", "token_uri"), ("token_uri", nil, "token_uri"),
            ("private_key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "private_key"),
        ] as [(String, String?, String)]) func invalid(name: String, value: String?, named: String) throws
    {
        let file = try Self.file([name: value])
        let error = #expect(throws: KeyFileError.self) { try GoogleServiceAccount(file, named: "a.json") }
        let text = try #require(error).description
        #expect(text.hasPrefix("a.json ") && text.contains(named) && !text.contains("AAAA"))
    }

    @Test("a file that is none") func noFile() {
        #expect(throws: KeyFileError.self) { try GoogleServiceAccount(Array("{".utf8), named: "a.json") }
        let error = #expect(throws: KeyFileError.self) { try GoogleServiceAccount(file: "/nowhere/a.json") }
        #expect(error?.description.hasPrefix("/nowhere/a.json cannot be read") == true)
        // One that does not end, and one that waits for somebody.
        let device = #expect(throws: KeyFileError.self) { try GoogleServiceAccount(file: "/dev/zero") }
        #expect(device?.description == "/dev/zero is no file")
    }

    @Test("a file that is too large is not read, and one that others may read is named") func kept() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "account-\(UUID().uuidString).json").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        FileManager.default.createFile(
            atPath: path, contents: Data(try Self.file([:])), attributes: [.posixPermissions: 0o644])
        #expect(try GoogleServiceAccount(file: path).warning?.contains("chmod 600 \(path)") == true)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(try GoogleServiceAccount(file: path).warning == nil)
        try Data(count: 1 << 20).write(to: URL(filePath: path))
        let error = #expect(throws: KeyFileError.self) { try GoogleServiceAccount(file: path) }
        #expect(error?.description == "\(path) is no key of a service account: it has more than 65536 bytes")
    }
}
