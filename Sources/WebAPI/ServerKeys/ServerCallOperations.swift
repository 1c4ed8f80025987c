import Accounts
import Calls
import HTTPTypes
import Model
package import Services
import Storage

/// What an app's own back end does with calls: places, lists and ends them, and reads their recordings.
package enum ServerCallOperations {
    package static func all(
        _ service: CallService, _ recordings: RecordingService, _ audit: AuditLog
    ) -> [Operation] {
        [create(service, audit), list(service), get(service), end(service, audit), self.recordings(recordings)]
    }

    private static let callParameter = Operation.Parameter.path("call", .identifier, "The call's id.")
    private static let callResponse = Schema.named("ServerCallResult")

    private struct CreateBody: Decodable {
        var clientID: ClientID
        var caller: String
        var callees: [String]
        var kind: Call.Kind
        var ringSeconds: Int64?
    }

    private static func create(_ service: CallService, _ audit: AuditLog) -> Operation {
        Operation(
            name: "server.calls.create", method: .post, path: "/v1/server/calls",
            summary:
                "Place a call through the gateway: rings the caller and the callees, and is active once two have accepted.",
            access: .serverKey(.callsWrite), isRealtime: false,
            body: .object([
                .required("clientID", .identifier, "A UUID; a request repeated with it is executed once."),
                .required("caller", ServerUserOperations.reference, "In whose name the others are rung."),
                .required("callees", .list(ServerUserOperations.reference, minimum: 1, maximum: 49)),
                .required("kind", .choice(["audio", "video"])), .optional("ringSeconds", .integer(10...120)),
            ]),
            responses: [.created(callResponse, "It rings."), .ok(callResponse, "It was created before.")],
            problems: [.notFound, .conflict, .clientIDReused], limit: .serverKeys
        ) { request in
            let key = try request.requireKey()
            let body = try request.decode(CreateBody.self)
            guard body.callees.count <= 1000 else { throw Problem.invalid("callees", "Name each person once.") }
            let caller = try UserReference(body.caller, field: "caller")
            let callees = try body.callees.enumerated().map { try UserReference($1, field: "callees[\($0)]") }
            let committed = try await service.run { store, commands in
                let create = CreateServerCall(
                    clientID: body.clientID, caller: try store.user(caller, field: "caller").id,
                    callees: try callees.enumerated().map { try store.user($1, field: "callees[\($0)]").id },
                    kind: body.kind, ringSeconds: body.ringSeconds, actor: key.actor)
                let outcome = try CallService.create(create, commands, in: store)
                if !outcome.isDuplicate { try store.insert(key.audit("server.calls.create", outcome.call.id.text)) }
                return outcome
            }
            let outcome = committed.value
            if !outcome.isDuplicate { audit.log(key.audit("server.calls.create", outcome.call.id.text)) }
            return response(outcome, status: outcome.isDuplicate ? 200 : 201)
        }
    }

    private static func list(_ service: CallService) -> Operation {
        Operation(
            name: "server.calls.list", method: .get, path: "/v1/server/calls",
            summary: "All calls, or those of a user, the newest first.", access: .serverKey(.callsRead),
            isRealtime: false,
            parameters: [
                .query("user", ServerUserOperations.reference, "Only calls of this user."),
                .query("limit", .integer(1...100), "How many at most; the default is 50."),
                .query("cursor", .text(), "The `nextCursor` of the previous page."),
            ],
            responses: [
                .ok(.named("CallPage"))
            ], problems: [.notFound], limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            let user = try request.parameters["user"].map { try UserReference($0, field: "user") }
            let limit = try request.integer("limit", in: 1...100, default: 50)
            let cursor = try request.parameters["cursor"].map { _ in try request.identifier("cursor", of: CallID.self) }
            let body = try await service.store.read { store in
                let calls =
                    try user.map { try store.calls(of: store.user($0).id, before: cursor, limit: limit + 1) }
                    ?? store.calls(before: cursor, limit: limit + 1)
                return page(calls, limit: limit, at: store.now)
            }
            return OperationResponse(status: 200, body: body)
        }
    }

    private static func get(_ service: CallService) -> Operation {
        Operation(
            name: "server.calls.get", method: .get, path: "/v1/server/calls/{call}", summary: "One call.",
            access: .serverKey(.callsRead), isRealtime: false, parameters: [callParameter],
            responses: [.ok(.named("CallDocument"))], problems: [.notFound], limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            let id = try request.identifier("call", of: CallID.self)
            let commands = service.commands
            let text = try await service.store.read { try commands.anyCall(id, in: $0).json(at: $0.now) }
            var writer = JSONWriter(capacity: text.utf8.count + 16)
            writer.object { writer in
                writer.name("call")
                writer.write(json: text)
            }
            return OperationResponse(status: 200, body: writer.bytes)
        }
    }

    private static func end(_ service: CallService, _ audit: AuditLog) -> Operation {
        Operation(
            name: "server.calls.end", method: .post, path: "/v1/server/calls/{call}/end",
            summary: "End a call for everybody. Ending an ended call changes nothing.",
            access: .serverKey(.callsWrite), isRealtime: false, parameters: [callParameter],
            responses: [.ok(callResponse)], problems: [.notFound], limit: .serverKeys
        ) { request in
            try await end(request, "server.calls.end", service, audit)
        }
    }

    /// Ends the call that the path names, and adds the action to the audit log.
    static func end(
        _ request: OperationRequest, _ action: String, _ service: CallService, _ audit: AuditLog
    ) async throws -> OperationResponse {
        let key = try request.requireKey()
        let id = try request.identifier("call", of: CallID.self)
        let entry = key.audit(action, id.text)
        let committed = try await service.run { store, commands in
            let outcome = try commands.endForAll(id, at: store.now, in: store)
            try store.insert(entry)
            return outcome
        }
        audit.log(entry)
        return response(committed.value, status: 200)
    }

    /// `{"calls":[…],"nextCursor":…}` of one call more than the page has, if there is one.
    static func page(_ calls: [Call], limit: Int, at now: Timestamp) -> [UInt8] {
        let page = Array(calls.prefix(limit))
        var writer = JSONWriter(capacity: 1024)
        writer.object { writer in
            writer.name("calls")
            writer.array(page) { $1.write(to: &$0, at: now) }
            writer.member("nextCursor", calls.count > limit ? page.last?.id : nil)
        }
        return writer.bytes
    }

    private static func recordings(_ service: RecordingService) -> Operation {
        Operation(
            name: "server.calls.recordings", method: .get, path: "/v1/server/calls/{call}/recordings",
            summary: "The recordings of a call, ordered by start, with the URLs of their files.",
            access: .serverKey(.recordings), isRealtime: false, parameters: [callParameter],
            responses: [.ok(.named("RecordingList"))], problems: [.notFound],
            limit: .serverKeys
        ) { request in
            _ = try request.requireKey()
            let id = try request.identifier("call", of: CallID.self)
            let commands = service.calls.commands
            let text = try await service.calls.store.read { store in
                _ = try commands.anyCall(id, in: store)
                let recordings = try store.recordings(of: id).map { ($0, try store.reader(of: $0)) }
                var writer = JSONWriter()
                writer.object { writer in
                    writer.name("recordings")
                    writer.array(recordings) { writer, recording in
                        service.write(
                            recording.0, for: Principal(user: recording.1), at: store.now, to: &writer)
                    }
                }
                return writer.text
            }
            return OperationResponse(status: 200, body: Array(text.utf8))
        }
    }

    private static func response(_ outcome: CallOutcome, status: Int) -> OperationResponse {
        var writer = JSONWriter(capacity: outcome.callJSON.utf8.count + 32)
        writer.object { writer in
            writer.name("call")
            writer.write(json: outcome.callJSON)
            if outcome.isDuplicate { writer.member("duplicate", true) }
        }
        return OperationResponse(status: status, body: writer.bytes)
    }
}

extension StoreTransaction {
    /// The user for whom the URLs of a recording's files are signed: one to whom it belongs and who is not disabled, or
    /// whoever started it.
    fileprivate func reader(of recording: Recording) throws -> UserID {
        try audience(of: recording.id).first { try isActive($0) } ?? recording.by
    }
}
