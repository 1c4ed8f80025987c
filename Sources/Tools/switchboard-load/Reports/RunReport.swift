import Foundation
import Histogram

/// The results of a run, as a table for people and as JSON, with the formatting that all runs share.
protocol RunReport: Sendable {
    var table: String { get }
    var json: Data { get throws }
}

private let points = [("p50", 50), ("p90", 90), ("p99", 99), ("p99.9", 99.9), ("max", 100)]

extension RunReport {
    /// The header of a table with rows of `percentiles`.
    var pointNames: [String] { points.map(\.0) }

    func percentiles(_ times: Histogram<UInt64>) -> [String] {
        times.totalCount == 0 ? ["-"] : points.map { "\(times.valueAtPercentile($0.1))" }
    }

    /// The percentiles by name; zeros if nothing was timed.
    func named(_ times: Histogram<UInt64>) -> [String: UInt64] {
        Dictionary(
            uniqueKeysWithValues: points.map { ($0.0, times.totalCount == 0 ? 0 : times.valueAtPercentile($0.1)) })
    }

    func decimal(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }

    func row(_ name: String, _ cells: [String]) -> String {
        name.padding(toLength: 18, withPad: " ", startingAt: 0)
            + cells.map { String(repeating: " ", count: max(1, 10 - $0.count)) + $0 }.joined()
    }

    func written(_ stats: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(stats)
    }
}
