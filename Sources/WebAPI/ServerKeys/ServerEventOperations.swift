import Accounts
import HTTPTypes
import Model
package import Services
import Webhooks

/// Reading events, for an app's own back end that has no address for webhooks.
package enum ServerEventOperations {
    private static let maxLimit = 100

    package static func all(_ feed: EventFeed) -> [Operation] { [list(feed)] }

    private static func list(_ feed: EventFeed) -> Operation {
        Operation(
            name: "server.events.list", method: .get, path: "/v1/server/events",
            summary:
                """
                The events to which webhooks without an address subscribe, in their order: what happened after a position, \
                or the next that happens.
                """,
            access: .serverKey(.events), isRealtime: false,
            parameters: [
                .query(
                    "after", .text(maximum: 64),
                    "The `next` of the previous response. Without it and `since`, only what happens from now on."),
                .query("since", .time, "Begin with the kept events since this time; not with `after`."),
                .query("limit", .integer(1...Int64(maxLimit)), "How many at most; the default is 100."),
                .query(
                    "wait", .integer(0...30),
                    "How many seconds to wait for the next event if there is none; the default is 0."),
            ],
            responses: [.ok(.named("EventPage"))], problems: [.conflict, .gone], limit: .serverKeys
        ) { request in
            let key = try request.requireKey()
            let limit = try request.integer("limit", in: 1...maxLimit, default: maxLimit)
            let wait = try request.integer("wait", in: 0...30, default: 0)
            let page = try await feed.read(
                from: start(of: request), limit: limit, wait: .seconds(wait), by: key.id)
            var writer = JSONWriter(capacity: 1024)
            writer.object { writer in
                writer.name("events")
                writer.array(page.events) { writer, event in
                    writer.object { writer in
                        writer.member("id", event.id)
                        event.write(into: &writer, at: page.now)
                    }
                }
                writer.member("next", page.next)
                writer.member("more", page.hasMore)
            }
            return OperationResponse(status: 200, body: writer.bytes)
        }
    }

    private static func start(of request: OperationRequest) throws -> EventFeed.Start {
        switch (request.parameters["after"], request.parameters["since"]) {
        case (nil, nil): return .now
        case (let after?, nil): return .after(after)
        case (nil, let since?):
            guard let time = Timestamp(since) else {
                throw Problem.invalid("since", "Expected a time such as 2026-11-24T12:00:00Z.")
            }
            return .since(time)
        case (_?, _?): throw Problem.invalid("since", "Send `after` or `since`, not both.")
        }
    }
}
