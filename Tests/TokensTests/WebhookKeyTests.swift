import Foundation
import Model
import TestSupport
import Testing
import Tokens
import Webhooks

@Suite struct WebhookKeyTests {
    let webhook = WebhookID.make(at: Timestamp(milliseconds: 1))
    let secret = Array("a secret of thirty-two bytes....".utf8)

    @Test func aSecretOpensOnlyForItsWebhookAndWithItsKey() throws {
        let key = WebhookKey.ephemeral()
        let sealed = try key.seal(secret, for: webhook)
        #expect(try key.open(sealed, for: webhook) == secret)
        #expect(try key.seal(secret, for: webhook) != sealed)
        #expect(sealed.count == secret.count + 28)
        #expect(!sealed.indices.contains { sealed[$0...].starts(with: secret.prefix(8)) })
        #expect(throws: (any Error).self) { try key.open(sealed, for: .make(at: Timestamp(milliseconds: 2))) }
        #expect(throws: (any Error).self) { try WebhookKey.ephemeral().open(sealed, for: webhook) }
        for index in sealed.indices {
            var damaged = sealed
            damaged[index] ^= 1
            #expect(throws: (any Error).self) { try key.open(damaged, for: webhook) }
        }
        for length in 0..<sealed.count {
            #expect(throws: (any Error).self) { try key.open(Array(sealed.prefix(length)), for: webhook) }
        }
    }

    @Test func theKeyIsKeptForItsOwnerAlone() throws {
        let path = try ScratchDirectory().file("webhooks-key")
        let made = try WebhookKey.load(from: path)
        #expect(made.warning == nil)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        let sealed = try made.key.seal(secret, for: webhook)
        #expect(try WebhookKey.load(from: path).key.open(sealed, for: webhook) == secret)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(try WebhookKey.load(from: path).warning?.contains("chmod 600") == true)
        try "nonsense".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(throws: KeyFileError.self) { _ = try WebhookKey.load(from: path) }
    }
}
