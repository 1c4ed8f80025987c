import Foundation
import Model
import TestSupport
import Testing
import Tokens

@Suite struct PushKeyTests {
    let user = UserID.make(at: Timestamp(milliseconds: 1))
    let device = DeviceID.make(at: Timestamp(milliseconds: 2))
    let token = Array("https://push.example.net/a-token".utf8)

    @Test func aTokenOpensOnlyForItsRegistrationAndWithItsKey() throws {
        let key = PushKey.ephemeral()
        let sealed = try key.seal(token, for: user, on: device, "web")
        #expect(try key.open(sealed, for: user, on: device, "web") == token)
        #expect(try key.seal(token, for: user, on: device, "web") != sealed)
        #expect(sealed.count == token.count + 28)
        let other = Timestamp(milliseconds: 3)
        #expect(throws: (any Error).self) { try key.open(sealed, for: .make(at: other), on: device, "web") }
        #expect(throws: (any Error).self) { try key.open(sealed, for: user, on: .make(at: other), "web") }
        #expect(throws: (any Error).self) { try key.open(sealed, for: user, on: device, "fcm") }
        #expect(throws: (any Error).self) {
            try PushKey.ephemeral().open(sealed, for: user, on: device, "web")
        }
        for index in sealed.indices {
            var damaged = sealed
            damaged[index] ^= 1
            #expect(throws: (any Error).self) { try key.open(damaged, for: user, on: device, "web") }
        }
        for length in 0..<sealed.count {
            #expect(throws: (any Error).self) {
                try key.open(Array(sealed.prefix(length)), for: user, on: device, "web")
            }
        }
    }

    @Test func theKeyIsKeptForItsOwnerAlone() throws {
        let path = try ScratchDirectory().file("push-key")
        let made = try PushKey.load(from: path)
        #expect(made.warning == nil)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        let sealed = try made.key.seal(token, for: user, on: device, "web")
        #expect(try PushKey.load(from: path).key.open(sealed, for: user, on: device, "web") == token)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(try PushKey.load(from: path).warning?.contains("chmod 600") == true)
        try "nonsense".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(throws: KeyFileError.self) { _ = try PushKey.load(from: path) }
    }
}
