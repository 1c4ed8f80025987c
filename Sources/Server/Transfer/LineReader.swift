import Foundation
import Transfer

/// Reads the lines of a file one after another, and those at known offsets again.
final class LineReader {
    struct Line {
        /// From 1.
        var number: Int
        var offset: UInt64
        /// Without its end. Nil: it has more bytes than a line may have, or the file is no text there.
        var bytes: [UInt8]?
    }

    private static let chunk = 1 << 18

    let path: String
    private let handle: FileHandle

    /// - Throws: `ImportError` that names the file.
    init(path: String) throws {
        self.path = path
        guard let handle = FileHandle(forReadingAtPath: path) else { throw ImportError("\(path) cannot be read.") }
        self.handle = handle
    }

    deinit { try? handle.close() }

    /// All lines but empty ones. What is too long is passed over in chunks.
    func forEach(_ body: (Line) throws -> Void) throws {
        try handle.seek(toOffset: 0)
        var (number, start, rest, dropped) = (1, UInt64(0), [UInt8](), 0)
        func end() throws {
            // One more for a carriage return.
            let isTooLong = dropped > 0 || rest.count > TransferFormat.maxLine + 1
            var bytes = rest
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
            if isTooLong || bytes.contains(where: { $0 != 0x20 && $0 != 0x09 }) {
                try body(Line(number: number, offset: start, bytes: isTooLong ? nil : bytes))
            }
            start += UInt64(dropped + rest.count + 1)
            (number, rest, dropped) = (number + 1, [], 0)
        }
        while let data = try handle.read(upToCount: Self.chunk), !data.isEmpty {
            var position = data.startIndex
            while let newline = data[position...].firstIndex(of: UInt8(ascii: "\n")) {
                rest += data[position..<newline]
                try end()
                position = newline + 1
            }
            rest += data[position...]
            if rest.count > TransferFormat.maxLine + 1 { (dropped, rest) = (dropped + rest.count, []) }
        }
        if dropped > 0 || !rest.isEmpty { try end() }
    }

    func read(at offset: UInt64, count: Int) throws -> [UInt8] {
        try handle.seek(toOffset: offset)
        guard let data = try handle.read(upToCount: count), data.count == count else {
            throw ImportError("\(path) has changed while it was read.")
        }
        return Array(data)
    }
}

/// Why an import cannot go on, for the operator.
struct ImportError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
