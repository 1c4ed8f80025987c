internal import Foundation
import Notifications
import Providers

/// An error response of Apple's push service: `{"reason": "BadDeviceToken"}`, with 410 also `timestamp`.
struct APNsError: Sendable {
    private static let delay = Duration.seconds(60)
    private static let ofDevice: Set = ["Unregistered", "ExpiredToken", "BadDeviceToken"]
    private static let ofToken: Set = ["ExpiredProviderToken", "InvalidProviderToken"]

    /// Nil if the response is not Apple's.
    let code: String?
    let reason: String
    private let status: Int
    private let retryAfter: Duration?

    init(_ response: ProviderClient.Response) {
        struct Body: Decodable { var reason: String }
        let code = try? JSONDecoder().decode(Body.self, from: Data(response.body)).reason
        let isPlain = code?.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) } ?? false
        self.code = isPlain ? code.map { String($0.prefix(40)) } : nil
        status = response.status
        retryAfter = response.retryAfter
        reason = "Its response was \(response.status)\(self.code.map { ", \($0)" } ?? "")."
    }

    /// Whether Apple has looked at the request, and only the device is not known.
    var isOfUnknownDevice: Bool { (status == 400 || status == 410) && code.map(Self.ofDevice.contains) ?? false }

    /// The token with which this server authenticates itself was refused.
    var isOfProviderToken: Bool { status == 403 && code.map(Self.ofToken.contains) ?? false }

    /// What an operator has to see to is tried again, while there is use in it.
    var outcome: PushOutcome {
        if isOfUnknownDevice { return .gone(reason) }
        switch status {
        case 429: return .retry(after: retryAfter ?? Self.delay, reason)
        case 403, 404, 405, 410: return .retry(after: retryAfter ?? Self.delay, reason)
        case 408, 500...: return .retry(after: retryAfter, reason)
        default: return .rejected(reason)
        }
    }
}
