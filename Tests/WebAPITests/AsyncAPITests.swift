import Foundation
import HTTPTypes
import Model
import Realtime
import Testing

@testable import WebAPI

/// `/asyncapi.json` is complete, and its schemas are those that draft-07 and 2020-12 share.
@Suite struct AsyncAPITests {
    private static let operations = [
        operation(
            "calls.accept",
            parameters: [.path("call", .identifier, "The call."), .query("twelfth", .integer(1...9), "Any other.")],
            body: .object([.required("clientID", .identifier), .optional("other", .choice(["hold", "end"]))]),
            responses: [.ok(.object([.required("call", .named("Call"))])), .noContent]),
        operation("me.get", parameters: [], body: nil, responses: [.ok(.named("Me"))]),
        operation("server.get", isRealtime: false, parameters: [], body: nil, responses: [.noContent]),
    ]
    private let document: [String: Any]
    private let schemas: [String: Any]
    private let text: String

    init() throws {
        let made = AsyncAPIDocument(
            operations: Self.operations, schemas: Schemas.all, limits: RealtimeLimits(), version: "1.2.3")
        text = made.text
        let names = made.namedSchemas.map(\.0) + made.messages.map(\.0)
        #expect(Set(names).count == names.count, "Two components have one name.")
        document = try #require(try JSONSerialization.jsonObject(with: Data(made.text.utf8)) as? [String: Any])
        let components = try #require(document["components"] as? [String: Any])
        schemas = try #require(components["schemas"] as? [String: Any])
    }

    private static func operation(
        _ name: String, isRealtime: Bool = true, parameters: [WebAPI.Operation.Parameter], body: Schema?,
        responses: [WebAPI.Operation.Success]
    ) -> WebAPI.Operation {
        WebAPI.Operation(
            name: name, method: .post, path: "/v1/test", summary: "A test.", isRealtime: isRealtime,
            parameters: parameters, body: body, responses: responses
        ) { _ in .noContent }
    }

    /// Every object in the document, with its path.
    private func objects(in value: Any, at path: String = "#") -> [(path: String, object: [String: Any])] {
        if let list = value as? [Any] {
            return list.enumerated().flatMap { objects(in: $0.element, at: "\(path)/\($0.offset)") }
        }
        guard let object = value as? [String: Any] else { return [] }
        return [(path, object)] + object.flatMap { objects(in: $0.value, at: "\(path)/\($0.key)") }
    }

    @Test func everyReferenceResolves() {
        let references = objects(in: document).compactMap { path, object in
            (object["$ref"] as? String).map { (path, $0) }
        }
        #expect(references.count > 100)
        for (path, reference) in references {
            var target: Any? = document
            for part in reference.split(separator: "/").dropFirst() {
                target = (target as? [String: Any])?[String(part)]
            }
            #expect(reference.hasPrefix("#/") && target is [String: Any], "\(path) refers to \(reference).")
        }
    }

    /// Keywords with one meaning in both drafts; beside a reference only a description, which draft-07 ignores.
    @Test func schemasHaveOnlyWhatTheDraftsShare() {
        let shared: Set = [
            "type", "enum", "const", "properties", "required", "items", "additionalProperties", "propertyNames",
            "anyOf",
            "allOf", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties", "pattern",
            "format",
            "description", "$ref",
        ]
        func check(_ value: Any, _ path: String) {
            guard let schema = value as? [String: Any] else {
                Issue.record("\(path) is not a schema.")
                return
            }
            let others = Set(schema.keys).subtracting(shared)
            #expect(others.isEmpty, "\(path) has \(others).")
            if schema["$ref"] != nil { #expect(Set(schema.keys).isSubset(of: ["$ref", "description"]), "\(path)") }
            for (name, member) in schema["properties"] as? [String: Any] ?? [:] { check(member, "\(path).\(name)") }
            for keyword in ["items", "additionalProperties", "propertyNames"] {
                if let inner = schema[keyword] { check(inner, "\(path)/\(keyword)") }
            }
            for keyword in ["anyOf", "allOf"] {
                for inner in schema[keyword] as? [Any] ?? [] { check(inner, "\(path)/\(keyword)") }
            }
        }
        for (name, schema) in schemas { check(schema, name) }
    }

    @Test func everyStreamAndChangeIsThere() throws {
        let streams = try #require(document["x-streams"] as? [[String: Any]])
        #expect(streams.compactMap { $0["name"] as? String } == StreamPattern.allCases.map(\.template))
        let types: [StreamPattern: [String]] = [
            .user: UserChangeType.allCases.map(\.rawValue), .call: CallChangeType.allCases.map(\.rawValue),
            .signals: SignalChangeType.allCases.map(\.rawValue), .presence: [], .captions: [], .captionTranslations: [],
            .conversation: [], .inbox: [], .typing: [], .marks: [], .translations: [], .run: [],
        ]
        for (pattern, stream) in zip(StreamPattern.allCases, streams) {
            let changes = try #require(stream["changes"] as? [[String: Any]])
            #expect(changes.compactMap { $0["type"] as? String } == types[pattern])
            let frames = try #require(stream["frames"] as? [String: Any])
            #expect(frames["snapshot"] != nil)
            #expect((frames["changes"] != nil) == (pattern.kind == .log))
            #expect((frames["rows"] != nil) == (pattern.kind == .keyed))
            #expect((frames["event"] != nil) == (pattern.event != nil))
            #expect(
                (stream["rows"] as? [String])?.isEmpty == ![.conversation, .marks, .translations].contains(pattern))
        }
        // The schema of a log's changes has an alternative for each type.
        for (name, pattern) in [
            ("UserChanges", StreamPattern.user), ("CallChanges", .call), ("SignalsChanges", .signals),
        ] {
            let found = try #require(schemas[name])
            let inTypes = objects(in: found).compactMap { path, object in
                path.hasSuffix("/properties/type") ? (object["enum"] as? [String])?.first : nil
            }
            #expect(Set(inTypes) == Set(types[pattern] ?? []), "\(name)")
        }
    }

    @Test func everyFrameResetCloseCodeAndLimitIsThere() throws {
        let components = try #require(document["components"] as? [String: Any])
        let messages = try #require(components["messages"] as? [String: Any])
        let kinds = ClientFrameKind.allCases.map(\.rawValue) + ServerFrameKind.allCases.map(\.rawValue)
        for kind in kinds where kind != "heartbeat" { #expect(messages[kind] != nil, "\(kind)") }
        #expect(messages["clientHeartbeat"] != nil && messages["serverHeartbeat"] != nil)
        #expect(messages.count == kinds.count + 1)

        let resets = try #require(document["x-resets"] as? [[String: Any]])
        #expect(resets.compactMap { $0["reason"] as? String } == ResetReason.allCases.map(\.rawValue))
        let codes = try #require(document["x-closeCodes"] as? [[String: Any]])
        let expected = Bye.allCases.map(\.code) + WebSocketCode.described.map { Int($0.code.number) }
        #expect(codes.compactMap { $0["code"] as? Int } == expected)
        #expect(codes.compactMap { $0["reason"] as? String } == Bye.allCases.map(\.reason))
        for entry in resets + codes { #expect((entry["action"] as? String)?.isEmpty == false, "\(entry)") }
        let limits = try #require(document["x-limits"] as? [[String: Any]])
        #expect(limits.compactMap { $0["name"] as? String } == RealtimeLimits().described.map(\.name))
    }

    @Test func aRequestHasTheParametersOfItsRoute() throws {
        let requests = try #require(document["x-requests"] as? [[String: Any]])
        #expect(requests.compactMap { $0["name"] as? String } == ["calls.accept", "me.get"])
        let accept = try #require(schemas["CallsAcceptRequest"] as? [String: Any])
        #expect(accept["required"] as? [String] == ["request", "params"])
        let params = objects(in: accept).flatMap { path, object in
            path.hasSuffix("/params/allOf/0/properties") || path.hasSuffix("/params/allOf/1/properties")
                ? Array(object.keys) : []
        }
        #expect(Set(params) == ["call", "twelfth", "clientID", "other"])
        let get = try #require(schemas["MeGetRequest"] as? [String: Any])
        #expect(get["required"] as? [String] == ["request"])
        #expect(schemas["ServerGetRequest"] == nil)
    }
}
