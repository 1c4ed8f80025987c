import Crypto
import Foundation
import Model
import Testing

@testable import Tokens

@Suite struct APNsKeyTests {
    private let key = P256.Signing.PrivateKey()
    private let start = Timestamp(milliseconds: 1_800_000_000_000)

    private func at(_ minutes: Int64) -> Timestamp { start.adding(seconds: minutes * 60) }

    @Test func appleCanVerifyTheToken() throws {
        let made = try APNsKey(key, id: "ABC123DEFG", team: "DEF123GHIJ").authorization(at: start)
        let parts = try #require(made.wholeMatch(of: /bearer ([\w-]+)\.([\w-]+)\.([\w-]+)/))
        func text(_ part: Substring) throws -> String {
            String(decoding: try #require(Base64URL.decode(part)), as: UTF8.self)
        }
        #expect(try text(parts.1) == #"{"alg":"ES256","kid":"ABC123DEFG"}"#)
        #expect(try text(parts.2) == #"{"iss":"DEF123GHIJ","iat":1800000000}"#)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: #require(Base64URL.decode(parts.3)))
        #expect(key.publicKey.isValidSignature(signature, for: Data("\(parts.1).\(parts.2)".utf8)))
    }

    @Test func aTokenIsUsedForFortyMinutes() throws {
        let apns = APNsKey(key, id: "ABC123DEFG", team: "DEF123GHIJ")
        let first = try apns.authorization(at: start)
        #expect(try apns.authorization(at: at(39)) == first)
        let second = try apns.authorization(at: at(40))
        #expect(second != first)
        #expect(try apns.authorization(at: at(10)) != second, "the clock was set back")
    }

    @Test func whoBeganEarlierTakesTheNewerToken() throws {
        let apns = APNsKey(key, id: "ABC123DEFG", team: "DEF123GHIJ")
        let first = try apns.authorization(at: start.adding(seconds: 10))
        #expect(try apns.authorization(at: start) == first)
        #expect(!apns.reject(first, at: start))
    }

    @Test func aRefusedTokenIsReplacedAfterTwentyMinutesOnly() throws {
        let apns = APNsKey(key, id: "ABC123DEFG", team: "DEF123GHIJ")
        let first = try apns.authorization(at: start)
        #expect(!apns.reject(first, at: at(19)))
        #expect(try apns.authorization(at: at(19)) == first)
        #expect(apns.reject(first, at: at(20)))
        let second = try apns.authorization(at: at(20))
        #expect(second != first)
        // Who noticed it late does not replace the new one.
        #expect(apns.reject(first, at: at(20)))
        #expect(try apns.authorization(at: at(20)) == second)
    }

    @Test func filesThatAreNone() {
        for path in ["/nowhere.p8", #filePath] {
            #expect(throws: KeyFileError.self) { try APNsKey(file: path, id: "ABC123DEFG", team: "DEF123GHIJ") }
        }
    }
}
