internal import FoundationEssentials
package import Model
package import Webhooks

/// The body of a registration, before it is checked.
package struct PushRegistrationRequest: Decodable, Sendable {
    package struct Keys: Decodable, Sendable {
        var p256dh: String
        var auth: String
    }

    package var kind: PushKind
    package var endpoint: String?
    package var keys: Keys?
    package var token: String?
    package var environment: APNsAddress.Environment?
    package var shared: Bool?
    /// For users without a sign-in.
    package var device: DeviceID?

    /// - Throws: `invalid_request` with the field.
    package func address(allowing rules: WebhookAddressRules) throws(Problem) -> PushAddress {
        try checkMembers()
        switch kind {
        case .web: return try webAddress(allowing: rules)
        case .fcm: return .fcm(try registrationToken)
        case .apns, .apnsVoIP:
            return .apns(
                APNsAddress(
                    token: try deviceToken, environment: environment ?? .production, isVoIP: kind == .apnsVoIP))
        }
    }

    /// What another kind has is a mistake.
    private func checkMembers() throws(Problem) {
        let isApple = kind == .apns || kind == .apnsVoIP
        for (name, isThere, isExpected) in [
            ("endpoint", endpoint != nil, kind == .web), ("keys", keys != nil, kind == .web),
            ("token", token != nil, kind != .web), ("environment", environment != nil, isApple),
        ] where isThere && !isExpected {
            throw .invalid(name, "A registration of \(kind.rawValue) has none.")
        }
    }

    /// It becomes a part of a path.
    private var deviceToken: String {
        get throws(Problem) {
            let isHexadecimal = token?.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
            }
            guard let token, isHexadecimal == true, (2...APNsAddress.maxTokenLength).contains(token.utf8.count),
                token.utf8.count.isMultiple(of: 2)
            else {
                throw .invalid(
                    "token", "Expected the device token in hexadecimal, at most \(APNsAddress.maxTokenLength) digits.")
            }
            return token.lowercased()
        }
    }

    private var registrationToken: String {
        get throws(Problem) {
            let isPrintable = token?.utf8.allSatisfy { (0x21...0x7e).contains($0) } ?? false
            let lengths = PushAddress.minTokenLength...PushAddress.maxTokenLength
            guard let token, isPrintable, lengths.contains(token.utf8.count) else {
                throw .invalid(
                    "token",
                    "Expected the registration token of the app: \(lengths.lowerBound) to \(lengths.upperBound) characters of "
                        + "ASCII, without spaces.")
            }
            return token
        }
    }

    private func webAddress(allowing rules: WebhookAddressRules) throws(Problem) -> PushAddress {
        guard let endpoint else { throw .invalid("endpoint", "Web Push needs the endpoint of the subscription.") }
        guard let keys else { throw .invalid("keys", "Web Push needs the keys of the subscription.") }
        let url = try WebhookURL(endpoint, field: "endpoint", setting: "push.allow", allowing: rules)
        let publicKey = Self.bytes(keys.p256dh)
        guard let publicKey, publicKey.count == WebPushAddress.publicKeyLength, publicKey.first == 4 else {
            throw .invalid("keys.p256dh", "Expected an uncompressed point of P-256, 65 bytes, in base64url.")
        }
        guard let secret = Self.bytes(keys.auth), secret.count == WebPushAddress.authSecretLength else {
            throw .invalid("keys.auth", "Expected 16 bytes in base64url.")
        }
        return .web(WebPushAddress(endpoint: url, publicKey: publicKey, authSecret: secret))
    }

    /// Padding may be there.
    private static func bytes(_ text: String) -> [UInt8]? {
        guard text.utf8.count <= 128 else { return nil }
        let digits = text.replacing("-", with: "+").replacing("_", with: "/").replacing("=", with: "")
        let padding = String(repeating: "=", count: (4 - digits.utf8.count % 4) % 4)
        return Data(base64Encoded: digits + padding).map { Array($0) }
    }
}
