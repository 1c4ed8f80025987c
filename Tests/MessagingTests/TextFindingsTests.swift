import Languages
import Model
import Testing

@testable import Messaging

@Suite("What texts were found to have")
struct TextFindingsTests {
    private let chat = Chat(people: 2)
    private let findings = TextFindings()

    private func message(_ text: String) throws -> Message {
        let id = try chat.group([1])
        return try chat.send(text, to: id, by: 0).message
    }

    private func terms(_ sources: [String]) -> LazyGlossary {
        LazyGlossary(sources.map { GlossaryTerm(source: $0, target: "x") })
    }

    @Test("each is looked through once for each glossary")
    func once() throws {
        let message = try message("make a backup, and see https://example.org/disk")
        var (none, some, other) = (terms([]), terms(["backup", "disk"]), terms(["disk"]))
        let without = findings.finding(of: message, &none)
        #expect(without == TextFindings.Finding(hasWords: true, terms: ""))
        let with = findings.finding(of: message, &some)
        #expect(with?.terms == GlossaryTerm.fingerprint(of: [GlossaryTerm(source: "backup", target: "x")]))
        #expect(findings.finding(of: message, &other) == without)
        #expect(findings.count == 3)
        var again = terms(["backup", "disk"])
        #expect(findings.finding(of: message, &again) == with)
        #expect(findings.count == 3)
    }

    @Test("other words, and other parts that are kept, are another text")
    func changed() throws {
        var glossary = terms(["disk"])
        var message = try message("`disk`")
        #expect(findings.finding(of: message, &glossary)?.hasWords == false)
        message.ranges = []
        #expect(try #require(findings.finding(of: message, &glossary)).terms.isEmpty == false)
        message.deletedAt = message.sentAt
        #expect(findings.finding(of: message, &glossary) == nil)
    }

    @Test("there are never more than two generations of them")
    func bounded() throws {
        var message = try message("one")
        var glossary = terms([])
        for number in 0..<(3 * TextFindings.limit) {
            message.text = "number \(number)"
            _ = findings.finding(of: message, &glossary)
        }
        #expect(findings.count <= 2 * TextFindings.limit)
    }
}
