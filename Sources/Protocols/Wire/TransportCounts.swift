/// A number for each transport.
package struct TransportCounts: Hashable, Sendable {
    private var numbers: SIMD4<UInt64> = .zero

    package init() {}

    package subscript(transport: Flow.Transport) -> UInt64 {
        get { numbers[Int(transport.rawValue) & 3] }
        set { numbers[Int(transport.rawValue) & 3] = newValue }
    }

    package static func += (left: inout TransportCounts, right: TransportCounts) {
        left.numbers &+= right.numbers
    }
}
