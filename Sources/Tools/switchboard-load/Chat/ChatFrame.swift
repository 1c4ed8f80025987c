/// The parts of a server's frame that a run of chat needs, scanned in one pass.
struct ChatFrame {
    var id: Int?
    /// The type of the problem, in place of a result.
    var error: String?
    var isHeartbeat = false
    /// The reason of a `bye`.
    var bye: String?
    var stream: String?
    var isSnapshot = false
    var hasRows = false
    var reset: String?
    var epoch = ""
    /// Of rows.
    var after: Int64 = 0
    var upTo: Int64 = 0
    /// Of a snapshot, or of a page.
    var sequence: Int64 = 0
    var gap: ClosedRange<Int64>?
    var messages: [SeenMessage] = []
    var inbox: [InboxRow] = []
    var translations: [SeenTranslation] = []
    var isDuplicate = false
    var hasLater = false
    var nextCursor: String?
    /// The id of the conversation of a result.
    var conversation: String?

    /// Reads the outermost members of a JSON object, and in them what is named above.
    init?(_ text: Span<UInt8>) {
        var scanner = JSONScanner(text)
        guard scanner.enterObject() else { return nil }
        while let key = scanner.nextKey() {
            switch key {
            case "id": id = scanner.integer()
            case "stream": stream = scanner.string()
            case "error": error = Self.member("type", of: &scanner) ?? "?"
            case "heartbeat":
                isHeartbeat = true
                scanner.skipValue()
            case "bye": bye = Self.member("reason", of: &scanner) ?? "?"
            case "reset": reset = Self.member("reason", of: &scanner) ?? "?"
            case "epoch": epoch = scanner.string() ?? ""
            case "after": after = Int64(scanner.integer() ?? 0)
            case "upTo": upTo = Int64(scanner.integer() ?? 0)
            case "seq": sequence = Int64(scanner.integer() ?? 0)
            case "gap": gap = Self.range(of: &scanner)
            case "snapshot":
                isSnapshot = true
                readContent(&scanner)
            case "result": readContent(&scanner)
            case "rows":
                hasRows = true
                readRows(&scanner)
            default: scanner.skipValue()
            }
        }
    }

    /// A snapshot, or the result of a request.
    private mutating func readContent(_ scanner: inout JSONScanner) {
        guard scanner.enterObject() else { return scanner.skipValue() }
        while let key = scanner.nextKey() {
            switch key {
            case "message": if let message = scanner.message() { messages.append(message) }
            case "messages":
                guard scanner.enterArray() else { break }
                while scanner.nextElement() { if let message = scanner.message() { messages.append(message) } }
            case "conversations":
                guard scanner.enterArray() else { break }
                while scanner.nextElement() { if let row = scanner.inboxRow() { inbox.append(row) } }
            case "translations":
                guard scanner.enterArray() else { break }
                while scanner.nextElement() { if let one = scanner.translation() { translations.append(one) } }
            case "conversation": conversation = Self.member("id", of: &scanner)
            case "duplicate":
                isDuplicate = true
                scanner.skipValue()
            case "hasLater": hasLater = scanner.boolean()
            case "nextCursor": nextCursor = scanner.string()
            case "position": readPosition(&scanner)
            default: scanner.skipValue()
            }
        }
    }

    private mutating func readRows(_ scanner: inout JSONScanner) {
        guard scanner.enterArray() else { return }
        let isInbox = stream?.hasPrefix("inbox:") == true
        while scanner.nextElement() {
            if isInbox {
                if let row = scanner.inboxRow() { inbox.append(row) }
                continue
            }
            guard scanner.enterObject() else { return }
            while let key = scanner.nextKey() {
                switch key {
                case "message": if let message = scanner.message() { messages.append(message) }
                case "translation": if let one = scanner.translation() { translations.append(one) }
                default: scanner.skipValue()
                }
            }
        }
    }

    private mutating func readPosition(_ scanner: inout JSONScanner) {
        guard scanner.enterArray(), scanner.nextElement() else { return scanner.skipValue() }
        epoch = scanner.string() ?? ""
        if scanner.nextElement() { sequence = Int64(scanner.integer() ?? 0) }
        while scanner.nextElement() { scanner.skipValue() }
    }

    private static func range(of scanner: inout JSONScanner) -> ClosedRange<Int64>? {
        guard scanner.enterArray(), scanner.nextElement(), let first = scanner.integer(), scanner.nextElement(),
            let last = scanner.integer()
        else { return nil }
        while scanner.nextElement() { scanner.skipValue() }
        return first <= last ? Int64(first)...Int64(last) : nil
    }

    /// A member of an object that is a string.
    private static func member(_ name: String, of scanner: inout JSONScanner) -> String? {
        guard scanner.enterObject() else {
            scanner.skipValue()
            return nil
        }
        var value: String?
        while let key = scanner.nextKey() {
            if key == name { value = scanner.string() } else { scanner.skipValue() }
        }
        return value
    }
}
