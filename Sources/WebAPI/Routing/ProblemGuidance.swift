import Model

// What developers are told about each kind of problem, under `/docs/errors`.
extension Problem.Kind {
    /// When it occurs, in Markdown.
    var meaning: String {
        switch self {
        case .invalidRequest: "The request is malformed, or a value is not allowed; `field` names it."
        case .unauthenticated:
            "The access token or key is missing, wrong, expired or revoked. For a refresh token `reason` says "
                + "which: `expired` (`unknown` after a long time), or how the session was ended."
        case .signInAgain:
            "The server was restored from a backup that does not have this session; `reason` is `restored`."
        case .forbidden: "The user, or the key with its scopes and addresses, may not do this."
        case .notFound:
            "There is no such object, or the user may not see it. The answer is the same in both cases, so "
                + "that nobody can find out what exists."
        case .methodNotAllowed: "The path exists, with the methods in `Allow`."
        case .conflict:
            "The request conflicts with the present state, for example because an address is taken or there "
                + "were two offers at once; `winner` is then the offer that came first."
        case .clientIDReused: "The `clientID` was sent before with another request."
        case .predecessorMissing:
            "A message that the request names by its client id, as `client:<id>` or in `afterClientID`, is not "
                + "stored: it was refused, or has not arrived."
        case .answeredElsewhere: "Another endpoint of the user accepted or declined the call."
        case .callEnded: "The call is over; its document has `endReason`."
        case .gone:
            "The events after the position were removed, or the server was restored; `next` is the oldest "
                + "position that is kept."
        case .preconditionFailed: "The state in `If-Match` is no longer the present one."
        case .payloadTooLarge: "The body is larger than this operation takes."
        case .unsupportedMediaType: "The body's `Content-Type` is not one that this operation takes."
        case .upgradeRequired: "The address is that of the WebSocket, and the request asked for none."
        case .preconditionRequired: "The operation needs `If-Match`."
        case .rateLimited: "A limit on requests was reached; `RateLimit-Policy` names it."
        case .quotaExceeded: "The user's files have as many bytes as `media.userBytes` allows."
        case .featureDisabled:
            "The operator has disabled the feature that `feature` names, by a setting of "
                + "[features](/docs/settings#features)."
        case .providerFailed:
            "A service that the server asked, such as its transcription provider, did not respond, or its "
                + "response was useless."
        case .consentRequired:
            "The server, the conversation or an author does not allow machines to do that with the message: "
                + "see `intelligence`."
        case .budgetExhausted:
            "The budget of hosted services is used up, for this user and day or for all users in this month: "
                + "see [languages](/docs/settings#languages)."
        case .pairNotSupported: "No engine of this server translates between the two languages."
        case .codecsNotSupported:
            "An offer of WHIP has audio or video in none of the codecs that the call forwards; `detail` names the "
                + "section, its codecs, and those that are accepted."
        case .providerNotConfigured:
            "The request needs something that is not configured on this server, such as transcription."
        case .unavailable: "The server is starting, stopping, or overloaded."
        case .storageFull: "The server's disk is full. Reads go on."
        case .internalError: "A defect of the server, which its log describes under the request's id."
        }
    }

    /// What the client, or its developer, does about it.
    var action: String {
        switch self {
        case .invalidRequest, .methodNotAllowed, .unsupportedMediaType, .upgradeRequired, .preconditionRequired:
            "Correct the request; repeating it as it is changes nothing."
        case .unauthenticated:
            "Refresh the access token once and repeat the request. If the refresh fails too, have the user "
                + "sign in. Keep what they wrote for them if the session has only expired, and erase it if it was "
                + "ended."
        case .signInAgain: "Have the user sign in."
        case .forbidden: "Do not repeat it. For a key, look at `switchboard key list`."
        case .notFound: "Do not show it any more."
        case .conflict: "Read the present state, and decide again. After two offers: roll back, and answer `winner`."
        case .clientIDReused: "Use a new `clientID` for each request, and the same one for its repetitions only."
        case .predecessorMissing:
            "Send the missing message first, and repeat the request. If the missing message was refused for "
                + "good, name the message before it in `afterClientID`, and drop requests that name it by "
                + "`client:<id>`."
        case .answeredElsewhere, .callEnded: "Stop ringing, and show what the call's document says."
        case .gone: "Read the present state of the objects that the events are about, and go on from `next`."
        case .preconditionFailed: "Get the present state, and repeat the request with its entity tag."
        case .payloadTooLarge: "Send less: the limit is in the operation's description."
        case .rateLimited: "Wait for `Retry-After` seconds, then repeat the request."
        case .quotaExceeded: "Have the user remove recordings or voice messages."
        case .featureDisabled: "Hide the feature; `GET /v1/server` says which are enabled."
        case .providerFailed: "Offer to try again."
        case .consentRequired: "Show the original, and say who could allow it."
        case .budgetExhausted: "Show the original, and ask again after `Retry-After`."
        case .pairNotSupported: "Show the original, or ask for another language."
        case .codecsNotSupported:
            "Set the encoder to a codec that is accepted; for H.264 to the profile `baseline`."
        case .providerNotConfigured: "Hide the function; `GET /v1/server` says what is configured."
        case .unavailable: "Repeat the request after `Retry-After` seconds, with the same `clientID`."
        case .storageFull: "Repeat it later, with the same `clientID`; the operator has to make room."
        case .internalError: "Repeat it with the same `clientID`, and give the operator the request's id."
        }
    }
}
