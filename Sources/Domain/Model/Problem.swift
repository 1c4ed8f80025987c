/// Why a command was rejected, as a problem of RFC 9457: REST, WHIP and realtime clients all get it.
package struct Problem: Error, Hashable, Sendable {
    /// The stable token by which programs tell problems apart; its status follows from it.
    package enum Kind: String, Sendable, CaseIterable {
        case invalidRequest = "invalid_request"
        case unauthenticated
        case signInAgain = "sign_in_again"
        case forbidden
        case notFound = "not_found"
        case methodNotAllowed = "method_not_allowed"
        case conflict
        case clientIDReused = "client_id_reused"
        case predecessorMissing = "predecessor_missing"
        case answeredElsewhere = "answered_elsewhere"
        case callEnded = "call_ended"
        case gone
        case preconditionFailed = "precondition_failed"
        case payloadTooLarge = "payload_too_large"
        case unsupportedMediaType = "unsupported_media_type"
        case upgradeRequired = "upgrade_required"
        case preconditionRequired = "precondition_required"
        case rateLimited = "rate_limited"
        case quotaExceeded = "quota_exceeded"
        case featureDisabled = "feature_disabled"
        case providerNotConfigured = "provider_not_configured"
        case providerFailed = "provider_failed"
        case consentRequired = "consent_required"
        case pairNotSupported = "pair_not_supported"
        case codecsNotSupported = "codecs_not_supported"
        case budgetExhausted = "budget_exhausted"
        case unavailable
        case storageFull = "storage_full"
        case internalError = "internal"
    }

    package var kind: Kind
    /// A human-readable explanation of this occurrence.
    package var detail: String
    /// The invalid member of the request, such as `participants[2].user`.
    package var field: String?
    /// Milliseconds after which the request may be retried.
    package var retryAfter: Int64?
    /// JSON of further members, keyed by name; each value is JSON text.
    package var members: [String: String]
    /// The rejected request; set where the response is made, and absent before.
    package var request: RequestID?

    package init(
        _ kind: Kind, _ detail: String, field: String? = nil, retryAfter: Int64? = nil, members: [String: String] = [:]
    ) {
        self.kind = kind
        self.detail = detail
        self.field = field
        self.retryAfter = retryAfter
        self.members = members
    }

    /// A value that `field` does not allow.
    package static func invalid(_ field: String, _ detail: String) -> Self {
        Self(.invalidRequest, detail, field: field)
    }

    package static func notFound(_ what: String, field: String? = nil) -> Self {
        Self(.notFound, "There is no such \(what), or you may not see it.", field: field)
    }
}

extension Problem.Kind {
    /// The HTTP status (RFC 9110 section 15) that goes with the kind.
    package var status: Int {
        switch self {
        case .invalidRequest: 400
        case .unauthenticated, .signInAgain: 401
        case .forbidden, .quotaExceeded, .featureDisabled, .consentRequired: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .conflict, .clientIDReused, .predecessorMissing, .answeredElsewhere, .callEnded: 409
        case .gone: 410
        case .preconditionFailed: 412
        case .payloadTooLarge: 413
        case .unsupportedMediaType: 415
        case .pairNotSupported, .codecsNotSupported: 422
        case .upgradeRequired: 426
        case .preconditionRequired: 428
        case .rateLimited, .budgetExhausted: 429
        case .internalError: 500
        case .providerFailed: 502
        case .providerNotConfigured, .unavailable, .storageFull: 503
        }
    }

    /// A short summary of the kind, always the same (RFC 9457 section 3.1.3).
    package var title: String {
        switch self {
        case .invalidRequest: "The request is not valid"
        case .unauthenticated: "Sign in first"
        case .signInAgain: "Sign in again"
        case .forbidden: "You may not do this"
        case .notFound: "Not found"
        case .methodNotAllowed: "This method is not allowed here"
        case .conflict: "This collides with what is there"
        case .clientIDReused: "The client id was used for something else"
        case .predecessorMissing: "The message before it is not stored"
        case .answeredElsewhere: "The call was answered elsewhere"
        case .callEnded: "The call has ended"
        case .gone: "It is no longer kept"
        case .preconditionFailed: "It has changed since"
        case .payloadTooLarge: "The request is too large"
        case .unsupportedMediaType: "The content type is not supported"
        case .upgradeRequired: "This address speaks WebSocket"
        case .preconditionRequired: "Say which state the request is about"
        case .rateLimited: "Too many requests"
        case .quotaExceeded: "Your files have as many bytes as they may have"
        case .featureDisabled: "This feature is disabled on this server"
        case .providerNotConfigured: "This server has no such provider"
        case .providerFailed: "A service that the server asks has failed"
        case .consentRequired: "Somebody has to allow this first"
        case .budgetExhausted: "The budget for hosted services is used up"
        case .pairNotSupported: "Nothing here translates between these languages"
        case .codecsNotSupported: "None of these codecs is supported"
        case .unavailable: "The server cannot do this now"
        case .storageFull: "The server's disk is full"
        case .internalError: "Something went wrong on the server"
        }
    }
}
