import Model

/// What a client holds of a conversation and of its marks: it keeps the higher versions, whatever they came with.
struct HeldConversation {
    var conversation: JSONValue?
    var members: [String: JSONValue] = [:]
    var people: [String: JSONValue] = [:]
    var messages: [Int64: JSONValue] = [:]
    /// The numbers that it knows everything of.
    var first: Int64 = 1
    var last: Int64 = 0
    var marks: [String: JSONValue] = [:]
    var scheduled: JSONValue?
    /// What the user has noted on messages.
    var notes: [Int64: JSONValue] = [:]
    /// The latest translation of each message into `language`.
    private(set) var translations: [Int64: JSONValue] = [:]
    private(set) var language: String?
    /// The latest hints on each message.
    private(set) var hints: [Int64: JSONValue] = [:]
    /// When the user wants hints.
    private(set) var hintMode: String?
    /// The position of the last window of both.
    private(set) var translationsSince: Int64 = 0
    /// Marks that have fallen.
    private(set) var fallen: [String] = []

    var held: ClosedRange<Int64>? { first <= last ? first...last : nil }

    mutating func replaceConversation(_ snapshot: JSONValue) {
        conversation = snapshot["conversation"]
        members = Self.keyed(snapshot["members"], by: "user")
        people = Self.keyed(snapshot["people"], by: "id")
        messages = [:]
        for message in snapshot["messages"]?.items ?? [] {
            if let number = message["number"]?.integer { messages[number] = message }
        }
        let range = snapshot["range"]?.items.compactMap(\.integer) ?? []
        last = conversation?["lastNumber"]?.integer ?? 0
        first = range.first ?? last + 1
        for number in messages.keys { notes[number] = nil }
        for note in snapshot["own"]?.items ?? [] { keep(note) }
    }

    mutating func replaceMarks(_ snapshot: JSONValue) {
        let before = marks
        marks = Self.keyed(snapshot["marks"], by: "user")
        // Others may be shown no more.
        for (user, new) in marks { check(new, after: before[user]) }
        scheduled = snapshot["scheduled"]
    }

    mutating func replaceTranslations(_ snapshot: JSONValue, at position: Int64) {
        (translations, hints) = ([:], [:])
        (language, translationsSince) = (snapshot["language"]?.string, position)
        hintMode = snapshot["hintMode"]?.string
        for row in snapshot["translations"]?.items ?? [] { Self.keep(row, in: &translations) }
        for row in snapshot["hints"]?.items ?? [] { Self.keep(row, in: &hints) }
    }

    /// What is of a newer text waits for it, and what is of an older text is nothing any more.
    private static func keep(_ row: JSONValue, in rows: inout [Int64: JSONValue]) {
        guard let number = row["number"]?.integer, let of = row["of"]?.integer, let touched = row["touched"]?.integer
        else { return }
        let (heldOf, heldTouched) = (rows[number]?["of"]?.integer, rows[number]?["touched"]?.integer)
        if (of, touched) >= (heldOf ?? 0, heldTouched ?? 0) { rows[number] = row }
    }

    /// - Parameter gap: numbers that are not sent: what is before them is not held any more.
    mutating func apply(_ rows: [JSONValue], gap: [Int64] = []) {
        if gap.count == 2 {
            first = gap[1] + 1
            last = max(last, gap[1])
            messages = messages.filter { $0.key >= first }
        }
        for row in rows {
            if let new = row["conversation"], !Self.isOlder(new, than: conversation) { conversation = new }
            if let new = row["member"], let user = new["user"]?.string, !Self.isOlder(new, than: members[user]) {
                members[user] = new
            }
            if let person = row["person"], let user = person["id"]?.string { people[user] = person }
            if let new = row["message"], let number = new["number"]?.integer, number >= first,
                !Self.isOlder(new, than: messages[number])
            {
                messages[number] = new
                last = max(last, number)
                note(last: new)
            }
            if let new = row["marks"], let user = new["user"]?.string {
                // Of somebody whose marks are not shown any more.
                let isEmpty = new["shown"]?.items.isEmpty ?? false && new["delivered"]?.integer == 0
                if !isEmpty { check(new, after: marks[user]) }
                marks[user] = isEmpty ? nil : new
            }
            if let new = row["scheduled"] { scheduled = new }
            if let note = row["own"] { keep(note) }
            if let translation = row["translation"] { Self.keep(translation, in: &translations) }
            if let new = row["hints"] { Self.keep(new, in: &hints) }
        }
    }

    /// The conversation's last message is told by the message alone.
    private mutating func note(last message: JSONValue) {
        guard let number = message["number"], number.integer ?? 0 > conversation?["lastNumber"]?.integer ?? 0,
            let sentAt = message["sentAt"]
        else { return }
        conversation = conversation?.replacing("lastNumber", with: number).replacing("lastSentAt", with: sentAt)
    }

    private mutating func check(_ new: JSONValue, after old: JSONValue?) {
        for name in ["read", "delivered"] where new[name]?.integer ?? .max < old?[name]?.integer ?? 0 {
            fallen.append("\(name) fell: \(old ?? .null), now \(new)")
        }
    }

    private mutating func keep(_ note: JSONValue) {
        guard let number = note["number"]?.integer,
            note["counter"]?.integer ?? 0 >= notes[number]?["counter"]?.integer ?? 0
        else { return }
        notes[number] = note
        if note["hidden"] != nil { remove { $0 == number } }
    }

    /// What the user has cleared, which their membership tells.
    mutating func keep(spans: JSONValue?) {
        let start = (spans?.items.compactMap { $0["from"]?.integer }.min() ?? .max - 1) + 1
        remove { $0 < start }
    }

    /// With messages goes what hangs on them.
    private mutating func remove(_ isGone: (Int64) -> Bool) {
        messages = messages.filter { !isGone($0.key) }
        translations = translations.filter { !isGone($0.key) }
        hints = hints.filter { !isGone($0.key) }
    }

    /// The conversation is off the user's list: nothing of it is left.
    mutating func clear() {
        remove { _ in true }
        first = last + 1
    }

    private static func isOlder(_ new: JSONValue, than old: JSONValue?) -> Bool {
        new["version"]?.integer ?? 0 < old?["version"]?.integer ?? 0
    }

    private static func keyed(_ list: JSONValue?, by name: String) -> [String: JSONValue] {
        var keyed: [String: JSONValue] = [:]
        for item in list?.items ?? [] { if let key = item[name]?.string { keyed[key] = item } }
        return keyed
    }
}

extension HeldConversation {
    /// How it differs from what the user is sent who begins to listen now. Empty if it does not.
    ///
    /// - Parameter all: all messages that the user sees.
    func differences(from fresh: HeldConversation, all: [Int64: JSONValue]) -> [String] {
        var found = fallen
        func compare(_ what: String, _ mine: JSONValue?, _ theirs: JSONValue?) {
            if mine != theirs { found.append("\(what): held \(mine ?? .null), fresh \(theirs ?? .null)") }
        }
        compare("conversation", conversation, fresh.conversation)
        for user in Set(members.keys).union(fresh.members.keys) {
            compare("member", members[user], fresh.members[user])
        }
        for (user, person) in fresh.people { compare("person", people[user], person) }
        for number in Set(messages.keys).union(all.keys.filter { $0 >= first }) {
            compare("message", Self.shown(messages[number], as: all[number]), all[number])
        }
        for (number, message) in fresh.messages {
            compare("window", Self.shown(message, as: all[number]), all[number])
            let isDeleted = message["deletedAt"] != nil
            compare(
                "note on \(number)", Self.shown(notes[number], isDeleted: isDeleted),
                Self.shown(fresh.notes[number], isDeleted: isDeleted))
        }
        // Marks of those who are not members any more are not shown.
        let users = fresh.members.filter { $0.value["state"]?.string == "member" }.keys
        for user in Set(users).union(fresh.marks.keys) {
            compare("marks", Self.shown(marks: marks[user]), Self.shown(marks: fresh.marks[user]))
        }
        compare("scheduled", scheduled, fresh.scheduled)
        return found
    }

    /// In which language a message of a former time in the conversation is its author may say later, and nobody is told of it.
    private static func shown(_ message: JSONValue?, as other: JSONValue?) -> JSONValue? {
        other?["language"] == nil ? message?.removing("language") : message
    }

    /// With a message its reactions are deleted, which no note tells.
    private static func shown(_ note: JSONValue?, isDeleted: Bool) -> JSONValue? {
        guard var note else { return nil }
        if isDeleted { note = note.replacing("reacted", with: .array([])) }
        guard note["starred"] == .plain("true") || note["reacted"]?.items.isEmpty == false else { return nil }
        return note["hidden"] == nil ? note : nil
    }

    /// Who has shown nothing cannot be told from who has not read.
    private static func shown(marks: JSONValue?) -> JSONValue? {
        guard let marks, marks["read"] != nil || marks["delivered"]?.integer ?? 0 > 0 || marks["shown"]?.items != []
        else { return nil }
        return marks
    }
}
