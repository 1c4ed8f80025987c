internal import Foundation
import Notifications
import Providers

/// An error response of Apple's push service: `{"reason": "BadDeviceToken"}`.
struct APNsError: Sendable {
    private static let delay = Duration.seconds(60)
    /// Of calls, which ring for less.
    private static let urgentDelay = Duration.seconds(5)
    private static let deviceCodes: Set = ["Unregistered", "ExpiredToken", "BadDeviceToken"]
    private static let providerTokenCodes: Set = ["ExpiredProviderToken", "InvalidProviderToken"]
    /// Of the topic or of the app's tokens: the operator's or the app's mistake.
    private static let topicCodes: Set = ["BadTopic", "MissingTopic", "TopicDisallowed", "DeviceTokenNotForTopic"]

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
    var isOfUnknownDevice: Bool { (status == 400 || status == 410) && code.map(Self.deviceCodes.contains) ?? false }

    /// Whether the device may be one of the other environment, all of whose tokens Apple calls bad.
    var mayBeOfEnvironment: Bool { code == "BadDeviceToken" }

    /// The token with which this server authenticates itself was refused.
    var isOfProviderToken: Bool { status == 403 && code.map(Self.providerTokenCodes.contains) ?? false }

    /// Only a notification that is wrong in itself is dropped. Where it is the operator who has to see to it, or who responds is
    /// not Apple, it is tried again.
    ///
    /// - Parameter isProven: whether this environment has taken notifications: before that, it may be the wrong one.
    func outcome(isUrgent: Bool, isProven: Bool) -> PushOutcome {
        let retry = PushOutcome.retry(after: retryAfter ?? (isUrgent ? nil : Self.delay), reason)
        if isOfUnknownDevice { return isProven || !mayBeOfEnvironment ? .gone(reason) : retry }
        switch (status, code) {
        case (429, _): return .retry(after: retryAfter ?? (isUrgent ? Self.urgentDelay : Self.delay), reason)
        case (408, _), (500..., _): return .retry(after: retryAfter, reason)
        case (400, let code?) where !Self.topicCodes.contains(code): return .rejected(reason)
        case (413, .some): return .rejected(reason)
        default: return retry
        }
    }
}
