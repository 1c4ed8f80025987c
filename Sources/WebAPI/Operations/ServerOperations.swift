import HTTPTypes
import Model
package import Notifications
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
        var translators: [Engine]
        var transcriber: Engine?
        var embedder: Engine?
        var languageModel: Engine?
        var push: Push
        var features: [String: Bool]
        var messages: MessageLimits

        struct VoiceLimits: Encodable {
            var maxSeconds: Int
            var maxBytes: Int
            var recording: Bool
        }

        struct Engine: Encodable {
            var name: String
            var hosted: Bool

            init(_ engine: ServerEngines.Engine) {
                name = engine.name
                hosted = engine.isHosted
            }
        }

        struct MessageLimits: Encodable { var keepDays: Int }

        struct Push: Encodable {
            var web: Web?
            var fcm: Bool?
            var apns: Bool?

            struct Web: Encodable { var publicKey: String }
        }
    }

    static let schemas: [(String, Schema)] = [
        (
            "Engine",
            .object([
                .required("name", .text()),
                .required(
                    "hosted", .boolean,
                    "Whether the texts or sounds that it gets leave the machines of the operator."),
            ])
        )
    ]

    /// - Parameters:
    ///   - records: whether voice messages can be recorded here.
    ///   - engines: what translates, transcribes, compares meanings and helps to write.
    ///   - suggestsReplies: whether the language model, or anything else here, suggests replies.
    ///   - keepDays: how long messages are kept; 0 for ever.
    ///   - pushKey: with which browsers subscribe to pushes; nil if they are not told by any.
    ///   - pushKinds: by what devices are told.
    ///   - features: what the operator has disabled.
    ///   - keys: the JSON Web Key Set with which others verify the server's access tokens.
    package static func all(
        version: String, signUp: String, voice: VoiceRules, records: Bool, engines: ServerEngines,
        suggestsReplies: Bool, keepDays: Int, pushKey: String?, pushKinds: Set<PushKind>, features: FeatureFlags,
        keys: @escaping @Sendable () -> String
    ) -> [Operation] {
        let about: @Sendable () -> About = {
            About(
                version: version, signUp: signUp,
                voice: .init(maxSeconds: voice.secondsLimit, maxBytes: voice.byteLimit, recording: records),
                transcribes: engines.transcriber != nil, translates: !engines.translators.isEmpty,
                findsMeaning: engines.embedder != nil, suggestsReplies: suggestsReplies,
                translators: engines.translators.map(About.Engine.init),
                transcriber: engines.transcriber.map(About.Engine.init),
                embedder: engines.embedder.map(About.Engine.init),
                languageModel: engines.languageModel.map(About.Engine.init),
                push: .init(
                    web: pushKey.map { .init(publicKey: $0) }, fcm: pushKinds.contains(.fcm) ? true : nil,
                    apns: pushKinds.contains(.apns) ? true : nil),
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
                                "translates", .boolean, "Whether the server translates messages."),
                            .required(
                                "translators", .list(.named("Engine")),
                                "The services that translate, in the order in which they are asked; empty if "
                                    + "there are none."),
                            .optional(
                                "transcriber", .named("Engine"),
                                "The service that transcribes; absent if there is none."),
                            .optional(
                                "embedder", .named("Engine"),
                                "The engine that compares the meanings of texts; absent if there is none."),
                            .optional(
                                "languageModel", .named("Engine"),
                                "The model that rewrites drafts and explains more than lexicons do; absent if "
                                    + "there is none."),
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
                                        "The number of days after which messages are erased; 0: they are kept "
                                            + "for ever. The settings of a group may have fewer days.")
                                ])),
                            .required(
                                "push",
                                .object([
                                    .optional(
                                        "web",
                                        .object([
                                            .required(
                                                "publicKey", .text(),
                                                "The `applicationServerKey` of subscriptions (RFC 8292), in base64url.")
                                        ]), "Absent if browsers do not get pushes."),
                                    .optional(
                                        "fcm", .boolean,
                                        "Whether apps on Android get pushes, by Firebase Cloud Messaging. Absent: no."),
                                    .optional(
                                        "apns", .boolean,
                                        "Whether apps on iOS get pushes, by `apns` and `apnsVoIP`. Absent: no."),
                                ]), "The ways to push to devices that sleep: see `push.register`."),
                            .required(
                                "features",
                                .object(Feature.allCases.map { .required($0.rawValue, .boolean, $0.meaning) }),
                                "The features that the operator may disable. A feature that is absent is enabled."),
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
