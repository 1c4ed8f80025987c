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
        var translates: Bool
        var findsMeaning: Bool
        var suggestsReplies: Bool
        var languageModel: LanguageModelInfo?
        var features: [String: Bool]
        var messages: MessageLimits

        struct VoiceLimits: Encodable {
            var maxSeconds: Int
            var maxBytes: Int
            var recording: Bool
        }

        struct LanguageModelInfo: Encodable {
            var name: String
            var hosted: Bool
        }

        struct MessageLimits: Encodable { var keepDays: Int }
    }

    /// - Parameters:
    ///   - records: whether voice messages can be recorded here.
    ///   - languageModel: what helps to write.
    ///   - suggestsReplies: whether that, or anything else here, suggests replies.
    ///   - keepDays: how long messages are kept; 0 for ever.
    ///   - features: what the operator has disabled.
    ///   - keys: the JSON Web Key Set with which others verify the server's access tokens.
    package static func all(
        version: String, signUp: String, voice: VoiceRules, records: Bool, transcribes: Bool,
        translates: Bool, findsMeaning: Bool, languageModel: (name: String, isHosted: Bool)? = nil,
        suggestsReplies: Bool = false, keepDays: Int,
        features: FeatureFlags,
        keys: @escaping @Sendable () -> String
    ) -> [Operation] {
        let about: @Sendable () -> About = {
            About(
                version: version, signUp: signUp,
                voice: .init(maxSeconds: voice.secondsLimit, maxBytes: voice.byteLimit, recording: records),
                transcribes: transcribes, translates: translates, findsMeaning: findsMeaning,
                suggestsReplies: suggestsReplies,
                languageModel: languageModel.map { .init(name: $0.name, hosted: $0.isHosted) },
                features: Dictionary(
                    uniqueKeysWithValues: Feature.allCases.map { ($0.rawValue, features.isEnabled($0)) }),
                messages: .init(keepDays: keepDays))
        }
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
                            .required(
                                "translates", .boolean, "Whether anything here translates messages."),
                            .optional(
                                "languageModel",
                                .object([
                                    .required("name", .text()),
                                    .required("hosted", .boolean, "Whether texts leave what the operator runs."),
                                ]),
                                "What rewrites drafts and explains more than lexicons do; absent without one."
                            ),
                            .required(
                                "suggestsReplies", .boolean,
                                "Whether replies are suggested: by the language model, or by templates."),
                            .required(
                                "findsMeaning", .boolean,
                                "Whether messages are found by their meaning: `mode` of `messages.search`."),
                            .required(
                                "messages",
                                .object([
                                    .required(
                                        "keepDays", .integer(),
                                        "Days after which messages are erased; 0: they are kept for ever. A group's "
                                            + "settings may say fewer.")
                                ])),
                            .required(
                                "features",
                                .object(Feature.allCases.map { .required($0.rawValue, .boolean, $0.meaning) }),
                                "What the operator may disable. A feature that is absent is enabled."),
                        ]))
                ]
            ) { _ in try .json(about()) },
            Operation(
                name: "server.keys", method: .get, path: "/.well-known/jwks.json",
                summary: "The public keys of the server's access tokens (RFC 7517).", access: .anyone,
                isRealtime: false,
                responses: [.ok(.object([.required("keys", .list(.object([])))]))]
            ) { _ in OperationResponse(status: 200, body: Array(keys().utf8)) },
        ]
    }
}
