import HTTPTypes
import Model
package import Voice

/// What a client may know before anybody signed in.
package enum ServerOperations {
    private struct About: Encodable {
        var name = "Switchboard"
        var version: String
        var signUp: String
        var voice: VoiceLimits
        var transcribes: Bool

        struct VoiceLimits: Encodable {
            var maxSeconds: Int
            var maxBytes: Int
            var recording: Bool
        }
    }

    /// - Parameters:
    ///   - records: whether voice messages can be recorded here.
    ///   - keys: the JSON Web Key Set by which others verify our access tokens.
    package static func all(
        version: String, signUp: String, voice: VoiceRules, records: Bool, transcribes: Bool,
        keys: @escaping @Sendable () -> String
    ) -> [Operation] {
        let about = About(
            version: version, signUp: signUp,
            voice: .init(maxSeconds: voice.secondsLimit, maxBytes: voice.byteLimit, recording: records),
            transcribes: transcribes)
        return [
            Operation(
                name: "server.get", method: .get, path: "/v1/server", summary: "What this server is.", access: .anyone,
                isRealtime: false,
                answers: [
                    .ok(
                        .object([
                            .required("name", .text()), .required("version", .text()),
                            .required("signUp", .choice(["open", "invite", "closed"])),
                            .required(
                                "voice",
                                .object([
                                    .required("maxSeconds", .integer()), .required("maxBytes", .integer()),
                                    .required("recording", .boolean, "Whether one can be recorded here, by an offer."),
                                ]),
                                "Bounds of a voice message."),
                            .required(
                                "transcribes", .boolean,
                                "Voice messages are written down, and recordings where that is asked for."),
                        ]))
                ]
            ) { _ in try .json(about) },
            Operation(
                name: "server.keys", method: .get, path: "/.well-known/jwks.json",
                summary: "The public keys of our access tokens (RFC 7517).", access: .anyone, isRealtime: false,
                answers: [.ok(.object([.required("keys", .list(.object([])))]))]
            ) { _ in OperationAnswer(status: 200, body: Array(keys().utf8)) },
        ]
    }
}
