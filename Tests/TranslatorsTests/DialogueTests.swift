import Languages
import ProviderCodecs
import Testing

/// What models stream, in the ways in which services do it.
struct DialogueTests {
    private static func chat(_ events: [String]) throws(TranslationFailure) -> (text: String, reply: ModelReply) {
        var parts = DialogueParts()
        var text = ""
        for event in events { text += try ChatDialogue.read(Array(event.utf8), into: &parts) }
        return (text, try parts.reply(endings: ["stop", "tool_calls"]))
    }

    private static func piece(_ json: String) -> String { #"{"choices":[{"index":0,"delta":\#(json)}]}"# }
    private static let end = #"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#

    @Test func textComesInPieces() throws {
        let read = try Self.chat([
            Self.piece(#"{"role":"assistant","content":null}"#), Self.piece(#"{"content":"Hel"}"#),
            Self.piece(#"{"content":"lo"}"#), #"{"choices":[{"delta":{},"finish_reason":"stop"}],"timings":{}}"#,
            #"{"choices":[],"usage":{"prompt_tokens":1}}"#, "[DONE]",
        ])
        #expect(read.text == "Hello")
        #expect(read.reply == ModelReply(text: "Hello"))
    }

    /// By index; by id without one; by order without either; whole; and all with the index 0.
    @Test(arguments: [
        [
            #"{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"{\"x\""}}]}"#,
            #"{"tool_calls":[{"index":1,"id":"b","function":{"name":"two","arguments":""}}]}"#,
            #"{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}"#,
        ],
        [
            #"{"tool_calls":[{"id":"a","function":{"name":"one","arguments":"{\"x\""}}]}"#,
            #"{"tool_calls":[{"id":"a","function":{"arguments":":1}"}}]}"#,
            #"{"tool_calls":[{"id":"b","function":{"name":"two"}}]}"#,
        ],
        [
            #"{"tool_calls":[{"id":"a","function":{"name":"one","arguments":"{\"x\""}}]}"#,
            #"{"tool_calls":[{"function":{"arguments":":1}"}}]}"#,
            #"{"tool_calls":[{"id":"b","function":{"name":"two","arguments":""}}]}"#,
        ],
        [
            #"{"tool_calls":[{"id":"a","function":{"name":"one","arguments":{"x":1}}},{"id":"b","function":{"name":"two"}}]}"#
        ],
        [
            #"{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"{\"x\":1}"}}]}"#,
            #"{"tool_calls":[{"index":0,"id":"b","function":{"name":"two","arguments":""}}]}"#,
        ],
    ])
    func callsArePutTogether(_ pieces: [String]) throws {
        let read = try Self.chat(pieces.map { Self.piece($0) } + [Self.end])
        #expect(read.reply.calls.map(\.id) == ["a", "b"])
        #expect(read.reply.calls.map(\.name) == ["one", "two"])
        #expect(read.reply.calls.map(\.arguments) == [#"{"x":1}"#, ""])
    }

    @Test(arguments: [
        [], ["{"], ["[]"], [#"{"error":{"message":"x"}}"#], [piece(#"{"content":"half"}"#)],
        [#"{"choices":[{"delta":{"content":"x"},"finish_reason":"length"}]}"#],
        [piece(#"{"refusal":"I will not"}"#), end], [piece(#"{"tool_calls":[{"index":0,"function":{}}]}"#), end],
        Array(repeating: piece(#"{"tool_calls":[{"function":{"name":"x"}}]}"#), count: 17) + [end],
    ])
    func whatIsCutOrWrongIsNothing(_ events: [String]) {
        #expect(throws: TranslationFailure.self) { try Self.chat(events) }
    }

    @Test func messagesAreRead() throws {
        var parts = DialogueParts()
        var text = ""
        for event in [
            #"{"type":"message_start","message":{"usage":{"input_tokens":1}}}"#, #"{"type":"ping"}"#,
            #"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            #"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I look."}}"#,
            #"{"type":"content_block_stop","index":0}"#,
            #"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"search","input":{}}}"#,
            #"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"query\":"}}"#,
            #"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"x\"}"}}"#,
            #"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}"#,
            #"{"type":"message_stop"}"#,
        ] { text += try MessagesDialogue.read(Array(event.utf8), into: &parts) }
        #expect(text == "I look.")
        let call = ModelToolCall(id: "t", name: "search", arguments: #"{"query":"x"}"#)
        #expect(try parts.reply(endings: ["tool_use"]) == ModelReply(text: "I look.", calls: [call]))
        #expect(throws: TranslationFailure.self) {
            try MessagesDialogue.read(Array(#"{"type":"error","error":{}}"#.utf8), into: &parts)
        }
    }

    /// However a stream is cut into parts, and whatever ends its lines.
    @Test(arguments: ["\n", "\r\n", "\r"])
    func eventsAreTheSameHoweverTheyCome(_ end: String) throws {
        let stream = [
            ": ping", "", "event: x", "data: one", "", "data:two", "data: lines", "id: 1", "", "retry: 5", "", "data",
            "",
            "data: left",
        ].joined(separator: end)
        for size in 1...9 {
            var reader = EventReader()
            var events: [String] = []
            let bytes = Array(stream.utf8)
            for start in stride(from: 0, to: bytes.count, by: size) {
                events += try reader.read(Array(bytes[start..<min(start + size, bytes.count)])).map {
                    String(decoding: $0, as: UTF8.self)
                }
            }
            #expect(events == ["one", "two\nlines"])
        }
        var reader = EventReader()
        #expect(throws: TranslationFailure.self) { try reader.read(Array(repeating: 0x78, count: 2 << 20)) }
    }
}
