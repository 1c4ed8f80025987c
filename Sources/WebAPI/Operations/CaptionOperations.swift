import Calls
import HTTPTypes
import Model
package import Services
import Storage

/// Live captions of calls.
package enum CaptionOperations {
    private static let path = "/v1/calls/{call}/captions"
    private static let parameter = Operation.Parameter.path("call", .identifier, "The call's id.")
    private static let callResponse = Schema.named("CallResult")

    package static func all(_ service: CallService, _ consent: SpeechConsent) -> [Operation] {
        [start(service, consent), stop(service)]
    }

    private static func start(_ service: CallService, _ consent: SpeechConsent) -> Operation {
        Operation(
            name: "calls.caption", method: .post, path: path,
            summary:
                "Start live captions of a call in gateway mode. Every participant is shown that and may end "
                + "them. Participants who were joined when somebody began to speak get a `Caption`, an event of "
                + "`captions:{call}`, to which the server subscribes joined endpoints. The speech of users who "
                + "do not allow it is not transcribed.",
            access: .endpoint, parameters: [parameter], body: .object([]),
            responses: [.ok(callResponse, "The call has captions.")],
            problems: [.notFound, .callEnded, .conflict, .answeredElsewhere, .providerNotConfigured, .consentRequired],
            limit: .calls
        ) { request in
            let principal = try request.requireEndpoint()
            let call = try request.identifier("call", of: CallID.self)
            return CallOperations.encode(
                try await service.run { store, commands in
                    let outcome = try commands.caption(call, by: principal, at: store.now, in: store)
                    try consent.check(outcome.call, store: store)
                    return outcome
                })
        }
    }

    private static func stop(_ service: CallService) -> Operation {
        Operation(
            name: "calls.stopCaptions", method: .delete, path: path,
            summary: "End the captions of the call, if there are any. Every participant may do so.",
            access: .endpoint, parameters: [parameter], responses: [.ok(callResponse, "The call has no captions.")],
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
