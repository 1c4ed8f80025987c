internal import Languages
package import Messaging
import Metrics
internal import Model
package import Storage

/// Calls of engines: one of a hosted service is reserved on its payer's budget, with what it may cost, and settled with what
/// the service says that it used; all are counted for metrics, by what they are for.
package struct ProviderAccounting: Sendable {
    package struct OpenCall: Sendable {
        fileprivate var call: ProviderCall
        fileprivate var isHosted: Bool
        private let meter = TokenMeter()

        fileprivate init(_ call: ProviderCall, isHosted: Bool) {
            self.call = call
            self.isHosted = isHosted
        }

        /// Runs the requests of the call.
        func metered<Result>(_ body: () async -> Result) async -> Result {
            await TokenMeter.$current.withValue(meter, operation: body)
        }

        fileprivate var usage: TokenUsage? { meter.usage }
    }

    private let store: Store
    private let commands: ConversationCommands

    package init(store: Store, commands: ConversationCommands) {
        self.store = store
        self.commands = commands
    }

    /// - Parameter call: whose `tokens` are an estimate.
    /// - Returns: nil if the payer's budget, or the server's, has not so much left.
    func begin(_ call: ProviderCall, isHosted: Bool) async throws -> OpenCall? {
        guard isHosted else { return OpenCall(call, isHosted: false) }
        let commands = commands
        let reserved = try await store.write { store in
            var call = call
            call.at = store.now
            return try commands.reserve(call, in: store)
        }.value
        return reserved.map { OpenCall($0, isHosted: true) }
    }

    func end(_ open: OpenCall, _ outcome: ProviderCall.Outcome) async throws {
        var call = open.call
        if open.isHosted {
            let commands = commands
            let usage = open.usage
            call = try await store.write { try commands.settle(open.call, outcome, usage: usage, in: $0) }.value
        } else {
            call.tokens = open.usage ?? TokenUsage()
            call.microDollars = 0
        }
        count(call, outcome)
    }

    private func count(_ call: ProviderCall, _ outcome: ProviderCall.Outcome) {
        let labels = [("feature", call.purpose), ("engine", call.engine)]
        Counter(label: "provider_calls_total", dimensions: labels + [("outcome", outcome.rawValue)]).increment()
        for (kind, tokens) in [
            ("input", call.tokens.input), ("cached", call.tokens.cached), ("output", call.tokens.output),
        ] {
            Counter(label: "provider_tokens_total", dimensions: labels + [("kind", kind)]).increment(by: tokens)
        }
        Counter(label: "provider_micro_dollars_total", dimensions: labels).increment(by: call.microDollars)
    }
}
