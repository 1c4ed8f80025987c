import Model
import Testing

@testable import Messaging

@Suite("Who may do what in a conversation")
struct ConversationAccessTests {
    private let closed = ConversationSettings(write: .admins, add: .admins, rename: .admins)

    private func access(
        _ kind: ConversationKind = .group, _ role: MemberRole = .member, _ state: MemberState = .member,
        _ settings: ConversationSettings = ConversationSettings()
    ) -> ConversationAccess {
        var spans = MembershipSpans()
        spans.join(after: 0)
        if state == .left { spans.leave(after: 5, sequence: 9) }
        return ConversationAccess(kind: kind, settings: settings, state: state, role: role, spans: spans)
    }

    private static let all: [ConversationAction] =
        [
            .read, .listen, .write, .call, .joinCall, .pin, .rename, .changeSettings, .addMember, .makeLink, .handOver,
            .leave,
            .deleteOthersMessage, .acceptInvitation,
        ] + MemberRole.allCases.map { .removeMember($0) }
        + MemberRole.allCases.flatMap { old in MemberRole.allCases.map { .changeRole(old, $0) } }

    private func allowed(_ access: ConversationAccess) -> Set<ConversationAction> {
        Set(Self.all.filter { access.problem($0) == nil })
    }

    /// What every member of a group may, with open settings.
    private let open: Set<ConversationAction> = [
        .read, .listen, .write, .call, .joinCall, .pin, .rename, .addMember, .makeLink, .leave, .acceptInvitation,
    ]
    private let quiet: Set<ConversationAction> = [.read, .listen, .joinCall, .leave, .acceptInvitation]
    private let ofAdmins: Set<ConversationAction> = [
        .changeSettings, .deleteOthersMessage, .removeMember(.member), .changeRole(.member, .admin),
        .changeRole(.member, .member),
    ]
    private let ofOwners: Set<ConversationAction> = [
        .handOver, .removeMember(.admin), .changeRole(.admin, .member), .changeRole(.admin, .admin),
    ]

    @Test("in a group, by role and settings")
    func group() {
        #expect(allowed(access()) == open)
        #expect(allowed(access(.group, .admin)) == open.union(ofAdmins))
        #expect(allowed(access(.group, .owner)) == open.union(ofAdmins).union(ofOwners))
        #expect(allowed(access(.group, .member, .member, closed)) == quiet)
        #expect(allowed(access(.group, .admin, .member, closed)) == open.union(ofAdmins))
        #expect(allowed(access(.group, .owner, .member, closed)) == open.union(ofAdmins).union(ofOwners))
    }

    @Test("two people and notes have no roles", arguments: [ConversationKind.direct, .ownNotes])
    func others(kind: ConversationKind) {
        for settings in [ConversationSettings(), closed] {
            let access = access(kind, .member, .member, settings)
            let common: Set<ConversationAction> = [.read, .listen, .write, .joinCall, .pin, .acceptInvitation]
            #expect(allowed(access) == (kind == .direct ? common.union([.call]) : common))
            #expect(access.problem(.rename)?.kind == .conflict)
        }
    }

    @Test("the invited see the invitation alone, the former what they had", arguments: MemberRole.allCases)
    func outsiders(role: MemberRole) {
        let invited = access(.group, role, .invited)
        #expect(allowed(invited) == [.read, .acceptInvitation, .leave])
        #expect(!invited.sees(1))
        let former = access(.group, role, .left)
        #expect(allowed(former) == [.read, .leave])
        #expect(former.sees(5) && !former.sees(6))
        #expect(former.problem(.write)?.kind == .forbidden)
        var cleared = former
        cleared.spans.clear(after: 7)
        #expect(cleared.problem(.read)?.kind == .notFound, "it is as if it had never been")
    }

    @Test("a group has one owner, whom the oldest administrator follows, else the oldest member")
    func succession() {
        let time = { Timestamp(milliseconds: $0) }
        #expect(access(.group, .owner).problem(.changeRole(.member, .owner))?.kind == .conflict)
        #expect(access(.group, .owner).problem(.changeRole(.owner, .member))?.kind == .conflict)
        #expect(successor(among: [("c", .member, time(1)), ("b", .admin, time(3)), ("a", .admin, time(2))]) == "a")
        #expect(successor(among: [("c", .member, time(2)), ("b", .member, time(1))]) == "b")
        #expect(
            successor(among: [("c", .member, time(1)), ("b", .member, time(1))]) == "b", "a tie is the same for all")
        #expect(successor(among: [(user: String, role: MemberRole, joinedAt: Timestamp)]()) == nil)
    }
}
