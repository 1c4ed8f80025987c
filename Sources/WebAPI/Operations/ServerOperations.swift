import HTTPTypes
import Model
package import Voice

/// Information about the server, available without signing in.
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
    ///   - keys: the JSON Web Key Set with which others verify the server's access tokens.
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
                name: "server.get", method: .get, path: "/v1/server", summary: "Information about this server.",
                access: .anyone, isRealtime: false,
                responses: [
                    .ok(
                        .object([
                            .required("name", .text()), .required("version", .text()),
                            .required("signUp", .choice(["open", "invite", "closed"])),
                            .required(
                                "voice",
                                .object([
                                    .required("maxSeconds", .integer()), .required("maxBytes", .integer()),
                                    .required(
                                        "recording", .boolean,
                                        "Whether voice messages can be recorded with an offer."),
                                ]),
                                "Limits of voice messages."),
                            .required(
                                "transcribes", .boolean,
                                "Whether voice messages are transcribed, and recordings on request."),
                        ]))
                ]
            ) { _ in try .json(about) },
            Operation(
                name: "server.keys", method: .get, path: "/.well-known/jwks.json",
                summary: "The public keys of the server's access tokens (RFC 7517).", access: .anyone,
                isRealtime: false,
                responses: [.ok(.object([.required("keys", .list(.object([])))]))]
            ) { _ in OperationResponse(status: 200, body: Array(keys().utf8)) },
        ]
    }
}
