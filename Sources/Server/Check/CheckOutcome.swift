/// What is wrong, and what to do about it.
struct CheckProblem: Error, Hashable, Sendable {
    /// A clause without a capital and without a period: "nothing listens there".
    let detail: String
    /// What to do, in sentences; nil if the detail says it.
    let remedy: String?

    init(_ detail: String, remedy: String? = nil) {
        self.detail = detail
        self.remedy = remedy
    }

    /// A reason, if there is one, as a part of a sentence: " (it responded 500)".
    static func clause(_ reason: String?) -> String {
        guard var reason else { return "" }
        if reason.hasSuffix(".") { reason.removeLast() }
        return " (\(reason.prefix(1).lowercased() + reason.dropFirst()))"
    }

    /// Both in a row, for a line of text.
    var text: String { remedy.map { "\(detail). \($0)" } ?? "\(detail)." }
}

/// The outcome of one check.
enum CheckOutcome: Hashable, Sendable {
    /// It works. The warnings are sentences about what will fail later, or fails for some clients.
    case passed(String, warnings: [String] = [])
    case failed(CheckProblem)
    /// It is off, with the reason: a setting, or a role that the server does not have.
    case notConfigured(String)
    /// It was not tried, with the reason: an earlier check failed, or it cannot be tried from here.
    case skipped(String)

    /// The name of the outcome in JSON.
    var status: CheckStatus {
        switch self {
        case .passed(_, let warnings): warnings.isEmpty ? .ok : .warning
        case .failed: .failed
        case .notConfigured: .notConfigured
        case .skipped: .skipped
        }
    }
}

/// The outcomes without their details.
enum CheckStatus: String, Hashable, Sendable {
    case ok
    /// It works, but not for long or not for everybody.
    case warning
    case failed
    case notConfigured
    case skipped
}
