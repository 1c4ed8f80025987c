import Testing
import WebAPI

@Suite struct JSONTests {
    @Test func documentsAreEncodedInOrder() {
        let document = JSON.object([
            ("b", .null), ("a", .array([true, 1, "x"])), ("a \"name\"\n", .text("\u{1}\\")), ("none", .array([])),
            ("members", .object([])), ("raw", .raw(#"{"c":1}"#)), ("half", .number(0.5)), ("nan", .number(.nan)),
        ])
        #expect(
            document.encoded
                == #"{"b":null,"a":[true,1,"x"],"a \"name\"\n":"\u0001\\","none":[],"members":{},"raw":{"c":1},"half":0.5,"nan":null}"#
        )
    }
}
