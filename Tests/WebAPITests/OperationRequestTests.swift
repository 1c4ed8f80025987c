import Model
import Testing

@testable import WebAPI

@Suite("What is said of a body that does not match")
struct OperationRequestTests {
    private enum Kind: String, Decodable { case audio, video }
    private struct Inner: Decodable { var kinds: [Kind] }
    private struct Body: Decodable {
        var kind: Kind?
        var inner: Inner?
        var count: Int?
    }

    private static let schema = Schema.object([
        .required("kind", .choice(["audio", "video"])),
        .optional("inner", .either([.null, .object([.required("kinds", .list(.choice(["audio", "video"])))])])),
        .optional("count", .integer()),
    ])

    @Test(
        "the error names the member and what it may be",
        arguments: [
            (#"{"kind": "smoke"}"#, "kind", "kind is one of audio, video."),
            (#"{"inner": {"kinds": ["audio", ""]}}"#, "inner.kinds[1]", "inner.kinds[1] is one of audio, video."),
            (#"{"kind": 3}"#, "kind", "kind must be a string."),
            (#"{"inner": {}}"#, "inner.kinds", "inner.kinds is missing."),
            (#"{"count": "3"}"#, "count", "count must be a whole number."),
            ("nonsense", "body", "The body must be a JSON object."),
        ])
    func errors(_ body: String, field: String, detail: String) throws {
        var request = OperationRequest(principal: nil, parameters: [:], body: Array(body.utf8), clientAddress: "")
        request.bodySchema = Self.schema
        let problem = try #require(throws: Problem.self) { try request.decode(Body.self) }
        #expect(problem.field == field && problem.detail == detail)
    }

    @Test("every choice of the schemas is found by its path")
    func named() {
        #expect(Schema.named("CallRecord").choices(at: []) == nil)
        #expect(Schema.map(.choice(["a"])).choices(at: [Key("x")]) == ["a"])
        #expect(Schema.list(.choice(["a"])).choices(at: []) == nil)
    }

    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(_ text: String) { stringValue = text }

        init?(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }
}
