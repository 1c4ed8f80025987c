import Foundation
import Model
import Testing

@Suite struct JSONWriterTests {
    @Test func valuesAndNamesAreSeparated() {
        var writer = JSONWriter(capacity: 0)
        writer.object { writer in
            writer.member("text", "a")
            writer.member("none", nil as String?)
            writer.member("number", -1 as Int64)
            writer.name("list")
            writer.array([1, 2] as [Int64]) { $0.write($1) }
            writer.name("empty")
            writer.object { _ in }
            writer.name("raw")
            writer.write(json: "null")
            writer.member("infinite", Double.infinity)
            writer.member("yes", true)
        }
        #expect(
            writer.text
                == #"{"text":"a","number":-1,"list":[1,2],"empty":{},"raw":null,"infinite":0,"yes":true}"#)
    }

    @Test func everyCharacterComesBack() throws {
        var scalars = (0..<0x100).compactMap { Unicode.Scalar($0 as UInt32) }
        scalars.append("\u{1F600}")
        let all = String(String.UnicodeScalarView(scalars))
        var writer = JSONWriter(capacity: 0)
        writer.object { writer in
            writer.name(escaping: all)
            writer.write(all)
        }
        let value = try JSONSerialization.jsonObject(with: Data(writer.bytes)) as? [String: String]
        #expect(value == [all: all])
        var escaped: [UInt8] = []
        JSONWriter.escape("\"\\\n\r\t\u{0}\u{1f}\u{7f}/", into: &escaped)
        #expect(String(decoding: escaped, as: UTF8.self) == #"\"\\\n\r\t\u0000\u001f"# + "\u{7f}/")
    }
}
