import Providers

/// What a push service says of a request, for operators.
enum PushReason {
    /// The status, and its words. Those that may be of an endpoint, a key or a token are left out: with a slash, or long.
    static func text(_ response: ProviderClient.Response) -> String {
        let text = ProviderClient.reason(response.body)
        var words = text.split(separator: " ")
        // The rest of the last one may be missing.
        if text.count >= ProviderClient.maxReasonLength { words = words.dropLast() + ["…"] }
        let shown = words.map { $0.utf8.count > 24 || $0.contains("/") ? "…" : $0 }
        return ([Substring("Its response was \(response.status).")] + shown).joined(separator: " ")
    }
}
