/// The parts of a server's frame that the load generator needs, scanned without decoding all of its JSON: the generator
/// shares its cores with the server and must be cheap.
struct CallsFrame {
    var id: Int?
    var isError = false
    var isHeartbeat = false
    var isBye = false
    var stream: String?

    /// Reads the outermost members of a JSON object.
    init?(_ text: Span<UInt8>) {
        var scanner = JSONScanner(text)
        guard scanner.enterObject() else { return nil }
        while let key = scanner.nextKey() {
            switch key {
            case "id": id = scanner.integer()
            case "stream": stream = scanner.string()
            case "error":
                isError = true
                scanner.skipValue()
            case "heartbeat":
                isHeartbeat = true
                scanner.skipValue()
            case "bye":
                isBye = true
                scanner.skipValue()
            default: scanner.skipValue()
            }
        }
    }
}

extension Span<UInt8> {
    /// How often `needle` occurs in the text.
    func occurrences(of needle: StaticString) -> Int {
        let length = needle.utf8CodeUnitCount
        guard length > 0, count >= length else { return 0 }
        return needle.withUTF8Buffer { needle in
            var found = 0
            var index = 0
            let last = count - length
            while index <= last {
                if self[index] == needle[0] {
                    var matched = 1
                    while matched < length, self[index + matched] == needle[matched] { matched += 1 }
                    if matched == length {
                        found += 1
                        index += length
                        continue
                    }
                }
                index += 1
            }
            return found
        }
    }

    /// The string that follows the first `key`, such as the type of a problem.
    func text(after key: StaticString) -> String? {
        let length = key.utf8CodeUnitCount
        return key.withUTF8Buffer { key -> String? in
            var index = 0
            while index + length <= count {
                if (0..<length).allSatisfy({ self[index + $0] == key[$0] }) {
                    var bytes: [UInt8] = []
                    index += length
                    while index < count, self[index] != UInt8(ascii: "\"") {
                        bytes.append(self[index])
                        index += 1
                    }
                    return String(decoding: bytes, as: UTF8.self)
                }
                index += 1
            }
            return nil
        }
    }
}
