/// What the run has to know of a message that it received.
struct SeenMessage: Hashable, Sendable {
    var number: Int64 = 0
    var version: Int64 = 0
    var textVersion: Int64 = 0
    var clientID = UUIDBits(high: 0, low: 0)
    var author = UUIDBits(high: 0, low: 0)
    /// The digits of the time, up to milliseconds: comparable.
    var sentAt: Int64 = 0
    var isDeleted = false
    /// Whether it is as it was sent.
    var isUnchanged = true
    /// Whether it counts as unread for others: a text or a file, not a notice.
    var isNotice = false
    /// In which language the server thinks that it is, and whether it is sure of that.
    var language = ""
    var isLanguageSure = false
}

/// A row of an inbox.
struct InboxRow: Hashable, Sendable {
    var conversation = ""
    var counter: Int64 = 0
    var unread = 0
    var isGone = false
    var lastMessage: SeenMessage?
    /// Messages up to this are read, or not the user's to see.
    var readUpTo: Int64 = 0
}

extension JSONScanner {
    /// Reads the document of a message.
    mutating func message() -> SeenMessage? {
        guard enterObject() else { return nil }
        var message = SeenMessage()
        while let key = nextKey() {
            switch key {
            case "number": message.number = Int64(integer() ?? 0)
            case "version": message.version = Int64(integer() ?? 0)
            case "textVersion": message.textVersion = Int64(integer() ?? 0)
            case "clientID": message.clientID = identifier() ?? message.clientID
            case "author": message.author = identifier() ?? message.author
            case "sentAt": message.sentAt = timeDigits()
            case "kind": message.isNotice = string() == "notice"
            case "language": (message.language, message.isLanguageSure) = language()
            case "deletedAt":
                message.isDeleted = true
                message.isUnchanged = false
                skipValue()
            case "editedAt":
                message.isUnchanged = false
                skipValue()
            default: skipValue()
            }
        }
        // Reactions change the version alone.
        if message.version != message.textVersion { message.isUnchanged = false }
        return message.number > 0 ? message : nil
    }

    /// Reads a row of an inbox.
    mutating func inboxRow() -> InboxRow? {
        guard enterObject() else { return nil }
        var row = InboxRow()
        while let key = nextKey() {
            switch key {
            case "id": row.conversation = string() ?? ""
            case "counter": row.counter = Int64(integer() ?? 0)
            case "unread": row.unread = integer() ?? 0
            case "lastMessage": row.lastMessage = message()
            case "membership": row.readUpTo = readUpTo()
            case "gone":
                row.isGone = true
                skipValue()
            default: skipValue()
            }
        }
        return row.conversation.isEmpty ? nil : row
    }

    /// Of a membership: the greater of what was read and of the number before the first that can be seen.
    private mutating func readUpTo() -> Int64 {
        guard enterObject() else { return 0 }
        var number = 0
        while let key = nextKey() {
            switch key {
            case "read": number = max(number, integer() ?? 0)
            case "spans":
                guard enterArray() else { break }
                while nextElement(), enterObject() {
                    while let key = nextKey() {
                        if key == "from" { number = max(number, integer() ?? 0) } else { skipValue() }
                    }
                }
            default: skipValue()
            }
        }
        return Int64(number)
    }

    private mutating func language() -> (code: String, isSure: Bool) {
        guard enterObject() else { return ("", false) }
        var (code, isSure) = ("", false)
        while let key = nextKey() {
            switch key {
            case "code": code = string() ?? ""
            case "confidence": isSure = string() == "high"
            default: skipValue()
            }
        }
        return (code, isSure)
    }

    private mutating func identifier() -> UUIDBits? { string().flatMap { UUIDBits($0) } }

    /// The digits of a time of RFC 3339 as a number, in milliseconds.
    private mutating func timeDigits() -> Int64 {
        var (value, count): (Int64, Int) = (0, 0)
        for byte in (string() ?? "").utf8 where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            guard count < 17 else { break }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            count += 1
        }
        while count < 17 {
            value *= 10
            count += 1
        }
        return value
    }
}
