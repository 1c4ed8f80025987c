import Foundation
import HTTPTypes
import Model
import Testing

@testable import WebAPI

/// The rules of the document, with the schemas of the server and a few operations. Tests/IntegrationTests/test_openapi.py
/// checks the document that a server serves.
@Suite struct OpenAPIDocumentTests {
    private static func operation(
        _ name: String, access: WebAPI.Operation.Access = .user, body: Schema? = nil
    ) -> WebAPI.Operation {
        WebAPI.Operation(
            name: name, method: .post, path: "/v1/" + name, summary: "Does \(name).", access: access, body: body,
            responses: [.ok(.named("CallResult"))], problems: [.conflict]
        ) { _ in .noContent }
    }

    private static func document() throws -> [String: Any] {
        let operations = [
            operation("calls.empty", body: .object([])),
            operation("calls.optional", body: .object([.optional("kind", .choice(["audio", "video"]))])),
            operation("calls.named", body: .named("MediaChange")),
            operation("calls.required", body: .object([.required("offer", .named("SessionDescription"))])),
            operation("calls.without"), operation("calls.endpoint", access: .endpoint),
            operation("server.public", access: .anyone),
        ]
        let text = OpenAPIDocument(operations: operations, schemas: Schemas.all, version: "1.2.3").text
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private static func operation(_ name: String, in document: [String: Any]) throws -> [String: Any] {
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        return try #require(paths["/v1/" + name]?["post"] as? [String: Any])
    }

    /// The schemas of objects in a value, as JSON without descriptions, by their paths.
    private static func objects(in value: Any, at path: String, into found: inout [String: [String]]) {
        if let members = value as? [String: Any] {
            let isObject = members["type"] as? String == "object"
            if isObject || members["anyOf"] != nil {
                let bare = members.filter { $0.key != "description" && $0.key != "examples" }
                if let data = try? JSONSerialization.data(withJSONObject: bare, options: .sortedKeys) {
                    found[String(decoding: data, as: UTF8.self), default: []].append(path)
                }
            }
            for (name, member) in members { objects(in: member, at: path + "/" + name, into: &found) }
        } else if let elements = value as? [Any] {
            for (index, element) in elements.enumerated() { objects(in: element, at: "\(path)/\(index)", into: &found) }
        }
    }

    @Test func noObjectIsDescribedTwice() throws {
        var found: [String: [String]] = [:]
        Self.objects(in: try Self.document(), at: "", into: &found)
        #expect(found.count > 20)
        for (schema, paths) in found where paths.count > 1 { Issue.record("\(paths) are the same: \(schema)") }
    }

    @Test func everyReferenceIsResolved() throws {
        let document = try Self.document()
        var names: Set<String> = []
        func collect(_ value: Any) {
            if let members = value as? [String: Any] {
                if let reference = members["$ref"] as? String { names.insert(reference) }
                members.values.forEach(collect)
            } else if let elements = value as? [Any] {
                elements.forEach(collect)
            }
        }
        collect(document)
        #expect(names.contains("#/components/responses/Conflict"))
        for name in names {
            var value: Any? = document
            for part in name.split(separator: "/").dropFirst() { value = (value as? [String: Any])?[String(part)] }
            #expect(value != nil, "\(name) is missing")
        }
    }

    @Test func aBodyIsDemandedIfAMemberIs() throws {
        let document = try Self.document()
        func isDemanded(_ name: String) throws -> Bool? {
            let body = try Self.operation(name, in: document)["requestBody"] as? [String: Any]
            return body?["required"] as? Bool
        }
        #expect(try isDemanded("calls.required") == true)
        #expect(try isDemanded("calls.optional") == false)
        #expect(try isDemanded("calls.named") == false)
        // Nothing is there to be sent.
        #expect(try isDemanded("calls.empty") == nil)
        #expect(try isDemanded("calls.without") == nil)
    }

    @Test func theEndpointIsAParameterWhereItIsNeeded() throws {
        let document = try Self.document()
        let endpoint = try Self.operation("calls.endpoint", in: document)["parameters"] as? [[String: String]]
        #expect(endpoint == [["$ref": "#/components/parameters/Endpoint"]])
        #expect(try Self.operation("calls.without", in: document)["parameters"] == nil)
        let components = try #require(document["components"] as? [String: [String: [String: Any]]])
        let parameter = try #require(components["parameters"]?["Endpoint"])
        #expect(parameter["name"] as? String == "Switchboard-Endpoint")
        #expect(parameter["in"] as? String == "header")
        #expect(parameter["required"] as? Bool == true)
    }

    @Test func everyResponseHasItsHeaders() throws {
        let document = try Self.document()
        let responses = try #require(
            try Self.operation("server.public", in: document)["responses"] as? [String: [String: Any]])
        let success = try #require(responses["200"]?["headers"] as? [String: Any])
        #expect(Set(success.keys) == ["Switchboard-Request", "RateLimit", "RateLimit-Policy"])
        #expect(responses["429"]?["$ref"] as? String == "#/components/responses/RateLimited")
        let components = try #require(document["components"] as? [String: [String: [String: Any]]])
        let limited = try #require(components["responses"]?["RateLimited"]?["headers"] as? [String: Any])
        #expect(Set(limited.keys) == Set(success.keys).union(["Retry-After"]))
        #expect(components["headers"]?["Switchboard-Request"]?["required"] as? Bool == true)
    }

    @Test func tagsAndServersAreDescribed() throws {
        let document = try Self.document()
        let tags = try #require(document["tags"] as? [[String: String]])
        #expect(tags.compactMap { $0["name"] } == ["server", "calls"])
        #expect(tags.allSatisfy { $0["description"]?.isEmpty == false })
        #expect((document["servers"] as? [[String: String]])?.first?["url"] == "/")
    }

    @Test func examplesAreMadeFromTheirSchemas() {
        let examples = SchemaExamples([("Cycle", .object([.required("next", .named("Cycle"))]))] + Schemas.all)
        let body = Schema.object([
            .required("email", Schemas.email), .required("kind", .choice(["audio", "video"])),
            .required("people", .list(.identifier, minimum: 2)), .optional("seconds", .integer(10...120)),
        ])
        let id = SchemaExamples.identifier
        #expect(
            examples.example(of: body).encoded
                == #"{"email":"ann@example.com","kind":"audio","people":["\#(id)","\#(id)"]}"#)
        // All members, if none is required.
        #expect(examples.example(of: .object([.optional("seconds", .integer(10...120))])).encoded == #"{"seconds":10}"#)
        #expect(examples.example(of: .named("MediaChange")).encoded.hasPrefix(#"{"audio":false"#))
        #expect(examples.example(of: .named("Positions")).encoded.hasSuffix(#"":["e1",18]}"#))
        // A cycle ends.
        #expect(examples.example(of: .named("Cycle")).encoded.hasSuffix("}"))
    }
}
