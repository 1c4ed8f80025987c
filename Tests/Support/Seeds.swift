import Foundation

/// The first seed of a test that tries others in each run. A failure prints its seed, and `DEV_SWITCHBOARD_SEED` repeats
/// it.
package func freshSeed() -> UInt64 {
    ProcessInfo.processInfo.environment["DEV_SWITCHBOARD_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1 << 40)
}

extension RandomNumberGenerator {
    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}
