import Calls
import HTTPTypes
import Model
package import Services

/// Operations of endpoints' legs with the media gateway.
package enum LegOperations {
    package static func all(_ service: LegCoordinator) -> [Operation] { [leg(service), slots(service)] }

    private static let callParameter = Operation.Parameter.path(
        "call", .identifier, "The id of a call in gateway mode.")
    private static let rejectedSection = Schema.object([
        .required("mid", .text()),
        .required("reason", .text(), "In English, such as which codecs it has and which are accepted."),
    ])
    private static let preferences = Schema.named("SlotPreferences")

    private static func leg(_ service: LegCoordinator) -> Operation {
        Operation(
            name: "calls.leg", method: .post, path: "/v1/calls/{call}/leg",
            summary: "Join the call's media gateway with an offer, or change this endpoint's leg.",
            access: .endpoint,
            parameters: [callParameter],
            body: .object([
                .required(
                    "offer", .named("SessionDescription"),
                    "With a section for each track, and a receive-only section for each slot."),
                .optional(
                    "sources", .map(.named("TrackSource")),
                    "The sources of the tracks, by mid. By default audio is a microphone and video a camera."),
            ]),
            responses: [
                .ok(
                    .object([
                        .required("answer", .named("SessionDescription")),
                        .required("epoch", .integer(), "The call's gatewayEpoch, for which the leg is valid."),
                        .required(
                            "slots", .list(.named("Slot")),
                            "The tracks that the gateway's sending sections show now."),
                        .optional(
                            "rejected", .list(rejectedSection),
                            "The sections that the answer rejects although the offer does not, if there are "
                                + "any. Their tracks are not forwarded, and their slots stay empty."),
                        .optional("positions", Schemas.positions),
                    ]),
                    "The endpoint's leg. Its mailbox reports later changes of the slots, and when a new offer is "
                        + "needed."
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
                guard !leg.rejected.isEmpty else { return }
                writer.name("rejected")
                writer.array(leg.rejected) { writer, section in
                    writer.object {
                        $0.member("mid", section.mid)
                        $0.member("reason", section.reason)
                    }
                }
            }
            return OperationResponse(status: 200, body: writer.bytes, positions: leg.positions)
        }
    }

    private static func slots(_ service: LegCoordinator) -> Operation {
        Operation(
            name: "calls.slots", method: .patch, path: "/v1/calls/{call}/leg",
            summary:
                "Set the preferred video quality of this endpoint's slots, such as low for a small picture and off for "
                + "one that is not visible.",
            access: .endpoint, parameters: [callParameter],
            body: .object([
                .required(
                    "slots", preferences,
                    "By mid. Slots that are not listed keep their preference, which is initially high.")
            ]),
            responses: [
                .ok(
                    .object([.required("slots", preferences, "By mid: all video slots of the leg.")]),
                    "The preferences from now on, until the leg is replaced.")
            ],
            problems: [.notFound, .callEnded, .conflict, .answeredElsewhere], limit: .signals
        ) { request in
            let principal = try request.requireEndpoint()
            let call = try request.identifier("call", of: CallID.self)
            let preferences = try await service.setPreferences(
                try request.decode(WantSlots.self), in: call, by: principal)
            let members = preferences.map { ($0.mid, JSON.text($0.quality.rawValue)) }
            return OperationResponse(
                status: 200, body: Array(JSON.object([("slots", .object(members))]).encoded.utf8))
        }
    }
}
