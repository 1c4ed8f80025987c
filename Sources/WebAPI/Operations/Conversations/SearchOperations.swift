import Accounts
import HTTPTypes
import Messaging
import Model
package import Services
import Storage

/// The search of messages.
package enum SearchOperations {
    package static func all(_ service: MessageSearchService) -> [Operation] { [search(service)] }

    /// Notices are not found.
    private static let kinds = Message.Kind.allCases.filter { $0 != .notice }.map(\.rawValue)
    private static let orders = SearchRequest.Order.allCases.map(\.rawValue)
    private static let modes = SearchMode.allCases.map(\.rawValue)
    private static let maxLimit = SearchLimits().page

    private static let parameters: [Operation.Parameter] = [
        .query(
            "query", .text(minimum: 1, maximum: SearchQuery.maxLength),
            "Words, all of which a message must have. Of the last word, the beginning is enough. Words between "
                + "quotation marks must follow each other. Case and accents make no difference. At most "
                + "\(SearchQuery.maxUnits) words; in scripts without spaces, each character counts as a word. Not "
                + "required if there is author, kind, link, mentions or starred."),
        .query("conversation", .identifier, "Only in this conversation."),
        .query("author", .identifier, "Only by this user."), .query("kind", .choice(kinds), "Only of this kind."),
        .query("from", .time, "Sent at this time or later."), .query("to", .time, "Sent before this time."),
        .query("link", .boolean, "If true, only with a link."),
        .query("mentions", .boolean, "If true, only those that mention the user, or everybody."),
        .query("starred", .boolean, "If true, only those that the user has starred."),
        .query(
            "order", .choice(orders),
            "The newest first, which is the default and finds all messages; or the most relevant of the newest 1,000."),
        .query(
            "mode", .choice(modes),
            "What is compared: the `words`, which is the default; the `meaning`, across languages; or `both`, "
                + "ranked as one. By meaning there is one page, of the best messages: `order` and `cursor` are only "
                + "for words. 503 if the server has no engine for meanings, which `findsMeaning` of `GET /v1/server` "
                + "tells. If the engine fails, `both` finds messages by words, and `withoutMeaning` says so."),
        .query(
            "limit", .integer(1...Int64(maxLimit)),
            "How many at most; the default is 20. Long texts make pages shorter."),
        .query("cursor", .text(), "The `nextCursor` of the previous page, with the same parameters."),
    ]

    private static func search(_ service: MessageSearchService) -> Operation {
        Operation(
            name: "messages.search", method: .get, path: "/v1/search",
            summary:
                "Search the messages that the user may see, by words, by filters or by both. By relevance, "
                + "those messages come first that have the words often, near to each other, and as whole words.",
            parameters: parameters, responses: [.ok(.named("SearchPage"))],
            problems: [.notFound, .providerNotConfigured, .providerFailed, .consentRequired, .budgetExhausted],
            limit: .searches,
            feature: .always(.messageSearch)
        ) { request in
            let user = try request.requirePrincipal().user
            let mode = try request.choice("mode", among: modes, SearchMode.init) ?? .words
            let wanted = try searchRequest(request)
            let body =
                mode == .words
                ? try await service.search(wanted, by: user) { page, store in
                    try encode(page.results, in: store) { writer in
                        writer.member("nextCursor", page.next?.text)
                        writer.member("isPartial", page.isPartial)
                    }
                }
                : try await service.search(wanted, mode: mode, by: user) { response, store in
                    try encode(response.page.results, in: store) { writer in
                        writer.member("isPartial", response.page.isPartial)
                        if let coverage = response.coverage {
                            writer.member("coverage", (coverage * 1000).rounded() / 1000)
                        }
                        writer.member("withoutMeaning", response.withoutMeaning?.rawValue)
                    }
                }
            return OperationResponse(status: 200, body: body)
        }
    }

    private static func encode(
        _ results: [SearchResult], in store: StoreTransaction, _ rest: (inout JSONWriter) -> Void
    ) throws -> [UInt8] {
        let people = try store.people(Set(results.map(\.message.author)).sorted { $0.text < $1.text })
        var writer = JSONWriter(capacity: 4096)
        writer.object { writer in
            writer.name("results")
            writer.array(results) { write($1, to: &$0) }
            writer.write(people: people)
            rest(&writer)
        }
        return writer.bytes
    }

    private static func searchRequest(_ request: OperationRequest) throws -> SearchRequest {
        var filters = SearchFilters()
        if request.parameters["conversation"] != nil { filters.conversation = try request.identifier("conversation") }
        if request.parameters["author"] != nil { filters.author = try request.identifier("author") }
        filters.kind = try request.choice("kind", among: kinds, Message.Kind.init)
        filters.from = try request.time("from")
        filters.to = try request.time("to")
        filters.hasLink = try request.flag("link")
        filters.mentionsReader = try request.flag("mentions")
        filters.isStarred = try request.flag("starred")
        return try SearchRequest(
            query: request.parameters["query"].map { try SearchQuery($0) }, filters: filters,
            order: request.choice("order", among: orders, SearchRequest.Order.init) ?? .date,
            limit: request.integer("limit", in: 1...maxLimit, default: 20),
            cursor: request.parameters["cursor"].map { try SearchCursor(text: $0) })
    }

    private static func write(_ result: SearchResult, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("message")
            result.message.write(to: &writer)
            writer.name("matches")
            writer.array(result.matches) { writer, match in
                writer.object { writer in
                    writer.member("start", Int64(match.start))
                    writer.member("length", Int64(match.length))
                }
            }
        }
    }

    static let schemas: [(String, Schema)] = [
        (
            "SearchPage",
            .object([
                .required("results", .list(.named("SearchResult"))),
                .required("people", .list(.named("User")), "The profiles of the authors."),
                .optional("nextCursor", .text()),
                .required(
                    "isPartial", .boolean,
                    "True if the search reached the limit of what one search may cost before it had looked at "
                        + "everything. If there is a `nextCursor`, it goes on where the search stopped, even if the "
                        + "page is short or empty. Otherwise, search for more specific words or use filters."),
                .optional(
                    "coverage", .number(0...1),
                    "Of a search by meaning: of all messages that the user may see, the part whose meaning is "
                        + "known, from 0 to 1. New messages follow within seconds."),
                .optional(
                    "withoutMeaning", .text(),
                    "Of a search by both: why meanings could not be compared, so that the results are only "
                        + "those that have the words: `provider_failed`, `budget_exhausted` or `consent_required`."),
            ])
        ),
        (
            "SearchResult",
            .object([
                .required("message", .named("Message"), "As the user sees it."),
                .required(
                    "matches",
                    .list(
                        .object([
                            .required("start", .integer(), "In UTF-16 code units of the text."),
                            .required("length", .integer()),
                        ]), maximum: SearchMatch.maxRanges), "Where the text has the words. Empty without a query."),
            ])
        ),
    ]
}

extension OperationRequest {
    func choice<Value>(
        _ name: String, among choices: [String], _ make: (String) -> Value?
    ) throws -> Value? {
        guard let text = parameters[name] else { return nil }
        guard choices.contains(text), let value = make(text) else {
            throw Problem.invalid(name, "\(name) is one of \(choices.joined(separator: ", ")).")
        }
        return value
    }

    func time(_ name: String) throws -> Timestamp? {
        guard let text = parameters[name] else { return nil }
        guard let time = Timestamp(text) else {
            throw Problem.invalid(name, "\(name) must be a time of RFC 3339, such as 2026-11-20T22:53:00Z.")
        }
        return time
    }

    func flag(_ name: String) throws -> Bool {
        switch parameters[name] {
        case nil, "false": return false
        case "true": return true
        default: throw Problem.invalid(name, "\(name) is true or false.")
        }
    }
}
