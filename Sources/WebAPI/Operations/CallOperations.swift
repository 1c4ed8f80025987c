import Calls
import HTTPTypes
import Model
package import Services
import Storage

/// Operations of calls.
package enum CallOperations {
    package static func all(_ service: CallService) -> [Operation] {
        [create(service), list(service), get(service)] + lifeCycle(service)
            + [alive(service), invite(service), signals(service), quality(service), media(service)]
    }

    private static let callResponse = Schema.named("CallResult")
    private static let callParameter = Operation.Parameter.path("call", .identifier, "The call's id.")
    private static let clientID = Schema.Member.required(
        "clientID", .identifier, "A UUID from the client; a request repeated with it is executed once.")

    private static func create(_ service: CallService) -> Operation {
        Operation(
            name: "calls.create", method: .post, path: "/v1/calls",
            summary: "Call somebody, or the members of a conversation: rings all their endpoints.",
            access: .endpoint,
            body: .object([
                clientID,
                .optional(
                    "callees", .list(.identifier, minimum: 1, maximum: 49),
                    "The users to call, if there is no `conversation`. A call to one person belongs to the "
                        + "conversation with them."
                ),
                .optional(
                    "conversation", .identifier,
                    "Instead of callees: rings the other person, or the members of a group if it has at most "
                        + "\(CallRules().ringingMembers). If a call is on in the conversation, the user joins that "
                        + "one."),
                .required("kind", .choice(["audio", "video"])),
                .optional(
                    "mode", .choice(["direct", "gateway"]),
                    "How media flows; by default directly between two people, and for more through the gateway, which "
                        + "the server must have."
                ),
                .optional("offer", .named("SessionDescription")),
                .optional("ringSeconds", .integer(10...120)), .optional("other", .choice(["hold", "end"])),
            ]),
            responses: [.created(callResponse, "It rings."), .ok(callResponse, "It was created before.")],
            problems: [.notFound, .forbidden, .conflict, .clientIDReused], limit: .calls
        ) { request in
            let principal = try request.requireEndpoint()
            let committed = try await service.create(request.decode(CreateCall.self), by: principal)
            let isNew = !committed.value.isDuplicate && !committed.value.hasJoined
            return encode(committed, status: isNew ? 201 : 200)
        }
    }

    private static func list(_ service: CallService) -> Operation {
        Operation(
            name: "calls.list", method: .get, path: "/v1/calls", summary: "The user's calls, the newest first.",
            parameters: [
                .query("limit", .integer(1...100), "How many at most; the default is 50."),
                .query("cursor", .text(), "The `nextCursor` of the previous page."),
            ],
            responses: [
                .ok(.named("CallPage"))
            ]
        ) { request in
            let principal = try request.requirePrincipal()
            let limit = try request.integer("limit", in: 1...100, default: 50)
            let cursor = try request.parameters["cursor"].map { _ in try request.identifier("cursor", of: CallID.self) }
            let commands = service.commands
            let body = try await service.store.read { store in
                let page = try commands.list(before: cursor, limit: limit, by: principal, in: store)
                var writer = JSONWriter(capacity: 1024)
                writer.object { writer in
                    writer.name("calls")
                    writer.array(page.calls) { $1.write(to: &$0, at: store.now) }
                    writer.member("nextCursor", page.next)
                }
                return writer.bytes
            }
            return OperationResponse(status: 200, body: body)
        }
    }

    private static func get(_ service: CallService) -> Operation {
        Operation(
            name: "calls.get", method: .get, path: "/v1/calls/{call}", summary: "One call.",
            parameters: [callParameter], responses: [.ok(.named("CallDocument"))],
            problems: [.notFound]
        ) { request in
            let principal = try request.requirePrincipal()
            let id = try request.identifier("call", of: CallID.self)
            let commands = service.commands
            let body = try await service.store.read { store in
                let call = try commands.get(id, by: principal, in: store)
                var writer = JSONWriter(capacity: 1024)
                writer.object { writer in
                    writer.name("call")
                    call.write(to: &writer, at: store.now)
                }
                return writer.bytes
            }
            return OperationResponse(status: 200, body: body)
        }
    }

    private typealias Command =
        @Sendable (CallID, Principal, OperationRequest, StoreTransaction, CallCommands) throws ->
        CallOutcome

    private static func lifeCycle(_ service: CallService) -> [Operation] {
        func operation(
            _ verb: String, _ summary: String, access: Operation.Access = .endpoint, body: Schema = .object([]),
            problems: [Problem.Kind] = [], _ command: @escaping Command
        ) -> Operation {
            Operation(
                name: "calls.\(verb)", method: .post, path: "/v1/calls/{call}/\(verb)", summary: summary,
                access: access,
                parameters: [callParameter], body: body, responses: [.ok(callResponse)],
                problems: [.notFound] + problems
            ) { request in
                let principal = try request.requirePrincipal()
                let call = try request.identifier("call", of: CallID.self)
                return encode(try await service.run { try command(call, principal, request, $0, $1) })
            }
        }
        return [
            operation("ringing", "Report that this endpoint rings.") { call, principal, _, store, commands in
                try commands.ringing(call, by: principal, at: store.now, in: store)
            },
            operation(
                "accept", "Accept the call on this endpoint. Only one endpoint of a user succeeds.",
                body: .object([
                    clientID, .optional("other", .choice(["hold", "end"])), .optional("media", .named("MediaChange")),
                ]), problems: [.answeredElsewhere, .callEnded, .conflict, .clientIDReused]
            ) { call, principal, request, store, commands in
                let body = try request.decode(AcceptCall.self)
                return try commands.accept(call, body, by: principal, at: store.now, in: store)
            },
            operation("decline", "Decline the call on all endpoints of the user.", access: .user) {
                call, principal, _, store, commands in
                try commands.decline(call, by: principal, at: store.now, in: store)
            },
            operation("cancel", "Stop ringing, or hang up, depending on the state.", access: .user) {
                call, principal, _, store, commands in
                try commands.hangUp(call, .cancel, by: principal, at: store.now, in: store)
            },
            operation("end", "End the call for all: hangs up in a call of two.", access: .user, problems: [.forbidden])
            {
                call, principal, _, store, commands in
                try commands.hangUp(call, .end, by: principal, at: store.now, in: store)
            },
            operation("leave", "Leave the call.", access: .user) { call, principal, _, store, commands in
                try commands.hangUp(call, .leave, by: principal, at: store.now, in: store)
            },
            operation(
                "connected", "Report that media flows on this endpoint.",
                problems: [.callEnded, .conflict, .answeredElsewhere]
            ) { call, principal, _, store, commands in
                try commands.connected(call, by: principal, at: store.now, in: store)
            },
        ]
    }

    private static func alive(_ service: CallService) -> Operation {
        Operation(
            name: "calls.alive", method: .post, path: "/v1/calls/{call}/alive",
            summary: "Report that the other side's media arrives: this keeps both in a call of two.", access: .endpoint,
            parameters: [callParameter], body: .object([]), responses: [.ok(callResponse)],
            problems: [.notFound, .callEnded, .conflict, .answeredElsewhere], isReadOnly: true
        ) { request in
            let principal = try request.requireEndpoint()
            let call = try request.identifier("call", of: CallID.self)
            let outcome = try await service.observe { try $1.alive(call, by: principal, at: $0.now, in: $0) }
            return OperationResponse(status: 200, body: document(of: outcome))
        }
    }

    private static func invite(_ service: CallService) -> Operation {
        Operation(
            name: "calls.invite", method: .post, path: "/v1/calls/{call}/invite",
            summary: "Ring more people into the call.",
            access: .endpoint, parameters: [callParameter],
            body: .object([clientID, .required("users", .list(.identifier, minimum: 1, maximum: 49))]),
            responses: [.ok(callResponse)], problems: [.notFound, .callEnded, .clientIDReused, .conflict], limit: .calls
        ) { request in
            let principal = try request.requireEndpoint()
            let call = try request.identifier("call", of: CallID.self)
            let body = try request.decode(InviteToCall.self)
            return encode(try await service.run { try $1.invite(call, body, by: principal, at: $0.now, in: $0) })
        }
    }

    private static func signals(_ service: CallService) -> Operation {
        Operation(
            name: "calls.signals", method: .post, path: "/v1/calls/{call}/signals",
            summary:
                "Send an offer, an answer or candidates to one endpoint. Signals that it supersedes keep their "
                + "number in the mailbox, with the data `{\"superseded\":true}`.", access: .endpoint,
            parameters: [callParameter],
            body: .object([
                clientID, .optional("to", .identifier, "May be left out in a call of two."),
                .required("kind", .choice(["offer", "answer", "candidates"])),
                .required(
                    "generation", .integer(0...1_000_000),
                    "For an offer, the generation that it follows, at first 0; otherwise the offer's generation."),
                .required(
                    "payload",
                    .either([
                        .named("SessionDescription"),
                        .object([
                            .required("candidates", .list(.named("Candidate"), maximum: 64)),
                            .optional("end", .boolean, "There are no more candidates."),
                        ]),
                    ])),
            ]),
            responses: [
                .ok(
                    .object([
                        .required("status", .choice(["delivered", "pending", "ignored"])),
                        .required("generation", .integer()), .optional("duplicate", .boolean),
                    ]))
            ],
            problems: [.notFound, .conflict, .callEnded, .clientIDReused, .answeredElsewhere], limit: .signals
        ) { request in
            let principal = try request.requireEndpoint()
            let call = try request.identifier("call", of: CallID.self)
            let body = try request.decode(SendSignal.self)
            let commands = service.commands
            let committed = try await service.store.write {
                try commands.send(body, in: call, by: principal, at: $0.now, store: $0)
            }
            let outcome = committed.value
            var writer = JSONWriter(capacity: 64)
            writer.object { writer in
                writer.member("status", outcome.status.rawValue)
                writer.member("generation", outcome.generation)
                if outcome.isDuplicate { writer.member("duplicate", true) }
            }
            // The mailbox is another endpoint's, so its position is not for the sender.
            return OperationResponse(status: 200, body: writer.bytes)
        }
    }

    private static func quality(_ service: CallService) -> Operation {
        Operation(
            name: "calls.quality", method: .post, path: "/v1/calls/{call}/quality",
            summary: "Report the call quality on this endpoint, also after its end.", access: .endpoint,
            parameters: [callParameter],
            body: .object([
                .required("loss", .number(0...1)), .required("jitter", .number(0...60000), "Milliseconds."),
                .required("roundTrip", .number(0...60000), "Milliseconds."), .required("relayed", .boolean),
                .optional("sent", .integer(0...(1 << 52)), "Bytes."),
                .optional("received", .integer(0...(1 << 52)), "Bytes."), .optional("seconds", .number(0...1_000_000)),
            ]),
            responses: [
                .ok(.object([.required("mos", .number(1...5))]))
            ],
            problems: [.notFound]
        ) { request in
            let principal = try request.requirePrincipal()
            let call = try request.identifier("call", of: CallID.self)
            let report = try request.decode(QualityReport.self)
            let commands = service.commands
            let committed = try await service.store.write {
                try commands.quality(call, report, by: principal, at: $0.now, in: $0)
            }
            var writer = JSONWriter(capacity: 32)
            writer.object { $0.member("mos", committed.value) }
            return OperationResponse(status: 200, body: writer.bytes)
        }
    }

    private static func media(_ service: CallService) -> Operation {
        Operation(
            name: "calls.media", method: .patch, path: "/v1/calls/{call}/participants/me",
            summary: "Report what this endpoint sends: muted, held, with video, with the screen.", access: .endpoint,
            parameters: [callParameter], body: .named("MediaChange"), responses: [.ok(callResponse)],
            problems: [.notFound, .callEnded, .conflict, .answeredElsewhere]
        ) { request in
            let principal = try request.requireEndpoint()
            let call = try request.identifier("call", of: CallID.self)
            let change = try request.decode(MediaState.Change.self)
            return encode(try await service.run { try $1.media(call, change, by: principal, at: $0.now, in: $0) })
        }
    }

    static func encode(_ committed: Committed<CallOutcome>, status: Int = 200) -> OperationResponse {
        OperationResponse(status: status, body: document(of: committed.value), positions: committed.positions)
    }

    private static func document(of outcome: CallOutcome) -> [UInt8] {
        var writer = JSONWriter(capacity: outcome.callJSON.utf8.count + 64)
        writer.object { writer in
            writer.name("call")
            writer.write(json: outcome.callJSON)
            if outcome.isDuplicate { writer.member("duplicate", true) }
            if outcome.hasJoined { writer.member("joined", true) }
        }
        return writer.bytes
    }
}
