package import Model
import Synchronization

/// What a service has read and written, in tokens, by which it charges.
package struct TokenUsage: Hashable, Sendable {
    /// Read, but for `cached`.
    package var input: Int64
    /// Read again, of what it was given before, which costs less.
    package var cached: Int64
    package var output: Int64

    package init(input: Int64 = 0, cached: Int64 = 0, output: Int64 = 0) {
        self.input = input
        self.cached = cached
        self.output = output
    }

    package static func + (left: Self, right: Self) -> Self {
        Self(input: left.input + right.input, cached: left.cached + right.cached, output: left.output + right.output)
    }

    /// Of a request that is not sent yet: a token for three bytes, and as many as may be written.
    package init(estimateOf request: ModelRequest) {
        self.init(
            input: Int64(request.instruction.utf8.count + request.data.utf8.count) / 3, output: Int64(request.maxTokens)
        )
    }

    /// The same of a step of a dialogue.
    package init(estimateOf dialogue: ModelDialogue) {
        let tools = dialogue.tools.reduce(0) { $0 + $1.description.utf8.count + $1.schema.utf8.count }
        let bytes = dialogue.turns.reduce(dialogue.instruction.utf8.count + tools) { bytes, turn in
            switch turn {
            case .user(let text), .result(_, let text): bytes + text.utf8.count
            case .model(let text, let calls):
                calls.reduce(bytes + text.utf8.count) { $0 + $1.arguments.utf8.count }
            }
        }
        self.init(input: Int64(bytes) / 3, output: Int64(dialogue.maxTokens))
    }
}

/// Dollars for a million tokens, which are micro-dollars for one; 0 where nobody has said.
package struct TokenPrice: Hashable, Sendable {
    package var input: Double
    package var cachedInput: Double
    package var output: Double

    /// - Parameter cachedInput: 0 as other input.
    package init(input: Double = 0, cachedInput: Double = 0, output: Double = 0) {
        self.input = input
        self.cachedInput = cachedInput == 0 ? input : cachedInput
        self.output = output
    }

    package func microDollars(of usage: TokenUsage) -> Int64 {
        let cost =
            input * Double(usage.input) + cachedInput * Double(usage.cached) + output * Double(usage.output)
        return Int64(exactly: cost.rounded(.up)) ?? 0
    }
}

/// Collects what services say that requests used, of those that are sent while it is `current`: one that is divided, or
/// that a service does not understand at first, is several.
package final class TokenMeter: Sendable {
    @TaskLocal package static var current: TokenMeter?

    /// Nil where a response did not say it.
    private let state = Mutex<(usage: TokenUsage?, responses: Int)>((TokenUsage(), 0))

    package init() {}

    /// Nil unless every response had it.
    package var usage: TokenUsage? { state.withLock { $0.responses == 0 ? nil : $0.usage } }

    /// - Parameter usage: of a response; nil if it does not say.
    package func add(_ usage: TokenUsage?) {
        state.withLock { state in
            state.responses += 1
            state.usage = state.usage.flatMap { sum in usage.map { sum + $0 } }
        }
    }
}

extension TokenUsage {
    /// Tokens of one response beyond which a service says nonsense.
    private static let most: Int64 = 100_000_000

    /// The `usage` of a response of OpenAI's or Anthropic's; nil if it has none, or one that cannot be.
    package init?(inResponse body: [UInt8]) {
        do throws(JSONParseError) {
            var reader = JSONReader(body)
            try reader.beginObject()
            while let key = try reader.nextKey() {
                guard key == "usage", try reader.nextKind() == .object else {
                    _ = try reader.skip()
                    continue
                }
                guard let usage = try Self.read(&reader) else { return nil }
                self = usage
                return
            }
        } catch {}
        return nil
    }

    /// The object of a `usage`.
    ///
    /// - Parameter earlier: of the same response, where what was written comes alone.
    package static func read(
        _ reader: inout JSONReader, after earlier: TokenUsage? = nil
    ) throws(JSONParseError) -> TokenUsage? {
        var counts: [String: Int64] = [:]
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch (key, try reader.nextKind()) {
            case (_, .number): counts[key] = try count(&reader)
            case ("prompt_tokens_details", .object):
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    if key == "cached_tokens", try reader.nextKind() == .number {
                        counts[key] = try count(&reader)
                    } else {
                        _ = try reader.skip()
                    }
                }
            default: _ = try reader.skip()
            }
        }
        var usage: TokenUsage
        if let prompt = counts["prompt_tokens"] {
            let cached = min(counts["cached_tokens"] ?? 0, prompt)
            usage = TokenUsage(input: prompt - cached, cached: cached, output: counts["completion_tokens"] ?? 0)
        } else if let input = counts["input_tokens"] {
            usage = TokenUsage(
                input: input + (counts["cache_creation_input_tokens"] ?? 0),
                cached: counts["cache_read_input_tokens"] ?? 0, output: counts["output_tokens"] ?? 0)
        } else if let earlier, let output = counts["output_tokens"] {
            usage = earlier
            usage.output = output
        } else {
            return nil
        }
        let all = [usage.input, usage.cached, usage.output]
        return all.allSatisfy { (0...most).contains($0) } ? usage : nil
    }

    /// What is no count is none that can be.
    private static func count(_ reader: inout JSONReader) throws(JSONParseError) -> Int64 {
        let start = reader
        do throws(JSONParseError) {
            let number = try reader.readInteger()
            return (0...most).contains(number) ? number : most + 1
        } catch {
            reader = start
            _ = try reader.skip()
            return -1
        }
    }
}
