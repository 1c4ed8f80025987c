import Model
import Testing

@testable import WebAPI

@Suite struct RealtimeParametersTests {
    private func values(_ params: String, _ parameters: [Operation.Parameter]) throws -> [String: String] {
        let request = OperationRequest(
            principal: nil, parameters: [:], body: Array(params.utf8), clientAddress: "192.0.2.1")
        return try request.decode(RealtimeParameters.self, configuration: parameters).values
    }

    @Test func theParametersOfTheOperationAreRead() throws {
        let parameters: [Operation.Parameter] = [
            .path("call", .identifier, "The call."), .query("scope", .text(), "The scope."),
            .query("limit", .integer(1...100), "How many."), .query("link", .boolean, "Whether."),
        ]
        let params = #"{"call":"C","scope":"gateway","limit":7,"kind":{"a":[true]},"user":false}"#
        #expect(try values(params, parameters) == ["call": "C", "scope": "gateway", "limit": "7"])
        #expect(try values(#"{"limit":"7","call":null}"#, parameters) == ["limit": "7"])
        #expect(try values(#"{"link":true}"#, parameters) == ["link": "true"])
        #expect(try values(#"{"link":"false"}"#, parameters) == ["link": "false"])
        #expect(try values("", parameters).isEmpty)
        #expect(throws: Problem.self) { try values(#"{"limit":true}"#, parameters) }
        #expect(throws: Problem.self) { try values("[]", parameters) }
    }
}
