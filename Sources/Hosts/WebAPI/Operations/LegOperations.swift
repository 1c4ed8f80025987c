import Calls
import HTTPTypes
import Model

/// What endpoints ask of the media gateway.
package enum LegOperations {
    package static func all(_ service: any LegService) -> [Operation] { [leg(service)] }

    private static func leg(_ service: any LegService) -> Operation {
        Operation(
            name: "calls.leg", method: .post, path: "/v1/calls/{call}/leg",
            summary: "Join the call's media gateway with an offer, or change the leg that this endpoint has there.",
            access: .endpoint,
            parameters: [.path("call", .identifier, "The call's id, of one whose mode is gateway.")],
            body: .object([
                .required(
                    "offer", .object([.required("sdp", .text(minimum: 1, maximum: 262_144))]),
                    "With a section for each track, and one that receives only for each track to be shown at a time."),
                .optional(
                    "sources", .map(.choice(LegTrack.Source.allCases.map(\.rawValue))),
                    "What the tracks are of, by mid; else audio is a microphone and video a camera."),
            ]),
            answers: [
                .ok(
                    .object([
                        .required("answer", .object([.required("sdp", .text())])),
                        .required("epoch", .integer(), "The call's gatewayEpoch, for which the leg holds."),
                        .required("slots", .list(.named("Slot")), "What the gateway's sending sections show now."),
                        .optional("positions", Schemas.positions),
                    ]),
                    "The endpoint's leg with the gateway; its mailbox tells what slots show later, and when to offer again."
                )
            ],
            problems: [.notFound, .callEnded, .conflict, .answeredElsewhere], limit: .signals
        ) { request in
            let principal = try request.requireEndpoint()
            let call = try request.identifier("call", of: CallID.self)
            let leg = try await service.answer(try request.decode(OfferLeg.self), in: call, by: principal)
            var writer = JSONWriter(capacity: leg.sdp.utf8.count + leg.outcome.slotsJSON.utf8.count + 256)
            writer.object { writer in
                writer.name("answer")
                writer.object { $0.member("sdp", leg.sdp) }
                writer.member("epoch", leg.outcome.epoch)
                writer.name("slots")
                writer.write(json: leg.outcome.slotsJSON)
            }
            return OperationAnswer(status: 200, body: writer.bytes, positions: leg.positions)
        }
    }
}
