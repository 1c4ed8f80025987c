package import Languages

/// Reads an event stream (WHATWG HTML section 9.2) as it comes: the data of each event, without names, ids and comments.
package struct EventReader: Sendable {
    /// Of one event, in bytes.
    package static let maxEvent = 1 << 20

    private var line: [UInt8] = []
    private var data: [UInt8]?
    /// The line before ended with a carriage return, to which a line feed belongs.
    private var isAfterReturn = false

    package init() {}

    /// - Returns: the data of the events that have ended, in their order.
    package mutating func read(_ bytes: [UInt8]) throws(TranslationFailure) -> [[UInt8]] {
        var events: [[UInt8]] = []
        for byte in bytes {
            if isAfterReturn {
                isAfterReturn = false
                if byte == UInt8(ascii: "\n") { continue }
            }
            guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else {
                guard line.count + (data?.count ?? 0) < Self.maxEvent else {
                    throw .invalidResponse("an event is too long")
                }
                line.append(byte)
                continue
            }
            isAfterReturn = byte == UInt8(ascii: "\r")
            endLine(&events)
        }
        return events
    }

    private mutating func endLine(_ events: inout [[UInt8]]) {
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty else {
            if let data { events.append(data) }
            data = nil
            return
        }
        guard line.starts(with: Array("data:".utf8)) else { return }
        var value = line.dropFirst(5)
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        if data == nil { data = [] } else { data?.append(UInt8(ascii: "\n")) }
        data? += value
    }
}
