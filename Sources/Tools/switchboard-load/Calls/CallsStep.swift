import Histogram

/// What a life cycle is made of and is timed: each write until its answer, and each thing that the other side sees
/// until it does.
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

/// What was counted and timed on one event loop, to be added up.
struct CallsTally: Sendable {
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

    mutating func add(_ other: CallsTally) {
        for (index, histogram) in other.times.enumerated() { times[index].add(histogram) }
        lifeCycles += other.lifeCycles
        errors.merge(other.errors, uniquingKeysWith: +)
    }
}
