package import Languages
package import Model

/// How much hosted services may get. It is reserved before a call, so that no user can cost the operator more.
package struct ProviderBudget: Hashable, Sendable {
    /// Characters of one user in a day of UTC.
    package var dailyCharacters: Int64
    /// Of all users in a month of UTC.
    package var monthlyCharacters: Int64
    /// Seconds of speech of one user in a day of UTC.
    package var dailySpeechSeconds: Int64
    /// Of all users in a month of UTC.
    package var monthlySpeechSeconds: Int64

    package init(
        dailyCharacters: Int64 = 200_000, monthlyCharacters: Int64 = 20_000_000, dailySpeechSeconds: Int64 = 14_400,
        monthlySpeechSeconds: Int64 = 1_440_000
    ) {
        self.dailyCharacters = dailyCharacters
        self.monthlyCharacters = monthlyCharacters
        self.dailySpeechSeconds = dailySpeechSeconds
        self.monthlySpeechSeconds = monthlySpeechSeconds
    }
}

/// What hosted services were given: texts, and speech.
package struct ProviderUsage: Hashable, Sendable {
    package var characters: Int64
    /// Of speech.
    package var milliseconds: Int64

    package init(characters: Int64 = 0, milliseconds: Int64 = 0) {
        self.characters = characters
        self.milliseconds = milliseconds
    }

    package static prefix func - (usage: Self) -> Self {
        Self(characters: -usage.characters, milliseconds: -usage.milliseconds)
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
    package var given: ProviderUsage
    /// What the service says that it used; an estimate while it runs, and where it does not say.
    package var tokens: TokenUsage
    /// Of the tokens and of the speech, by the prices in the configuration.
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
        given = ProviderUsage(characters: characters)
    }

    /// A call that transcribes speech, which is billed by its length.
    package init(at: Timestamp, payer: UserID, purpose: String, engine: String, milliseconds: Int64) {
        self.init(at: at, payer: payer, purpose: purpose, engine: engine, texts: 0, characters: 0)
        given.milliseconds = milliseconds
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
        guard try isWithinBudget(call.payer, call.given, in: store) else { return nil }
        try store.addProviderUsage(call.given, of: call.payer, in: call.at.day)
        try store.addProviderUsage(call.given, of: nil, in: call.at.month)
        var call = call
        call.microDollars = intelligence.microDollars(of: call)
        call.id = try store.insert(call)
        return call
    }

    /// Says how it ended. If it was refused, the reservation is given back.
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
        }
        if outcome == .refused {
            try store.addProviderUsage(-call.given, of: call.payer, in: call.at.day)
            try store.addProviderUsage(-call.given, of: nil, in: call.at.month)
            call.given = ProviderUsage()
        }
        call.microDollars = intelligence.microDollars(of: call)
        try store.update(call)
        return call
    }

    /// Whether so many characters are left today of this user, and of the server this month.
    package func isWithinBudget(_ user: UserID, _ characters: Int64, in store: some MessagingStore) throws -> Bool {
        try isWithinBudget(user, ProviderUsage(characters: characters), in: store)
    }

    /// Only the requested budget is checked: a user who has used up the texts of a day may still speak.
    private func isWithinBudget(_ user: UserID, _ more: ProviderUsage, in store: some MessagingStore) throws -> Bool {
        let budget = intelligence.budget
        let (day, month) = (
            try store.providerUsage(of: user, in: store.now.day), try store.providerUsage(of: nil, in: store.now.month)
        )
        func isLeft(_ amount: KeyPath<ProviderUsage, Int64>, _ daily: Int64, _ monthly: Int64) -> Bool {
            more[keyPath: amount] == 0
                || day[keyPath: amount] + more[keyPath: amount] <= daily
                    && month[keyPath: amount] + more[keyPath: amount] <= monthly
        }
        return isLeft(\.characters, budget.dailyCharacters, budget.monthlyCharacters)
            && isLeft(\.milliseconds, 1_000 * budget.dailySpeechSeconds, 1_000 * budget.monthlySpeechSeconds)
    }
}

extension IntelligenceRules {
    fileprivate func microDollars(of call: ProviderCall) -> Int64 {
        let speech = minutePrice * 1_000_000 / 60_000 * Double(call.given.milliseconds)
        // Up, but for what is left of a whole number by the arithmetic.
        let whole = Int64(exactly: max(speech - 0.001, 0).rounded(.up)) ?? 0
        return (prices[call.engine]?.microDollars(of: call.tokens) ?? 0) + whole
    }
}
