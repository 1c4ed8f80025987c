import Notifications
import Testing

@testable import Providers
@testable import Push

/// Every error of https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode, and what is none of FCM's.
@Suite("Errors of FCM") struct FCMErrorTests {
    private enum Fate: Hashable {
        case gone, rejected
        case retry(Duration?)
    }

    private static let token = "cRx:APA91b"

    private static func error(
        _ status: Int, _ body: String, retryAfter: Duration? = nil
    ) -> FCMError {
        FCMError(ProviderClient.Response(status: status, body: Array(body.utf8), retryAfter: retryAfter), token: token)
    }

    private static func body(_ name: String, _ code: String?, _ message: String = "Words.") -> String {
        let detail = code.map {
            #","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#($0)"}]"#
        }
        return #"{"error":{"code":0,"message":"\#(message)","status":"\#(name)"\#(detail ?? "")}}"#
    }

    private static func violation(_ field: String, _ message: String = "Invalid value") -> String {
        #"{"error":{"code":400,"message":"\#(message)","status":"INVALID_ARGUMENT","details":["#
            + #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"\#(field)"}]}]}}"#
    }

    private static func fate(_ outcome: PushOutcome) -> Fate? {
        switch outcome {
        case .gone: .gone
        case .rejected: .rejected
        case .retry(let after, _): .retry(after)
        default: nil
        }
    }

    @Test func everyDocumentedError() {
        let noToken = "The registration token is not a valid FCM registration token"
        let cases: [(FCMError, Fate)] = [
            (Self.error(404, Self.body("NOT_FOUND", "UNREGISTERED")), .gone),
            (Self.error(400, Self.body("INVALID_ARGUMENT", "INVALID_ARGUMENT", noToken)), .gone),
            (Self.error(400, Self.violation("message.token")), .gone),
            (Self.error(403, Self.body("PERMISSION_DENIED", "SENDER_ID_MISMATCH")), .retry(.seconds(10))),
            (Self.error(400, Self.body("INVALID_ARGUMENT", "INVALID_ARGUMENT", "Message too big")), .rejected),
            (Self.error(400, Self.violation("message.data[0].value", "of a registration token")), .rejected),
            (Self.error(400, Self.body("INVALID_ARGUMENT", "UNSPECIFIED_ERROR")), .rejected),
            (Self.error(401, Self.body("UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR")), .rejected),
            (Self.error(401, Self.body("UNAUTHENTICATED", nil)), .retry(.seconds(10))),
            (Self.error(403, Self.body("PERMISSION_DENIED", nil)), .retry(.seconds(10))),
            (Self.error(429, Self.body("RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED")), .retry(.seconds(60))),
            (Self.error(500, Self.body("INTERNAL", "INTERNAL")), .retry(.seconds(10))),
            (Self.error(503, Self.body("UNAVAILABLE", "UNAVAILABLE")), .retry(.seconds(10))),
        ]
        for (error, fate) in cases {
            #expect(Self.fate(error.outcome(isUrgent: false)) == fate, "\(error.reason)")
        }
    }

    @Test("a registration goes only if FCM says so itself") func proxies() {
        for status in [200, 301, 302, 400, 401, 403, 404, 405, 407, 410, 413, 502] {
            let error = Self.error(status, "<html>registration token UNREGISTERED</html>")
            #expect(!error.isOfUnknownDevice)
            #expect(Self.fate(error.outcome(isUrgent: true)) == .retry(nil))
            #expect(Self.fate(Self.error(status, "").outcome(isUrgent: false)) == .retry(.seconds(10)))
        }
    }

    @Test("the time that is named counts, and a ring is tried again sooner") func times() {
        let quota = Self.error(429, Self.body("RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"), retryAfter: .seconds(90))
        #expect(Self.fate(quota.outcome(isUrgent: true)) == .retry(.seconds(90)))
        let named = Self.error(503, "", retryAfter: .seconds(7))
        #expect(Self.fate(named.outcome(isUrgent: false)) == .retry(.seconds(7)))
        #expect(Self.fate(Self.error(503, "").outcome(isUrgent: true)) == .retry(nil))
        #expect(
            Self.fate(Self.error(429, "").outcome(isUrgent: true)) == .retry(.seconds(60)), "FCM asks for a minute")
    }

    @Test("only a refused access token is replaced") func accessTokens() {
        #expect(Self.error(401, Self.body("UNAUTHENTICATED", nil)).isOfAccessToken)
        #expect(Self.error(401, "").isOfAccessToken)
        #expect(!Self.error(401, Self.body("UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR")).isOfAccessToken)
        #expect(!Self.error(403, Self.body("PERMISSION_DENIED", nil)).isOfAccessToken)
    }

    @Test("reasons have the status, the words and the code, and no token") func reasons() {
        let error = Self.error(404, Self.body("NOT_FOUND", "UNREGISTERED", "No \(Self.token) here"))
        #expect(error.reason == "Its response was 404. No … here (UNREGISTERED)")
        #expect(!Self.error(404, Self.body("NOT_FOUND", Self.token)).reason.contains(Self.token))
    }
}
