import Calls
import HTTPTypes
import Model
import Storage

/// Live captions of calls.
package enum CaptionOperations {
    private static let path = "/v1/calls/{call}/captions"
    private static let parameter = Operation.Parameter.path("call", .identifier, "The call's id.")
    private static let answer = Schema.object([
        .required("call", .named("Call")), .optional("positions", Schemas.positions),
        .optional("duplicate", .boolean, "It was so before."),
    ])

    package static func all(_ service: CallService) -> [Operation] { [start(service), stop(service)] }

    private static func start(_ service: CallService) -> Operation {
        Operation(
            name: "calls.caption", method: .post, path: path,
            summary:
                "Have what is said in the call, whose mode is gateway, written down while it is said: every participant is shown that and may end it. Whoever was joined when somebody began to speak gets what they said as a `Caption`, an event of `captions:{call}`, to which the server lets joined endpoints listen.",
            access: .endpoint, parameters: [parameter], body: .object([]),
            answers: [.ok(answer, "There are captions.")],
            problems: [.notFound, .callEnded, .conflict, .answeredElsewhere, .providerNotConfigured], limit: .calls
        ) { request in
            let principal = try request.requireEndpoint()
            let call = try request.identifier("call", of: CallID.self)
            return CallOperations.encode(
                try await service.run { store, commands in
                    try commands.caption(call, by: principal, at: store.now, in: store)
                })
        }
    }

    private static func stop(_ service: CallService) -> Operation {
        Operation(
            name: "calls.stopCaptions", method: .delete, path: path,
            summary: "End the captions of the call, if there are any. Every participant may.",
            access: .endpoint, parameters: [parameter], answers: [.ok(answer, "There are no captions any more.")],
            problems: [.notFound, .conflict, .answeredElsewhere], limit: .signals
        ) { request in
            let principal = try request.requireEndpoint()
            let call = try request.identifier("call", of: CallID.self)
            return CallOperations.encode(
                try await service.run { store, commands in
                    try commands.stopCaptions(call, by: principal, at: store.now, in: store)
                })
        }
    }
}
