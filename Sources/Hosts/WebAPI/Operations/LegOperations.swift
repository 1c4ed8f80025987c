import Calls
import HTTPTypes
import Model

/// What endpoints ask of the media gateway.
package enum LegOperations {
    package static func all(_ service: any LegService) -> [Operation] { [leg(service), slots(service)] }

    private static let callParameter = Operation.Parameter.path(
        "call", .identifier, "The call's id, of one whose mode is gateway.")
    private static let wishes = Schema.map(.choice(SlotQuality.allCases.map(\.rawValue)))

    private static func leg(_ service: any LegService) -> Operation {
        Operation(
            name: "calls.leg", method: .post, path: "/v1/calls/{call}/leg",
            summary: "Join the call's media gateway with an offer, or change the leg that this endpoint has there.",
            access: .endpoint,
            parameters: [callParameter],
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

    private static func slots(_ service: any LegService) -> Operation {
        Operation(
            name: "calls.slots", method: .patch, path: "/v1/calls/{call}/leg",
            summary:
                "Say how good a picture this endpoint wants in video slots of its leg: one that is shown small needs no "
                + "better, one that nobody sees none.",
            access: .endpoint, parameters: [callParameter],
            body: .object([
                .required(
                    "slots", wishes, "By mid. Those that are not named stay as they are; at first all are high.")
            ]),
            answers: [
                .ok(
                    .object([.required("slots", wishes, "By mid: all video slots of the leg.")]),
                    "What is wanted from now on, until the leg is replaced by another.")
            ],
            problems: [.notFound, .callEnded, .conflict, .answeredElsewhere], limit: .signals
        ) { request in
            let principal = try request.requireEndpoint()
            let call = try request.identifier("call", of: CallID.self)
            let wishes = try await service.want(try request.decode(WantSlots.self), in: call, by: principal)
            let members = wishes.map { ($0.mid, JSON.text($0.quality.rawValue)) }
            return OperationAnswer(
                status: 200, body: Array(JSON.object([("slots", .object(members))]).encoded.utf8))
        }
    }
}
