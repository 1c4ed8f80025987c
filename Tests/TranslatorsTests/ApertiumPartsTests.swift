import Languages
import ProviderCodecs
import Testing

@testable import Translators

@Suite("Apertium's files and streams")
struct ApertiumPartsTests {
    @Test func modesAreReadAsAShellWould() throws {
        let text = """
            lt-proc -w '/usr/a b/x.bin' | cg-proc -w '/x.rlx.bin' | apertium-tagger -g $2 '/x.prob' | lt-proc $1 '/g.bin'

            """
        let mode = try #require(ApertiumMode(text))
        #expect(
            mode.commands == [
                ["lt-proc", "-z", "-w", "/usr/a b/x.bin"], ["cg-proc", "-z", "-w", "/x.rlx.bin"],
                ["apertium-tagger", "-z", "-g", "/x.prob"], ["lt-proc", "-z", "-g", "/g.bin"],
            ])
        #expect(mode.files == ["/usr/a b/x.bin", "/x.rlx.bin", "/x.prob", "/g.bin"])
        #expect(
            ApertiumMode(text, withoutTagger: true)?.commands == [
                ["lt-proc", "-z", "-w", "/usr/a b/x.bin"], ["cg-proc", "-1", "-n", "-z", "-w", "/x.rlx.bin"],
                ["lt-proc", "-z", "-g", "/g.bin"],
            ])
    }

    @Test(arguments: [
        "", "|", "rm -r /", "lt-proc x | sh", "lt-proc 'x", "lt-proc x; rm y", "lt-proc `x`", "lt-proc > x",
    ])
    func otherProgramsAreNotRun(text: String) {
        #expect(ApertiumMode(text) == nil)
    }

    @Test func marksAreCountedAndRemoved() {
        let output = ApertiumOutput("*Xyzzy és @blanc i #gran/gros casa. * [1] 3")
        #expect(output.text == "Xyzzy és blanc i gran casa.  [1] 3")
        #expect(output.unknownWords == 3)
        #expect(output.isUnderstood(wordsInText: 20) && !output.isUnderstood(wordsInText: 19))
        #expect(!ApertiumOutput("*x").isUnderstood(wordsInText: 0))
    }

    @Test func wordsAreCountedWhereTheyAreNotKept() {
        #expect(MaskedText("L'any 2024, @ann és aquí.", keeping: [12..<16]).wordCount == 3)
        #expect(MaskedText("मैं घर जा रहा हूँ", keeping: []).wordCount == 5)
        #expect(MaskedText("12 ! - ' 😀", keeping: []).wordCount == 0)
    }

    @Test func responsesEndWithTheirNonce() {
        let text = MaskedText("La casa", keeping: []).written(as: .superblanks)
        #expect(ApertiumStream.request(text, nonce: "n1") == Array("La casa\n\0[n1]\0".utf8))
        let cases = [
            ("La casa\n\0[n1]\0", "La casa"), ("\n\0[n1]\0", ""), ("\0[n1]\0", ""), ("La casa\0[n1]\0", "La casa"),
            ("La casa\n\0[n2]\0", nil), ("La casa\n[n1]\0", nil), ("a\0b\0[n1]\0", nil), ("[n1]\0", nil), ("", nil),
            ("La casa\n\0[n1]", nil),
        ]
        for (response, expected) in cases {
            #expect(ApertiumStream.translation(in: Array(response.utf8), nonce: "n1") == expected, "\(response)")
        }
        #expect(ApertiumStream.translation(in: [0xFF, 0] + Array("[n1]\0".utf8), nonce: "n1") == nil)
    }

    @Test func twoSlots() {
        var table = SlotTable(count: 2)
        let first = ["a", "a", "b", "c"].map { table.take($0) }
        #expect(first == [.init(index: 0, replaced: nil), nil, .init(index: 1, replaced: nil), nil])
        for lease in first.compactMap(\.self) { table.release(lease) }
        // Only the second one is unused then, and then again.
        let second = ["a", "c"].map { table.take($0) }
        #expect(second == [.init(index: 0, replaced: nil), .init(index: 1, replaced: "b")])
        for lease in second.suffix(1).compactMap(\.self) { table.release(lease) }
        let third = table.take("b")
        #expect(third == .init(index: 1, replaced: "c"))
    }
}
