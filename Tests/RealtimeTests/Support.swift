import Foundation
import Model
import NIOCore
import Testing

@testable import Realtime

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
