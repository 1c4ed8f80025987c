import Assistant
import Languages
import Model
import Testing

/// What a model may ask for, and how it is asked.
struct ToolTests {
    private static func arguments(_ text: String) throws(ToolRefusal) -> ToolArguments {
        try ToolArguments(ModelToolCall(id: "1", name: "search", arguments: text))
    }

    @Test func argumentsAreReadAsFarAsTheyCan() throws {
        let read = try Self.arguments(
            #"{"query": "tent\u0007", "in": null, "limit": 3, "unread": true, "more": {"a": [1]}, "from": " "}"#)
        #expect(read.text("query") == "tent")
        #expect(read.text("in") == nil)
        #expect(read.text("from") == nil)
        #expect(read.numbers["limit"] == 3)
        #expect(read.flags["unread"] == true)
        #expect(try Self.arguments("").texts.isEmpty)
        #expect(try Self.arguments(" ").texts.isEmpty)
        #expect(
            try Self.arguments(#"{"query": "\#(String(repeating: "x", count: 2_000))"}"#).text("query")?.count == 500)
    }

    @Test(arguments: ["{", "[]", "null", "\"x\"", "{\"query\": \"x\"} {}", "{\"query\": \"x\"", "nonsense"])
    func othersAreRefused(_ text: String) {
        #expect(throws: ToolRefusal.self) { try Self.arguments(text) }
    }

    @Test func aLongOneIsRefused() {
        #expect(throws: ToolRefusal("The arguments are too long.")) {
            try Self.arguments("{\"query\": \"\(String(repeating: "x", count: 20_000))\"}")
        }
    }

    /// As strict modes want them: every member is required, and no other is allowed.
    @Test(arguments: AssistantTool.allCases)
    func schemasAreStrict(_ tool: AssistantTool) throws {
        var reader = JSONReader(Array(tool.model.schema.utf8))
        var (properties, required): ([String], [String]) = ([], [])
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "properties":
                try reader.beginObject()
                while let name = try reader.nextKey() {
                    properties.append(name)
                    _ = try reader.skip()
                }
            case "required":
                try reader.beginArray()
                while try reader.hasElement() { required.append(try reader.readString()) }
            default: _ = try reader.skip()
            }
        }
        #expect(properties == required && !properties.isEmpty)
        #expect(tool.model.schema.hasSuffix("\"additionalProperties\":false}"))
    }

    @Test func earlierAnswersHaveNoAddresses() {
        let user = UserID.make(at: Timestamp(milliseconds: 1))
        var run = AssistantRun(
            id: .make(at: Timestamp(milliseconds: 1)), thread: .make(at: Timestamp(milliseconds: 1)), user: user,
            question: "Who?", scope: AssistantScope(), askedAt: Timestamp(milliseconds: 1), model: "m", isHosted: true)
        run.status = .done
        var gone = AnswerSentence("A secret.")
        gone.withdraw()
        run.sentences = [AnswerSentence("Ben, at ben@example.org."), gone]
        var failed = run
        failed.status = .failed
        let prompt = AssistantPrompt(
            question: "And now?", by: "Ann", at: Timestamp(milliseconds: 0), scope: AssistantScope(),
            earlier: [failed, run], conversations: [("c1", "Garden", false)])
        let turns = prompt.dialogue.turns
        #expect(turns.count == 3)
        #expect(turns[0] == .user(#"{"question":"Who?"}"#))
        #expect(turns[1] == .model(text: "Ben, at ….", calls: []))
        #expect(
            turns[2]
                == .user(
                    #"{"question":"And now?","user":"Ann","now":"1970-01-01T00:00:00.000Z","conversations":"#
                        + #"[{"id":"c1","name":"Garden","kind":"group"}]}"#))
    }

    @Test func questionsAreChecked() throws {
        func ask(_ texts: [String], _ scope: AssistantScope = AssistantScope()) throws(Problem) -> AssistantQuestion {
            try AssistantQuestion(
                clientID: .make(at: Timestamp(milliseconds: 1)), questions: texts, field: { "questions[\($0)]" },
                thread: nil, scope: scope, digest: [])
        }
        #expect(try ask([" What? \n"]).questions == ["What?"])
        for wrong in ["", " \n", String(repeating: "x", count: 4_001)] {
            let problem = #expect(throws: Problem.self) { try ask(["x", wrong]) }
            #expect(problem?.field == "questions[1]")
        }
        let problem = #expect(throws: Problem.self) { try ask(["x"], AssistantScope(audience: .conversation)) }
        #expect(problem?.field == "conversation")
    }
}
