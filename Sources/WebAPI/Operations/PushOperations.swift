import HTTPTypes
import Model
import Notifications
package import Services

/// Operations for the devices that are told when they sleep.
package enum PushOperations {
    static let schemas: [(String, Schema)] = [
        (
            "PushRegistration",
            .object([
                .required("kind", kind), .required("device", .identifier), .required("createdAt", .time),
                .required("updatedAt", .time, "When the registration was last renewed."),
            ])
        )
    ]

    private static let kind = Schema.choice(PushKind.allCases.map(\.rawValue))

    private static let device = Schema.Member.optional(
        "device", .identifier,
        "The device, for a token without a session; such a request needs the header `Switchboard-Endpoint`.")

    package static func all(_ pushes: PushCommands) -> [Operation] {
        [
            Operation(
                name: "push.register", method: .put, path: "/v1/me/device/push",
                summary:
                    "Register the device of the session for pushes of messages and calls while it sleeps. A "
                    + "registration of the same kind is replaced. It ends with the session, or when the push "
                    + "service no longer knows the device.",
                body: .object([
                    .required("kind", kind, "One of those in `push` of `GET /v1/server`."),
                    .optional("endpoint", .text(maximum: 2_048), "Of a Web Push subscription: an https URL."),
                    .optional(
                        "keys",
                        .object([
                            .required("p256dh", .text(maximum: 128), "A point of P-256, 65 bytes, in base64url."),
                            .required("auth", .text(maximum: 128), "16 bytes in base64url."),
                        ]), "Of a Web Push subscription."),
                    .optional(
                        "token", .text(maximum: PushAddress.maxTokenLength),
                        "Of `fcm`: the registration token of the app, 8 to 4,096 characters of printable ASCII "
                            + "without spaces. Of `apns` and `apnsVoIP`: the device token, 1 to 100 bytes in "
                            + "hexadecimal."),
                    .optional(
                        "environment", .choice(APNsAddress.Environment.allCases.map(\.rawValue)),
                        "Of `apns` and `apnsVoIP`: the `aps-environment` of the app's build, development is "
                            + "sandbox. Default: production."
                    ),
                    .optional(
                        "shared", .boolean,
                        "Whether other accounts of the device may have the same subscription or token; both "
                            + "accounts must say so. Otherwise it moves to the account that registered it last. "
                            + "Default: false."),
                    device,
                ]),
                responses: [.ok(.named("PushRegistration"))], problems: [.featureDisabled], permits: 10
            ) { request in
                let body = try request.decode(PushRegistrationRequest.self)
                return try .json(try await pushes.register(body, by: request.requirePrincipal()))
            },
            Operation(
                name: "push.unregister", method: .delete, path: "/v1/me/device/push",
                summary: "End the pushes to this device. It is no error if the device was not registered.",
                parameters: [
                    .query("kind", kind, isRequired: true, "The kind of the registration."),
                    .query("device", .identifier, "As in `push.register`."),
                ]
            ) { request in
                let name = request.parameters["kind"] ?? ""
                guard let kind = PushKind(rawValue: name) else {
                    throw Problem.invalid(
                        "kind", "Expected one of \(PushKind.allCases.map(\.rawValue).joined(separator: ", ")).")
                }
                let device: DeviceID? = try request.parameters["device"].map { _ in try request.identifier("device") }
                try await pushes.unregister(kind, device: device, by: request.requirePrincipal())
                return OperationResponse(status: 204, body: [])
            },
            Operation(
                name: "push.list", method: .get, path: "/v1/me/push",
                summary: "The user's devices that get pushes while they sleep, the last renewed first; at most 64.",
                responses: [.ok(.object([.required("registrations", .list(.named("PushRegistration")))]))]
            ) { request in
                let found = try await pushes.registrations(of: request.requirePrincipal().user)
                return try .json(RegistrationList(registrations: found))
            },
        ]
    }

    private struct RegistrationList: Encodable { var registrations: [PushRegistrationDocument] }
}
