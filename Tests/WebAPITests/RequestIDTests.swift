import Model
import TestSupport
import Testing
import Wire

@testable import WebAPI

@Suite struct RequestIDTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"

    @Test(arguments: [
        "00-\(trace)-b7ad6b7169203331-01", "00-\(trace)-b7ad6b7169203331-ff", "cc-\(trace)-b7ad6b7169203331-01",
        // A later version may have more fields (W3C Trace Context, section 3.2.4).
        "cc-\(trace)-b7ad6b7169203331-01-what-the-future-will-be-like",
    ])
    func aTraceIsTheRequest(header: String) {
        #expect(RequestID(traceparent: header)?.text == Self.trace)
        #expect(RequestID.make(traceparent: header).text == Self.trace)
    }

    @Test(arguments: [
        "", "-", "00", "00-\(trace)-b7ad6b7169203331", "00-\(trace)-b7ad6b7169203331-0",
        "00-\(trace)-b7ad6b7169203331-01-", "00-\(trace)-b7ad6b7169203331-01 ", "ff-\(trace)-b7ad6b7169203331-01",
        "cc-\(trace)-b7ad6b7169203331-01.x", "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-\(trace)-0000000000000000-01", "00-\(trace.uppercased())-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319\r-b7ad6b7169203331-01", "00-\(trace)-b7ad6b716920333é-1",
        "00-\(trace)-b7ad6b7169203331-01, 00-\(trace)-b7ad6b7169203331-01", "0g-\(trace)-b7ad6b7169203331-01",
        "00_\(trace)_b7ad6b7169203331_01", String(repeating: "0", count: 100_000),
    ])
    func anotherHeaderIsIgnored(header: String) {
        #expect(RequestID(traceparent: header) == nil)
        #expect(Self.isValid(RequestID.make(traceparent: header).text))
    }

    @Test func idsAreRandom() {
        #expect(Set((0..<1000).map { _ in RequestID.make() }).count == 1000)
        var random = SeededRandom(seed: 7)
        for _ in 0..<1000 { #expect(Self.isValid(RequestID.make(using: &random).text)) }
    }

    @Test func aProblemHasTheIDOfItsRequest() {
        let problem = Problem(.notFound, "There is none.")
        let id = RequestID.make()
        #expect(!problem.document.encoded.contains("request"))
        RequestID.$current.withValue(id) {
            #expect(problem.document.encoded.contains(#""request":"\#(id.text)""#))
        }
    }

    private static func isValid(_ text: String) -> Bool {
        text.utf8.count == 32 && text.contains { $0 != "0" } && text.allSatisfy { "0123456789abcdef".contains($0) }
    }
}
