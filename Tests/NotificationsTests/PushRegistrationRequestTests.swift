import FoundationEssentials
import Model
import Testing
import Webhooks

@testable import Notifications

@Suite struct PushRegistrationRequestTests {
    private static let point = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    private static let secret = "BTBZMqHH6r4Tts7J_aSIgg"
    private static let endpoint = "https://push.example/send/abc?d=1"

    private func request(
        endpoint: String? = endpoint, p256dh: String = point, auth: String = secret, hasKeys: Bool = true
    ) throws -> PushRegistrationRequest {
        var members = [#""kind":"web""#]
        if let endpoint { members.append(#""endpoint":"\#(endpoint)""#) }
        if hasKeys { members.append(#""keys":{"p256dh":"\#(p256dh)","auth":"\#(auth)"}"#) }
        return try JSONDecoder().decode(
            PushRegistrationRequest.self, from: Data("{\(members.joined(separator: ","))}".utf8))
    }

    private func field(
        of request: PushRegistrationRequest, _ rules: WebhookAddressRules = WebhookAddressRules()
    ) -> String? {
        do throws(Problem) {
            _ = try request.address(allowing: rules)
            return nil
        } catch {
            #expect(error.kind == .invalidRequest)
            return error.field
        }
    }

    @Test func aSubscriptionIsTaken() throws {
        guard case .web(let address) = try request().address(allowing: WebhookAddressRules()) else { return }
        #expect(address.endpoint.text == Self.endpoint)
        #expect(address.publicKey.count == 65 && address.publicKey.first == 4 && address.authSecret.count == 16)
        // Padding, and the other alphabet of base64.
        let padded = try request(
            p256dh: Self.point.replacing("-", with: "+").replacing("_", with: "/") + "=", auth: Self.secret + "==")
        #expect(try padded.address(allowing: WebhookAddressRules()) == .web(address))
    }

    @Test(arguments: [
        "http://push.example/a", "https://127.0.0.1/a", "https://10.0.0.1/a", "https://169.254.169.254/latest",
        "https://[::1]/", "https://[fd00::1]/", "https://[::ffff:10.0.0.1]/", "https://100.64.0.1/",
        "https://user@push.example/", "https://push.example/#a",
        "ftp://push.example/", "//push.example", "", "push.example", "https://",
    ])
    func endpointsThatAreRefused(endpoint: String) throws {
        #expect(field(of: try request(endpoint: endpoint)) == "endpoint")
    }

    @Test func whatIsMissingOrLong() throws {
        #expect(field(of: try request(endpoint: nil)) == "endpoint")
        #expect(field(of: try request(hasKeys: false)) == "keys")
        let long = "https://push.example/" + String(repeating: "a", count: 2_048)
        #expect(field(of: try request(endpoint: long)) == "endpoint")
    }

    @Test func theSettingIsNamed() throws {
        let request = try self.request(endpoint: "https://10.0.0.1/")
        do throws(Problem) {
            _ = try request.address(allowing: WebhookAddressRules())
            Issue.record("it was taken")
        } catch {
            #expect(error.detail.contains("push.allow") && !error.detail.contains("webhooks"))
        }
        #expect(field(of: try self.request(endpoint: "http://127.0.0.1:9/"), .everything) == nil)
    }

    @Test(arguments: [
        "", "AAAA", String(point.dropLast()), point + "A", "A" + point.dropFirst(), "!" + point.dropFirst(),
        String(repeating: "B", count: 129), point.replacing("C", with: "é"),
    ])
    func pointsThatAreRefused(text: String) throws {
        #expect(field(of: try request(p256dh: text)) == "keys.p256dh")
    }

    @Test(arguments: ["", "AAAA", String(secret.dropLast(2)), secret + "AA", "!" + secret.dropFirst(), point])
    func secretsThatAreRefused(text: String) throws {
        #expect(field(of: try request(auth: text)) == "keys.auth")
    }

    private func android(_ token: String?) throws -> PushRegistrationRequest {
        let members = ["kind": "fcm", "token": token].compactMapValues(\.self)
        return try JSONDecoder().decode(PushRegistrationRequest.self, from: JSONEncoder().encode(members))
    }

    @Test func aTokenOfAnAndroidApp() throws {
        for token in ["abcdefgh", "cRx:APA91b_-~!", String(repeating: "a", count: PushAddress.maxTokenLength)] {
            let address = try android(token).address(allowing: WebhookAddressRules())
            #expect(address == .fcm(token) && address.kind == .fcm)
            #expect(try PushAddress(address.bytes, of: .fcm) == address)
            #expect(try PushAddress(address.bytes, of: .web) == nil)
            #expect(address.identity == Array(token.utf8))
        }
        let long = String(repeating: "a", count: PushAddress.maxTokenLength + 1)
        for token in [nil, "", " ", "a b", "a\n", "a\u{0}", "é", "a\u{7f}", long] {
            #expect(field(of: try android(token)) == "token")
        }
    }

    @Test func whatAnotherKindHasIsAMistake() throws {
        func field(_ json: String) throws -> String? {
            self.field(of: try JSONDecoder().decode(PushRegistrationRequest.self, from: Data(json.utf8)))
        }
        #expect(try field(#"{"kind":"fcm","token":"abcdefgh","environment":"sandbox"}"#) == "environment")
        #expect(try field(#"{"kind":"apns","token":"00ff","endpoint":"https://push.example/"}"#) == "endpoint")
        #expect(try field(#"{"kind":"apnsVoIP","token":"00ff","keys":{"p256dh":"A","auth":"A"}}"#) == "keys")
        #expect(try field(#"{"kind":"web","token":"00ff"}"#) == "token")
        for environment in ["sandbox", "production"] {
            #expect(try field(#"{"kind":"apns","token":"00ff","environment":"\#(environment)"}"#) == nil)
        }
    }
}

@Suite struct PushAddressTests {
    private func address(_ endpoint: String) throws -> PushAddress {
        let url = try #require(WebhookURL(endpoint))
        return .web(WebPushAddress(endpoint: url, publicKey: [4] + Array(0..<64), authSecret: Array(0..<16)))
    }

    @Test func itIsReadAsItWasWritten() throws {
        let one = try address("https://push.example:8443/send/a%20b?c=%22d")
        #expect(try PushAddress(one.bytes, of: .web) == one)
        for kind in PushKind.allCases where kind != .web { #expect(try PushAddress(one.bytes, of: kind) == nil) }
    }

    @Test func whatCannotBeReadIsNoAddress() throws {
        let bytes = try address("https://push.example/").bytes
        #expect(PushAddress([], of: .web) == nil && PushAddress([0xFF, 0], of: .web) == nil)
        for length in 0..<bytes.count { #expect(PushAddress(Array(bytes.prefix(length)), of: .web) == nil) }
        let wrong = #"{"endpoint":"no url","publicKey":"","authSecret":""}"#
        #expect(PushAddress(Array(wrong.utf8), of: .web) == nil)
    }

    /// The keys of a subscription may be renewed under its endpoint.
    @Test func theEndpointIsItsIdentity() throws {
        let one = try address("https://push.example/a")
        let url = try #require(WebhookURL("https://push.example/a"))
        let renewed = PushAddress.web(WebPushAddress(endpoint: url, publicKey: [4], authSecret: [1]))
        #expect(try one.identity == renewed.identity && one.identity != address("https://push.example/b").identity)
    }
}
