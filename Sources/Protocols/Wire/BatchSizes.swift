/// How many datagrams system calls moved at once, counted in powers of two: 1, 2 to 3, 4 to 7, and so on.
package struct BatchSizes: Hashable, Sendable {
    package static let count = 8

    // Stored inline: an array would be a reference, and this is updated for every system call.
    private var first: SIMD8<UInt64> = .zero
    /// Datagrams in all batches together.
    package private(set) var datagrams: UInt64 = 0

    package init() {}

    /// The upper bound of each bucket but the last, which has none.
    package static var bounds: [Double] { (1..<count).map { Double((1 << $0) - 1) } }
    package var buckets: [UInt64] { (0..<Self.count).map { first[$0] } }

    package mutating func count(_ size: Int) {
        guard size > 0 else { return }
        let bucket = min(Int.bitWidth &- 1 &- size.leadingZeroBitCount, Self.count &- 1)
        first[bucket] &+= 1
        datagrams &+= UInt64(truncatingIfNeeded: size)
    }

    package static func += (left: inout BatchSizes, right: BatchSizes) {
        left.first &+= right.first
        left.datagrams &+= right.datagrams
    }
}
