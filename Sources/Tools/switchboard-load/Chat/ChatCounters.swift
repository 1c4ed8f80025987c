import Histogram

/// What is timed.
enum ChatStep: Int, CaseIterable, Sendable {
    case result, received, inInbox, translated, edited, deleted, marked, resumed

    var name: String {
        switch self {
        case .result: "send to result"
        case .received: "send to received"
        case .inInbox: "send to inbox"
        case .translated: "send to translated"
        case .edited: "edit"
        case .deleted: "deletion"
        case .marked: "mark"
        case .resumed: "resume"
        }
    }
}

/// The counters and timings of one event loop, to be added up.
struct ChatCounters: Sendable {
    static let longest: UInt64 = 120_000_000

    /// In microseconds.
    var times: [Histogram<UInt64>]
    var errors: [String: Int] = [:]
    /// Resets of streams, by their reason.
    var resets: [String: Int] = [:]
    var duplicates = 0

    init() { times = ChatStep.allCases.map { _ in Histogram(highestTrackableValue: Self.longest) } }

    mutating func record(_ step: ChatStep, microseconds: UInt64) {
        times[step.rawValue].record(min(microseconds, Self.longest))
    }

    subscript(step: ChatStep) -> Histogram<UInt64> { times[step.rawValue] }

    mutating func add(_ other: ChatCounters) {
        for (index, histogram) in other.times.enumerated() { times[index].add(histogram) }
        errors.merge(other.errors, uniquingKeysWith: +)
        resets.merge(other.resets, uniquingKeysWith: +)
        duplicates += other.duplicates
    }
}
