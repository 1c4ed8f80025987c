import Histogram

/// The timed steps of a life cycle: each request until its result, and each event until the other side receives it.
enum CallsStep: Int, CaseIterable, Sendable {
    case create, ringing, accept, answer, candidates, connected, end
    case seesRing, seesOffer, seesAnswer, seesCandidates, seesEnd
    case lifeCycle

    var name: String {
        switch self {
        case .create: "create"
        case .ringing: "ringing"
        case .accept: "accept"
        case .answer: "answer"
        case .candidates: "candidates"
        case .connected: "connected"
        case .end: "end"
        case .seesRing: "create to ring"
        case .seesOffer: "accept to offer"
        case .seesAnswer: "answer to answer"
        case .seesCandidates: "candidates there"
        case .seesEnd: "end to end"
        case .lifeCycle: "life cycle"
        }
    }
}

/// The counters and timings of one event loop, to be added up.
struct CallsCounters: Sendable {
    /// In microseconds.
    var times: [Histogram<UInt64>]
    var lifeCycles = 0
    var errors: [String: Int] = [:]

    init() {
        times = CallsStep.allCases.map { _ in Histogram(highestTrackableValue: 60_000_000) }
    }

    mutating func record(_ step: CallsStep, nanoseconds: UInt64) {
        times[step.rawValue].record(min(nanoseconds / 1_000, 60_000_000))
    }

    mutating func add(_ other: CallsCounters) {
        for (index, histogram) in other.times.enumerated() { times[index].add(histogram) }
        lifeCycles += other.lifeCycles
        errors.merge(other.errors, uniquingKeysWith: +)
    }
}
