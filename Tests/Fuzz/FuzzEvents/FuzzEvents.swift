import Model
import Webhooks

/// What readers of events send, and the data of events that are redacted: a position is read as it was written, and names
/// are removed from the data of any bytes without a trap.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzEvents(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    checkPosition(text)
    if let type = try? EventType.subscribable(text), type.rawValue != text { fatalError("another event") }
    checkRedaction(text)
    return 0
}

private func checkPosition(_ text: String) {
    guard let position = try? EventPosition(text) else { return }
    guard position.number >= 0, text.utf8.count <= 64 else { fatalError("a position out of bounds") }
    guard (try? EventPosition(position.text)) == position else { fatalError("another position") }
    guard (try? position.number(epoch: position.epoch, 0...position.number)) == position.number else {
        fatalError("a position that is kept is gone")
    }
}

private func checkRedaction(_ text: String) {
    guard let user = UserID("019a3c5e-7b1d-7c40-9f2a-5d8e6b0c4a17") else { return }
    _ = EventData.redacting(user, isOwn: true, in: text)
    // Names of any characters are removed, and nothing else.
    func data(_ name: String?) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            EventParty(user: user, externalID: name, displayName: name).write(to: &writer)
            writer.member("state", "missed")
        }
        return writer.text
    }
    guard EventData.redacting(user, isOwn: false, in: data(text)) == data(nil) else { fatalError("a name is left") }
}
