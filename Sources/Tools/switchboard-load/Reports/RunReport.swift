import Foundation
import Histogram

/// What a run found, as a table for people and as JSON; here is how every run shows its figures.
protocol RunReport: Sendable {
    var table: String { get }
    var json: Data { get throws }
}

private let points = [("p50", 50), ("p90", 90), ("p99", 99), ("p99.9", 99.9), ("max", 100)]

extension RunReport {
    /// The head of a table of times, below which rows of `percentiles` go.
    var pointNames: [String] { points.map(\.0) }

    func percentiles(_ times: Histogram<UInt64>) -> [String] {
        times.totalCount == 0 ? ["-"] : points.map { "\(times.valueAtPercentile($0.1))" }
    }

    /// The percentiles by name; zeros where nothing was timed.
    func named(_ times: Histogram<UInt64>) -> [String: UInt64] {
        Dictionary(
            uniqueKeysWithValues: points.map { ($0.0, times.totalCount == 0 ? 0 : times.valueAtPercentile($0.1)) })
    }

    func decimal(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }

    func row(_ name: String, _ cells: [String]) -> String {
        name.padding(toLength: 18, withPad: " ", startingAt: 0)
            + cells.map { String(repeating: " ", count: max(1, 10 - $0.count)) + $0 }.joined()
    }

    func written(_ figures: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(figures)
    }
}
