import Model
package import Realtime

/// `/asyncapi.json`: the table of the realtime protocol as AsyncAPI 3.0. Requests are those of the route table.
///
/// The members `x-streams`, `x-resets`, `x-closeCodes`, `x-limits` and `x-requests` have what AsyncAPI has no place for.
package struct AsyncAPIDocument {
    let schemas: ProtocolSchemas
    /// The operations that are also realtime requests.
    let requests: [Operation]
    let limits: RealtimeLimits
    let version: String

    /// - Parameters:
    ///   - operations: every operation of the route table.
    ///   - schemas: the documents that they share.
    package init(operations: [Operation], schemas: [(String, Schema)], limits: RealtimeLimits, version: String) {
        self.schemas = ProtocolSchemas(documents: schemas)
        requests = operations.filter(\.isRealtime)
        self.limits = limits
        self.version = version
    }

    package var text: String { json.encoded }

    var json: JSON {
        .object([
            ("asyncapi", "3.0.0"),
            (
                "info",
                .object([
                    ("title", "Switchboard realtime"), ("version", .text(version)),
                    ("description", .text(Self.description)),
                    (
                        "license",
                        .object([
                            ("name", "Apache-2.0"), ("url", "https://www.apache.org/licenses/LICENSE-2.0"),
                        ])
                    ),
                ])
            ),
            ("defaultContentType", "application/json"), ("servers", Self.servers), ("channels", channels),
            ("operations", operations), ("components", components), ("x-streams", streams), ("x-resets", resets),
            ("x-closeCodes", closeCodes), ("x-limits", describedLimits), ("x-requests", describedRequests),
        ])
    }

    private static let description = """
        A session is a WebSocket at `/v1/realtime` or, where none gets through, a stream of server-sent events. Each \
        message is one JSON frame.

        The client sends `hello` first. It then listens to streams, which give a snapshot and after that every change or \
        event, and sends requests: those of `/openapi.json`, under their operationIds. A response has the `id` of its \
        frame. Each frame with an `id` gets one `result` or `error`; results may overtake each other.

        A log (`x-streams`) has an epoch and a sequence without gaps. A client keeps the position of the last change \
        that it has applied, and resumes with it in `hello` or `listen` after reconnecting. Nothing is lost silently: \
        what cannot be continued gets a `reset` and a new snapshot. Changes may come twice; those at or before the \
        client's position are to be ignored. A write has a `clientID`, and may be repeated with it after reconnecting.

        Keyed state (`conversation:`, `inbox:`) has a position too, and no history: a frame of `rows` has the latest of \
        each row that has changed after the sequence `after` up to `upTo`. Of two copies of a row the client keeps the one \
        with the higher version, so that rows may come twice, late, and from pages of the REST API.

        Ignore members, change types and frames that are not known: there will be more.
        """

    private static let servers = JSON.object([
        ("websocket", server("wss", "`ws` if the server has no certificate.")),
        ("http", server("https", "`http` if the server has no certificate.")),
    ])

    private static func server(_ transport: String, _ description: String) -> JSON {
        .object([
            ("host", "{host}"), ("protocol", .text(transport)), ("description", .text(description)),
            (
                "variables",
                .object([
                    (
                        "host",
                        .object([
                            ("default", "127.0.0.1:8080"), ("description", "The server's name, and its port."),
                        ])
                    )
                ])
            ),
        ])
    }

    var namedSchemas: [(String, JSON)] {
        let documents = schemas.documents + [("Problem", Problem.schema)]
        return documents.map { ($0.0, $0.1.json) } + schemas.streamNames + schemas.clientFrames
            + schemas.requests(requests) + schemas.serverFrames
    }

    private var components: JSON {
        .object([
            ("schemas", .object(namedSchemas)), ("messages", .object(messages)),
            (
                "securitySchemes",
                .object([
                    (
                        "accessToken",
                        .object([
                            ("type", "http"), ("scheme", "bearer"), ("bearerFormat", "JWT"),
                            ("description", "The access token of the session's user."),
                        ])
                    )
                ])
            ),
        ])
    }
}

// The extensions.
extension AsyncAPIDocument {
    private var streams: JSON {
        .array(
            StreamPattern.allCases.map { pattern in
                let frames = ServerFrameKind.allCases.filter { pattern.members(of: $0) != nil }.map { frame in
                    (frame.rawValue, ProtocolSchemas.reference(ProtocolSchemas.name(of: frame, pattern)))
                }
                let rows = pattern.rows.compactMap { row -> JSON? in
                    guard case .object(let members) = row, let first = members.first else { return nil }
                    return .text(first.name)
                }
                let changes = pattern.changes.map { change in
                    JSON.object([("type", .text(change.type)), ("meaning", .text(change.meaning))])
                }
                return .object([
                    ("name", .text(pattern.template)), ("meaning", .text(pattern.meaning)),
                    ("kind", .text(pattern.kind.name)), ("kindMeaning", .text(pattern.kind.meaning)),
                    ("listeners", .text(pattern.listeners)), ("changes", .array(changes)),
                    ("rows", .array(rows)), ("frames", .object(frames)),
                ])
            })
    }

    private var resets: JSON {
        .array(
            ResetReason.allCases.map { reason in
                .object([
                    ("reason", .text(reason.rawValue)), ("meaning", .text(reason.meaning)),
                    ("action", .text(reason.action)),
                ])
            })
    }

    private var closeCodes: JSON {
        let byes = Bye.allCases.map { bye in
            var members: [(String, JSON)] = [
                ("code", .integer(Int64(bye.code))), ("reason", .text(bye.reason)), ("meaning", .text(bye.meaning)),
                ("action", .text(bye.action)),
            ]
            if let range = bye.retryWithin {
                let bounds = JSON.object([
                    ("minimum", .integer(range.lowerBound)), ("maximum", .integer(range.upperBound)),
                ])
                members.append(("retryAfter", bounds))
            }
            return JSON.object(members)
        }
        let others = WebSocketCode.described.map { code, meaning in
            JSON.object([
                ("code", .integer(Int64(code.number))), ("meaning", .text(meaning)),
                ("action", .text(code == .normal ? "Nothing: the client has closed." : WebSocketCode.action)),
            ])
        }
        return .array(byes + others)
    }

    private var describedLimits: JSON {
        .array(
            limits.described.map { limit in
                .object([
                    ("name", .text(limit.name)), ("value", .integer(limit.value)), ("unit", .text(limit.unit)),
                    ("meaning", .text(limit.meaning)),
                ])
            })
    }

    private var describedRequests: JSON {
        .array(
            requests.map { request in
                let name = ProtocolSchemas.name(of: request)
                return .object([
                    ("name", .text(request.name)), ("summary", .text(request.summary)),
                    ("frame", ProtocolSchemas.reference(name + "Request")),
                    ("result", ProtocolSchemas.reference(name + "Result")),
                    ("problems", .array(request.possibleProblems.map { .text($0.rawValue) })),
                ])
            })
    }
}
