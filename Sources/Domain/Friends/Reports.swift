package import Accounts
package import Model

/// What a user reports about another to the operator.
package struct ReportRecord: Codable, Hashable, Sendable {
    package enum Reason: String, Codable, Hashable, Sendable, CaseIterable {
        case spam, abuse, impersonation, other
    }

    package var id: ReportID
    package var reporter: UserID
    package var user: UserID
    package var reason: Reason
    /// Empty if the reporter was deleted.
    package var text: String?
    package var createdAt: Timestamp
    /// The conversation of the message that was reported, if one was.
    package var conversation: ConversationID?
    /// The message as the reporter saw it, and before it what else the user wrote there, in order. Empty if the user was
    /// deleted.
    package var messages: [ReportedMessage] = []
    /// Nil while it is open.
    package var resolution: ReportResolution?

    package init(
        id: ReportID, reporter: UserID, user: UserID, reason: Reason, text: String?, createdAt: Timestamp
    ) {
        self.id = id
        self.reporter = reporter
        self.user = user
        self.reason = reason
        self.text = text
        self.createdAt = createdAt
    }

    /// A line of tab-separated columns; line breaks of the text are spaces.
    package var line: String {
        let words = (text ?? "-").split(whereSeparator: { $0.isNewline || $0 == "\t" }).joined(separator: " ")
        return [createdAt.text, id.text, reporter.text, user.text, reason.rawValue, words].joined(separator: "\t")
    }
}

/// A message that is evidence of a report: a copy, which stays when the message is edited, deleted or disappears.
package struct ReportedMessage: Codable, Hashable, Sendable {
    /// Bytes of the text; of a longer one the beginning is kept.
    package static let maxBytes = 2048
    /// Messages of a report, with the one that was reported.
    package static let maxCount = 5

    package var number: Int64
    package var sentAt: Timestamp
    package var text: String

    package init(number: Int64, sentAt: Timestamp, text: String) {
        self.number = number
        self.sentAt = sentAt
        self.text = text
    }
}

/// What an operator has made of a report.
package struct ReportResolution: Codable, Hashable, Sendable {
    package enum Outcome: String, Codable, Hashable, Sendable, CaseIterable {
        /// There is nothing to do.
        case dismissed
        /// Something was done about it.
        case acted
    }

    package var outcome: Outcome
    package var at: Timestamp
    /// As the audit log names who did it.
    package var by: String

    package init(outcome: Outcome, at: Timestamp, by actor: String) {
        self.outcome = outcome
        self.at = at
        by = actor
    }
}

extension FriendCommands {
    package struct Report: Codable, Hashable, Sendable {
        package var clientID: ClientID
        package var user: UserID
        package var reason: String
        package var text: String?
        package var conversation: ConversationID?
        package var number: Int64?

        package init(clientID: ClientID, user: UserID, reason: String, text: String? = nil) {
            self.clientID = clientID
            self.user = user
            self.reason = reason
            self.text = text
        }
    }

    /// Reports a user to the operator. The outcome says whether it was reported before.
    package func report(_ report: Report, by principal: Principal) async throws -> Bool {
        try FriendRules.cannotBeOneself(report.user, principal, "You cannot report yourself.")
        guard let reason = ReportRecord.Reason(rawValue: report.reason) else {
            let reasons = ReportRecord.Reason.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem.invalid("reason", "reason is one of \(reasons).")
        }
        let text = try report.text.map {
            try AccountRules.text(
                $0, field: "text", characters: FriendRules.reportCharacters, mayHaveLines: true)
        }
        guard (report.conversation == nil) == (report.number == nil) else {
            throw Problem.invalid(
                report.number == nil ? "number" : "conversation",
                "A message is reported by its conversation and number.")
        }
        var parts = "report \(report.user) \(reason.rawValue) \(text ?? "")"
        if let conversation = report.conversation, let number = report.number {
            parts += " message \(conversation) \(number)"
        }
        let hash = secrets.digest(parts)
        return try await database.writeFriends { store in
            _ = try store.existingUser(principal.user)
            switch try store.earlierRequest(report.clientID, of: principal.user, bodyHash: hash) {
            case .none: break
            case .same: return true
            case .different:
                throw Problem(.clientIDReused, "This clientID was used for another request.", field: "clientID")
            }
            try store.checkReports(by: principal.user)
            guard let user = try store.user(report.user), user.deletedAt == nil else {
                throw Problem.notFound("user", field: "user")
            }
            var record = ReportRecord(
                id: .make(at: store.now), reporter: principal.user, user: user.id, reason: reason,
                text: text.flatMap { $0.isEmpty ? nil : $0 }, createdAt: store.now)
            if let conversation = report.conversation, let number = report.number {
                record.conversation = conversation
                record.messages = try store.reportedMessages(
                    number, in: conversation, by: user.id, seenBy: principal.user)
            }
            try store.insert(record)
            _ = try store.remember(
                report.clientID, of: principal.user, bodyHash: hash, outcome: record.id.text)
            return false
        }.value
    }

    /// The reports of all users, the newest first.
    ///
    /// - Parameter isOpen: whether they are resolved or not; nil for all.
    package func reports(
        before cursor: ReportID? = nil, isOpen: Bool? = nil, limit: Int
    ) async throws -> [ReportRecord] {
        try await database.readFriends { try $0.reports(before: cursor, isOpen: isOpen, limit: limit) }
    }

    /// Resolves a report. Doing it twice changes nothing; another outcome replaces the first.
    ///
    /// - Returns: the report, and the entry of the audit log; nil if nothing has changed.
    package func resolve(
        _ id: ReportID, as outcome: ReportResolution.Outcome, by key: KeyPrincipal
    ) async throws -> (report: ReportRecord, entry: AuditEntry?) {
        try await database.writeFriends { store in
            guard var report = try store.report(id) else { throw Problem.notFound("report", field: "report") }
            guard report.resolution?.outcome != outcome else { return (report, nil) }
            let resolution = ReportResolution(outcome: outcome, at: store.now, by: key.actor)
            try store.resolve(id, resolution)
            let entry = key.audit("admin.reports.resolve", id.text)
            try store.insert(entry)
            report.resolution = resolution
            return (report, entry)
        }.value
    }
}

extension FriendStore {
    fileprivate func checkReports(by reporter: UserID) throws {
        let daySeconds: Int64 = 86_400
        let limit = FriendRules.reportsPerDay
        let times = try reportTimes(by: reporter, since: now.adding(seconds: -daySeconds), limit: limit)
        guard times.count >= limit, let oldest = times.first else { return }
        throw Problem(
            .rateLimited, "You can make \(limit) reports a day.",
            retryAfter: max(1, oldest.adding(seconds: daySeconds).milliseconds(since: now)))
    }
}
