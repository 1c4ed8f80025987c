import Foundation
import Model
import NIOCore
import Testing

@testable import Realtime

/// Reproducible random numbers: a failing test's message contains the seed.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &+ 0x9E37_79B9_7F4A_7C15 }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// Ids that read as numbers.
func identifier<Entity>(_ number: Int) -> Identifier<Entity> {
    let digits = String(number)
    let padded = String(repeating: "0", count: 12 - digits.count) + digits
    guard let identifier = Identifier<Entity>("00000000-0000-7000-8000-" + padded) else {
        fatalError("\(number) makes no id")
    }
    return identifier
}

let alice: UserID = identifier(1)
let bob: UserID = identifier(2)
let morning = Timestamp(milliseconds: 1_790_000_000_000)

extension OutboundFrame {
    /// The frame as its receiver sees it.
    var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(text.readableBytesView))) as? [String: Any] ?? [:]
    }

    var string: String { String(buffer: text) }
}

extension StreamBatch {
    /// Batches of plain changes `from...through` of a stream.
    static func make(_ stream: StreamName, epoch: String = "e1", _ sequences: ClosedRange<Int64>) -> StreamBatch {
        let changes = sequences.map { sequence in
            Change(
                stream: stream, position: Position(epoch: epoch, sequence: sequence), type: "call",
                data: #"{"n":\#(sequence)}"#)
        }
        return batches(of: changes)[0]
    }
}
