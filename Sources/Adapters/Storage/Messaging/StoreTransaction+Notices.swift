internal import Foundation
import Languages
internal import Messaging
package import Model

// How notices are stored: a column of `messages`.
extension StoreTransaction {
    package func noticeAuthors(
        in conversation: ConversationID, after number: Int64, since: Timestamp
    ) throws -> [UserID] {
        try sql.query(
            """
            SELECT author FROM messages
            WHERE conversation_id = ?1 AND number > ?2 AND kind = 'notice' AND sent_at > ?3 ORDER BY number
            """, [.id(conversation), .integer(number), .time(since)]
        ).map { try $0.id(0) }
    }

    static func text(of notice: Notice) throws -> String { try json(StoredNotice(notice)) }

    static func notice(_ text: String) throws -> Notice {
        let stored = try JSONDecoder().decode(StoredNotice.self, from: Data(text.utf8))
        guard let notice = stored.notice else {
            throw SQLError(.unexpectedValue, "A notice has the kind \(stored.kind).")
        }
        return notice
    }
}

private struct StoredNotice: Codable {
    struct Settings: Codable {
        var write: String
        var add: String
        var rename: String
        var keepDays: Int
        var intelligence: String?
    }

    var kind: String
    var users: [UserID]?
    var userCount: Int?
    var name: String?
    var settings: Settings?
    var role: String?
    var disappearAfter: Int64?
    var number: Int64?
    var via: String?
    var isByServer: Bool?

    init(_ notice: Notice) {
        kind = notice.kind.rawValue
        users = notice.users.isEmpty ? nil : notice.users
        userCount = notice.userCount > notice.users.count ? notice.userCount : nil
        name = notice.name
        settings = notice.settings.map {
            Settings(
                write: $0.write.rawValue, add: $0.add.rawValue, rename: $0.rename.rawValue, keepDays: $0.keepDays,
                intelligence: $0.intelligence?.rawValue)
        }
        role = notice.role?.rawValue
        disappearAfter = notice.disappearAfter
        number = notice.number
        via = notice.via?.rawValue
        isByServer = notice.isByServer ? true : nil
    }

    var notice: Notice? {
        guard let kind = Notice.Kind(rawValue: kind) else { return nil }
        var notice = Notice(kind, users: users ?? [], count: userCount)
        notice.name = name
        notice.settings = settings.map {
            ConversationSettings(
                write: .init(rawValue: $0.write) ?? .admins, add: .init(rawValue: $0.add) ?? .admins,
                rename: .init(rawValue: $0.rename) ?? .admins, keepDays: $0.keepDays,
                intelligence: $0.intelligence.flatMap { IntelligenceLevel(rawValue: $0) })
        }
        notice.role = role.flatMap { MemberRole(rawValue: $0) }
        notice.disappearAfter = disappearAfter
        notice.number = number
        notice.via = via.flatMap { Notice.Via(rawValue: $0) }
        notice.isByServer = isByServer ?? false
        return notice
    }
}
