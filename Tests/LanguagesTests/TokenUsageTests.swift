import Languages
import Testing

@Suite("Tokens and what they cost")
struct TokenUsageTests {
    private func usage(_ json: String) -> TokenUsage? { TokenUsage(inResponse: Array(json.utf8)) }

    @Test func bothDialectsAreRead() {
        let chat =
            #"{"id": "x", "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100, "prompt_tokens_details": {"audio_tokens": 0, "cached_tokens": 600}, "cost": 0.5e-3}, "choices": []}"#
        #expect(usage(chat) == TokenUsage(input: 400, cached: 600, output: 100))
        let messages =
            #"{"usage": {"input_tokens": 300, "cache_read_input_tokens": 600, "cache_creation_input_tokens": 100, "output_tokens": 7, "service_tier": "standard"}}"#
        #expect(usage(messages) == TokenUsage(input: 400, cached: 600, output: 7))
        #expect(usage(#"{"usage": {"prompt_tokens": 8, "total_tokens": 8}}"#) == TokenUsage(input: 8))
        // More cached than there is.
        #expect(
            usage(#"{"usage": {"prompt_tokens": 8, "prompt_tokens_details": {"cached_tokens": 9}}}"#)
                == TokenUsage(cached: 8))
        #expect(
            usage(#"{"usage": {"prompt_tokens": 0, "cached_tokens": -9223372036854775808}}"#) == TokenUsage())
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"usage": null}"#, #"{"usage": {}}"#, #"{"usage": {"prompt_tokens": -1}}"#,
        #"{"usage": {"prompt_tokens": 1e99}}"#, #"{"usage": {"prompt_tokens": 99999999999999999999}}"#,
        #"{"usage": {"prompt_tokens": 5, "completion_tokens": 1.5}}"#, #"{"usage": {"prompt_tokens": "5"}}"#,
        #"{"usage": {"prompt_tokens": 5"#,
        // What a sum or a difference of cannot be.
        #"{"usage": {"input_tokens": -9223372036854775808, "cache_creation_input_tokens": -1}}"#,
        #"{"usage": {"input_tokens": 9223372036854775807, "cache_creation_input_tokens": 9223372036854775807}}"#,
    ])
    func nonsenseIsNone(json: String) { #expect(usage(json) == nil) }

    @Test func pricesAreMicroDollarsForATokenEach() {
        let price = TokenPrice(input: 2.5, cachedInput: 0.25, output: 10)
        #expect(price.microDollars(of: TokenUsage(input: 400, cached: 600, output: 100)) == 2_150)
        #expect(TokenPrice(input: 1).microDollars(of: TokenUsage(input: 1, cached: 2)) == 3)
        // What is less than one counts as one.
        #expect(TokenPrice(input: 0.15).microDollars(of: TokenUsage(input: 1)) == 1)
        #expect(TokenPrice().microDollars(of: TokenUsage(input: .max, cached: 0, output: .max)) == 0)
        #expect(price.microDollars(of: TokenUsage(input: .max)) == 0)
    }

    @Test func aMeterAddsAllResponsesUnlessOneDoesNotSay() async {
        let meter = TokenMeter()
        #expect(meter.usage == nil && TokenMeter.current == nil)
        await TokenMeter.$current.withValue(meter) {
            TokenMeter.current?.add(TokenUsage(input: 1))
            await Task { TokenMeter.current?.add(TokenUsage(output: 2)) }.value
        }
        #expect(meter.usage == TokenUsage(input: 1, output: 2))
        meter.add(nil)
        meter.add(TokenUsage(input: 1))
        #expect(meter.usage == nil)
        let other = TokenMeter()
        other.add(nil)
        other.add(TokenUsage(input: 1))
        #expect(other.usage == nil)
    }
}
