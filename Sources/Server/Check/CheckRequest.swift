/// What `switchboard check` asks of the running server, through the control socket.
package enum CheckRequest: Codable, Sendable {
    /// The names of the roles that run, a line each.
    case roles
    /// A token for one hello of an identity that is nowhere stored.
    case helloToken
    /// Answers an offer, as one of the legs of a call that exists only in the gateway. The line is the answer.
    case leg(call: String, leg: String, sdp: String)
    /// The server keys that were not revoked: one line, a JSON array of `KeyExpiry`.
    case keyExpiries
    /// Whether webhooks work: one line, a JSON array of `WebhookHealth`.
    case webhooks
    /// Whether devices are told: one line, `PushHealth` as JSON.
    case push
    /// Pushes a text to a subscription of the check. One line: why the push service would not take it, or nothing.
    case webPush(endpoint: String, publicKey: [UInt8], authSecret: [UInt8], text: String)
    /// Tries what translates: one line, a JSON array of `EngineReport`.
    case translation
    /// Tries what turns texts into vectors, likewise.
    case embedding
    /// Tries what explains and rewrites: likewise.
    case explanation
    /// Tries what transcribes: likewise.
    case transcription
    /// Ends a leg.
    case endLeg(call: String, leg: String)
}
