public import Foundation

/// Why the server rejected a request: its problem document (RFC 9457).
public struct Problem: Error, Hashable, Sendable {
    /// The stable token by which programs tell problems apart. Newer servers may have more.
    public struct Kind: RawRepresentable, Hashable, Sendable, Codable {
        /// The token in JSON.
        public let rawValue: String
        /// Takes any token.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A member of the request is missing or wrong; ``Problem/field`` names it. Status 400.
        public static let invalidRequest = Self(rawValue: "invalid_request")
        /// The token, or the e-mail address and password, are not valid. Status 401.
        public static let unauthenticated = Self(rawValue: "unauthenticated")
        /// The session's tokens are no longer valid, since the server was restored from a backup. Status 401.
        public static let signInAgain = Self(rawValue: "sign_in_again")
        /// The user may not do this. Status 403.
        public static let forbidden = Self(rawValue: "forbidden")
        /// It does not exist, or the user may not see it. Status 404.
        public static let notFound = Self(rawValue: "not_found")
        /// The request conflicts with the current state; for an offer, ``Problem/winner`` is the other side's. Status
        /// 409.
        public static let conflict = Self(rawValue: "conflict")
        /// The client id was used for another request. Status 409.
        public static let clientIDReused = Self(rawValue: "client_id_reused")
        /// Another endpoint of the user accepted the call first. Status 409.
        public static let answeredElsewhere = Self(rawValue: "answered_elsewhere")
        /// The call is over. Status 409.
        public static let callEnded = Self(rawValue: "call_ended")
        /// The request is too large. Status 413.
        public static let payloadTooLarge = Self(rawValue: "payload_too_large")
        /// Too many requests; try again after ``Problem/retryAfter``. Status 429.
        public static let rateLimited = Self(rawValue: "rate_limited")
        /// The server's operator has disabled the feature: see ``ServerDescription/features-swift.property``. Status 403.
        public static let featureDisabled = Self(rawValue: "feature_disabled")
        /// The server has no part that does this, such as one that transcribes. Status 503.
        public static let providerNotConfigured = Self(rawValue: "provider_not_configured")
        /// A service that the server asks did not respond, or with nothing of use. Status 502.
        public static let providerFailed = Self(rawValue: "provider_failed")
        /// The server, the conversation or an author does not allow machines to do that with a text. Status 403.
        public static let consentRequired = Self(rawValue: "consent_required")
        /// Nothing translates between the two languages. Status 422.
        public static let pairNotSupported = Self(rawValue: "pair_not_supported")
        /// What hosted services may be given is used up for today or this month. Status 429.
        public static let budgetExhausted = Self(rawValue: "budget_exhausted")
        /// The user's quota of file bytes is exhausted. Status 403.
        public static let quotaExceeded = Self(rawValue: "quota_exceeded")
        /// The server failed. Status 500.
        public static let internalError = Self(rawValue: "internal")
        /// The server cannot do this now. Status 503.
        public static let unavailable = Self(rawValue: "unavailable")
        /// What waited to be sent was not sent within 30 days. Of this library, status 410.
        public static let expired = Self(rawValue: "expired")
        /// What a write refers to was not sent. Status 409.
        public static let predecessorMissing = Self(rawValue: "predecessor_missing")
        /// The server's disk is full: nothing can be written until its operator makes room. Status 503.
        public static let storageFull = Self(rawValue: "storage_full")
    }

    /// The kind of the problem, for programs.
    public var kind: Kind
    /// A short summary of the kind, always the same.
    public var title: String
    /// The HTTP status of the kind, also for realtime requests.
    public var status: Int
    /// A human-readable explanation of this occurrence.
    public var detail: String
    /// The invalid member of the request, such as `callees[2]`.
    public var field: String?
    /// How long to wait before trying again.
    public var retryAfter: Duration?
    /// The winning offer, if an offer collided with it: roll back your own, answer this one, and offer again.
    public var winner: Signal?
    /// The call's document, for ``Kind/answeredElsewhere`` and ``Kind/callEnded``.
    public var call: Call?
    /// Why a refresh token was refused: `expired`, `unknown` after a long time, or how the session was ended, such as
    /// `revoked`.
    public var reason: String?
}

extension Problem: CustomStringConvertible {
    /// One sentence for a log.
    public var description: String { "\(kind.rawValue): \(detail)" + (field.map { " (\($0))" } ?? "") }
}

extension Problem: LocalizedError {
    /// The server's explanation for people: ``detail``.
    public var errorDescription: String? { detail }
}

extension Problem: Decodable {
    private enum Key: String, CodingKey { case type, title, status, detail, field, retryAfter, winner, call, reason }

    /// Reads a problem document; `retryAfter` is in milliseconds.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        kind = try container.decode(Kind.self, forKey: .type)
        title = try container.decodeIfPresent(String.self, forKey: .title) ?? kind.rawValue
        status = try container.decodeIfPresent(Int.self, forKey: .status) ?? 500
        detail = try container.decodeIfPresent(String.self, forKey: .detail) ?? title
        field = try container.decodeIfPresent(String.self, forKey: .field)
        retryAfter = try container.decodeIfPresent(Int64.self, forKey: .retryAfter).map(Duration.milliseconds)
        winner = try? container.decodeIfPresent(Signal.self, forKey: .winner)
        call = try? container.decodeIfPresent(Call.self, forKey: .call)
        reason = try container.decodeIfPresent(String.self, forKey: .reason)
    }
}
