import Logging
import Synchronization

/// The minimum log level of all loggers, which a reload can change.
final class SharedLogLevel: Sendable {
    private let index: Atomic<Int>

    init(_ name: String) { index = Atomic(Self.index(of: name)) }

    var value: Logger.Level {
        let index = index.load(ordering: .relaxed)
        return Logger.Level.allCases.indices.contains(index) ? Logger.Level.allCases[index] : .info
    }

    func set(_ name: String) { index.store(Self.index(of: name), ordering: .relaxed) }

    private static func index(of name: String) -> Int {
        Logger.Level.allCases.firstIndex { $0.rawValue == name } ?? Logger.Level.allCases.firstIndex(of: .info) ?? 0
    }
}
