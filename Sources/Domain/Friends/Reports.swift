import Accounts
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

extension FriendCommands {
    package struct Report: Codable, Hashable, Sendable {
        package var clientID: ClientID
        package var user: UserID
        package var reason: String
        package var text: String?

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
        let hash = secrets.digest("report \(report.user) \(reason.rawValue) \(text ?? "")")
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
            let record = ReportRecord(
                id: .make(at: store.now), reporter: principal.user, user: user.id, reason: reason,
                text: text.flatMap { $0.isEmpty ? nil : $0 }, createdAt: store.now)
            try store.insert(record)
            _ = try store.remember(
                report.clientID, of: principal.user, bodyHash: hash, outcome: record.id.text)
            return false
        }.value
    }

    /// The reports of all users, the newest first.
    package func reports(before cursor: ReportID? = nil, limit: Int) async throws -> [ReportRecord] {
        try await database.readFriends { try $0.reports(before: cursor, limit: limit) }
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
