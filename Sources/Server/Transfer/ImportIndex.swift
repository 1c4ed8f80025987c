import Model
import Transfer

/// Where the records of some files are, in the order in which they are imported. It holds no texts: a message takes about
/// 150 bytes.
struct ImportIndex {
    /// A line that is not held.
    struct Entry {
        var file: Int
        var line: Int
        var offset: UInt64
        var count: Int
    }

    struct IndexedMessage {
        var time: Int64
        var id: String
        var entry: Entry
    }

    /// A conversation of a source.
    struct Lines {
        var source: String
        var id: String
        var conversation: [Entry] = []
        var messages: [IndexedMessage] = []
        var members: [Entry] = []
        var own: [Entry] = []
    }

    /// A line that cannot be imported.
    struct Wrong {
        var file: Int
        var line: Int
        var reason: String
    }

    private(set) var users: [(source: String, entry: Entry)] = []
    private(set) var conversations: [Lines] = []
    private(set) var wrong: [Wrong] = []
    private(set) var sources: Set<String> = []
    private(set) var count = 0
    private var positions: [String: Int] = [:]

    /// - Parameter source: of lines that name none.
    mutating func add(_ reader: LineReader, file: Int, source: String?) throws {
        try reader.forEach { line in
            do {
                guard let bytes = line.bytes else {
                    throw Problem(.invalidRequest, "A line has at most \(TransferFormat.maxLine) bytes.")
                }
                try add(
                    TransferReader.read(bytes), source,
                    Entry(
                        file: file, line: line.number, offset: line.offset, count: bytes.count))
            } catch let problem as Problem {
                wrong.append(Wrong(file: file, line: line.number, reason: problem.detail))
            }
        }
    }

    private mutating func add(_ line: TransferReader.Line, _ source: String?, _ entry: Entry) throws(Problem) {
        guard let source = line.source ?? source else {
            throw .invalid("source", "source is missing: name it in each line, or once with --source.")
        }
        sources.insert(source)
        count += 1
        guard let id = line.record.conversation else {
            users.append((source, entry))
            return
        }
        let key = TransferFormat.key("conversation", id, of: source)
        let position = positions[key] ?? conversations.count
        if position == conversations.count {
            positions[key] = position
            conversations.append(Lines(source: source, id: id))
        }
        switch line.record {
        case .user: break
        case .conversation: conversations[position].conversation.append(entry)
        case .message(let message):
            conversations[position].messages.append(
                IndexedMessage(time: message.sentAt.milliseconds, id: message.id, entry: entry))
        case .member: conversations[position].members.append(entry)
        case .own: conversations[position].own.append(entry)
        }
    }

    /// Sorts the messages of each conversation by their times, then by their ids.
    mutating func sort() {
        for index in conversations.indices {
            conversations[index].messages.sort { one, other in
                one.time != other.time
                    ? one.time < other.time : one.id.utf8.lexicographicallyPrecedes(other.id.utf8)
            }
        }
    }
}
