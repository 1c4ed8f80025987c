import HTTPTypes
import Model

/// What a client may know before anybody signed in.
package enum ServerOperations {
    private struct About: Encodable {
        var name = "Switchboard"
        var version: String
        var signUp: String
    }

    /// - Parameter keys: the JSON Web Key Set by which others verify our access tokens.
    package static func all(version: String, signUp: String, keys: @escaping @Sendable () -> String) -> [Operation] {
        [
            Operation(
                name: "server.get", method: .get, path: "/v1/server", summary: "What this server is.", access: .anyone,
                isRealtime: false,
                answers: [
                    .ok(
                        .object([
                            .required("name", .text()), .required("version", .text()),
                            .required("signUp", .choice(["open", "invite", "closed"])),
                        ]))
                ]
            ) { _ in try .json(About(version: version, signUp: signUp)) },
            Operation(
                name: "server.keys", method: .get, path: "/.well-known/jwks.json",
                summary: "The public keys of our access tokens (RFC 7517).", access: .anyone, isRealtime: false,
                answers: [.ok(.object([.required("keys", .list(.object([])))]))]
            ) { _ in OperationAnswer(status: 200, body: Array(keys().utf8)) },
        ]
    }
}
