import Transfer

/// What has become of the lines of an import.
package struct ImportReport: Sendable {
    /// Reasons that are listed; more are counted.
    private static let maxReasons = 1000

    package internal(set) var new = 0
    package internal(set) var same = 0
    package internal(set) var refused = 0
    package internal(set) var stopped = 0
    /// Conversations whose members are in them now.
    package internal(set) var finished = 0
    /// Such as `users.jsonl:12: name is missing.`
    package private(set) var reasons: [String] = []
    private var unlisted = 0

    package var isComplete: Bool { refused == 0 && stopped == 0 }

    mutating func list(_ reason: String, at location: String) {
        if reasons.count < Self.maxReasons { reasons.append("\(location): \(reason)") } else { unlisted += 1 }
    }

    package var lines: [String] {
        var lines = ["\(new) new, \(same) skipped, \(refused) refused; \(finished) conversations are complete."]
        if unlisted > 0 { lines.append("\(unlisted) further reasons are not listed.") }
        if stopped > 0 {
            lines.append(
                "\(stopped) lines were not tried, since a line of their conversation was refused. Correct it and run the "
                    + "import again: it goes on where it stopped. Until then nobody sees those conversations.")
        }
        return lines
    }
}
