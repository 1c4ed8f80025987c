extension Messages {
    /// What of a message its reader may not understand. What the server's lexicons know is there at once; while a
    /// language model is asked, the status is ``Translation/Status-swift.struct/queued``, and what it says comes as
    /// ``ChatMessage/hints``, where these are too.
    @discardableResult
    public func hints(on number: Int) async throws -> Hints {
        let result: HintsResult = try await realtime.request(
            "hints.request", NamingMessage(conversation: await realtime.resolve(conversation), number: number))
        await realtime.keep([.hints(result.hints)], in: conversation)
        return result.hints
    }

    /// How a draft for this conversation will sound: by rules of the server, and by a language model too if that is
    /// asked for. It is stored nowhere.
    ///
    /// - Parameters:
    ///   - text: The draft: at most 4,000 characters.
    ///   - language: The language of the draft, as a BCP 47 tag; nil if the server is to find out.
    ///   - usesModel: Whether a language model is asked as well.
    public func check(draft text: String, language: String? = nil, usesModel: Bool = false) async throws -> DraftReport
    {
        try await realtime.request(
            "drafts.check",
            WorkingOnDraft(
                conversation: await realtime.resolve(conversation), text: text, language: language, model: usesModel))
    }

    /// A draft written in another way by a language model: show it beside the draft, and let its author decide.
    ///
    /// - Parameters:
    ///   - text: The draft: at most 4,000 characters.
    ///   - style: In what way.
    ///   - language: The language of the draft, as a BCP 47 tag; nil if the server is to find out.
    public func rewrite(draft text: String, as style: DraftStyle, language: String? = nil) async throws -> String {
        let rewritten: RewrittenDraft = try await realtime.request(
            "drafts.rewrite",
            WorkingOnDraft(
                conversation: await realtime.resolve(conversation), text: text, language: language, style: style))
        return rewritten.text
    }

    /// Up to three short replies to a message, in its language: by a language model, or by templates for what it asks.
    /// Nothing is sent.
    public func suggestedReplies(to number: Int) async throws -> SuggestedReplies {
        try await realtime.request(
            "replies.suggest", NamingMessage(conversation: await realtime.resolve(conversation), number: number))
    }
}
