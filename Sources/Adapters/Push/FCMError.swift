internal import Foundation
import Notifications
import Providers

/// An error response of Firebase Cloud Messaging:
///
/// ```json
/// {"error": {"code": 404, "message": "…", "status": "NOT_FOUND",
///            "details": [{"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "UNREGISTERED"}]}}
/// ```
struct FCMError: Sendable {
    /// What FCM asks for where it names no time after 429; and before the first retry of other failures.
    private static let quotaDelay = Duration.seconds(60)
    private static let retryDelay = Duration.seconds(10)

    /// Of FCM, otherwise of Google's APIs; nil if the response is not one of theirs.
    let code: String?
    private let status: Int
    private let isOfToken: Bool
    private let retryAfter: Duration?
    let reason: String

    init(_ response: ProviderClient.Response, token: String) {
        struct Body: Decodable {
            struct Detail: Decodable {
                struct Violation: Decodable { var field: String? }
                var errorCode: String?
                var fieldViolations: [Violation]?
            }
            struct Problem: Decodable {
                var message: String?
                var status: String?
                var details: [Detail]?
            }
            var error: Problem
        }
        let error = try? JSONDecoder().decode(Body.self, from: Data(response.body)).error
        let details = error?.details ?? []
        code = details.lazy.compactMap(\.errorCode).first ?? error?.status
        status = response.status
        retryAfter = response.retryAfter
        let fields = details.flatMap { $0.fieldViolations ?? [] }.compactMap(\.field)
        // Of an invalid token FCM names no field, only in its message.
        isOfToken =
            fields.contains("message.token")
            || fields.isEmpty && error?.message?.lowercased().contains("registration token") == true
        let text = PushReason.text(response)
        reason = (code.map { "\(text) (\(String($0.prefix(40))))" } ?? text).replacing(token, with: "…")
    }

    /// Whether Firebase has looked at the request, and only the token is wrong. Not where the token is of another project: with
    /// the service account of a wrong one that is said of every device.
    var isOfUnknownDevice: Bool {
        switch code {
        case "UNREGISTERED": true
        case "INVALID_ARGUMENT": isOfToken
        default: false
        }
    }

    /// The access token was refused, not what devices or other services have to do with it.
    var isOfAccessToken: Bool { status == 401 && code != "THIRD_PARTY_AUTH_ERROR" }

    /// What an operator has to see to is tried again, while there is use in it; so is what is not of Firebase, but of a proxy
    /// or of whoever else responds at that URL. Calls ring for less than the time that Firebase asks for before a retry.
    func outcome(isUrgent: Bool) -> PushOutcome {
        if isOfUnknownDevice { return .gone(reason) }
        let retry = PushOutcome.retry(after: retryAfter ?? (isUrgent ? nil : Self.retryDelay), reason)
        switch status {
        case 429: return .retry(after: retryAfter ?? Self.quotaDelay, reason)
        case _ where code == nil: return retry
        case 401 where !isOfAccessToken: return .rejected(reason)
        case 401, 403, 404, 408, 500...: return retry
        default: return .rejected(reason)
        }
    }
}
