package import Languages
package import Model

/// What hosted services may be given: it is reserved before a call, so that nobody can cost the operator more.
package struct ProviderBudget: Hashable, Sendable {
    /// Characters of one user in a day of UTC.
    package var dailyCharacters: Int64
    /// Of all users in a month of UTC.
    package var monthlyCharacters: Int64

    package init(dailyCharacters: Int64 = 200_000, monthlyCharacters: Int64 = 20_000_000) {
        self.dailyCharacters = dailyCharacters
        self.monthlyCharacters = monthlyCharacters
    }
}

/// A call of a hosted service, as the operator can look it up. It has no text.
package struct ProviderCall: Hashable, Sendable {
    package enum Outcome: String, Hashable, Sendable, CaseIterable {
        case done
        /// It responded, and nothing of it could be used. It may cost all the same.
        case unusable
        /// It did not respond, or refused: it is not counted.
        case refused
    }

    package var id: Int64 = 0
    package var at: Timestamp
    /// Whose budget it drew on.
    package var payer: UserID
    package var purpose: String
    package var engine: String
    package var texts: Int
    package var characters: Int64
    /// What the service says that it used; an estimate while it runs, and where it does not say.
    package var tokens: TokenUsage
    /// Of the tokens, by the prices in the configuration.
    package var microDollars: Int64 = 0
    package var isEstimated: Bool
    /// Nil while it runs, and for ever if the server was killed meanwhile.
    package var outcome: Outcome?

    /// - Parameter estimate: of what it may use; none of an engine without tokens.
    package init(
        at: Timestamp, payer: UserID, purpose: String, engine: String, texts: Int, characters: Int64,
        estimate: TokenUsage = TokenUsage()
    ) {
        tokens = estimate
        isEstimated = estimate != TokenUsage()
        self.at = at
        self.payer = payer
        self.purpose = purpose
        self.engine = engine
        self.texts = texts
        self.characters = characters
    }
}

extension Timestamp {
    /// Such as `2026-11-26`, of UTC.
    var day: String { String(text.prefix(10)) }
    /// Such as `2026-11`.
    var month: String { String(text.prefix(7)) }
}

extension Problem {
    /// What hosted services may be given is used up, until the day ends.
    package static func budgetExhausted(at now: Timestamp) -> Problem {
        let day: Int64 = 86_400_000
        return Problem(
            .budgetExhausted, "What hosted services may be given is used up for today, or for this month.",
            retryAfter: day - now.milliseconds % day)
    }
}

// Budgets.
extension ConversationCommands {
    /// Reserves a call, unless the budget of its payer or of the server does not have so much left.
    ///
    /// - Returns: the call with its id; nil if it may not be made.
    package func reserve(_ call: ProviderCall, in store: some MessagingStore) throws -> ProviderCall? {
        guard try isWithinBudget(call.payer, call.characters, in: store) else { return nil }
        try store.addProviderUsage(call.characters, of: call.payer, in: call.at.day)
        try store.addProviderUsage(call.characters, of: nil, in: call.at.month)
        var call = call
        call.microDollars = intelligence.prices[call.engine]?.microDollars(of: call.tokens) ?? 0
        call.id = try store.insert(call)
        return call
    }

    /// Says how it ended. What was refused is given back.
    ///
    /// - Parameter usage: as the service says; nil if it does not, so that the estimate stays.
    @discardableResult
    package func settle(
        _ call: ProviderCall, _ outcome: ProviderCall.Outcome, usage: TokenUsage? = nil, in store: some MessagingStore
    ) throws -> ProviderCall {
        var call = call
        call.outcome = outcome
        if let usage = usage ?? (outcome == .refused ? TokenUsage() : nil) {
            (call.tokens, call.isEstimated) = (usage, false)
            call.microDollars = intelligence.prices[call.engine]?.microDollars(of: usage) ?? 0
        }
        if outcome == .refused {
            try store.addProviderUsage(-call.characters, of: call.payer, in: call.at.day)
            try store.addProviderUsage(-call.characters, of: nil, in: call.at.month)
            call.characters = 0
        }
        try store.update(call)
        return call
    }

    /// Whether so many characters are left today of this user, and of the server this month.
    package func isWithinBudget(_ user: UserID, _ characters: Int64, in store: some MessagingStore) throws -> Bool {
        let budget = intelligence.budget
        return try store.providerUsage(of: user, in: store.now.day) + characters <= budget.dailyCharacters
            && store.providerUsage(of: nil, in: store.now.month) + characters <= budget.monthlyCharacters
    }
}
