/// How much there may be of everything.
package struct ConversationLimits: Hashable, Sendable {
    /// Members of a group, the invited too.
    package var members = 10_000
    /// People added by one request.
    package var addedAtOnce = 100
    /// Conversations that one user is in, or has left and can still read.
    package var conversations = 10_000
    /// Invitations and requests that wait for a user; the oldest give way to new ones.
    package var invitations = 1_000
    /// Messages to a stranger before the request is accepted.
    package var requestMessages = 3
    /// Versions of a message; the last may not be edited.
    package var edits = 100
    /// Messages on a page.
    package var page = 100

    /// Bytes of a page's texts, of which a session has room for several; the page ends where they are reached.
    package var pageBytes = 256 << 10
    /// Messages of a snapshot, and their bytes.
    package var window = 50
    package var windowBytes = 256 << 10
    /// Changed rows that are sent to a client that resumes; if there are more, it gets a snapshot.
    package var changes = 1000
    /// Different emoji among the reactions to a message, as in Discord; each has a part in every copy of the message.
    package var reactionKinds = 20
    /// How many of them may come from one user: about half, as in Slack (23 of 50), so that one user cannot take all.
    package var reactionsOfUser = 10
    /// Reactions to a message, which are removed with it.
    package var reactions = 10_000
    /// Pinned messages of a conversation, as in Discord.
    package var pins = 50
    /// Conversations that one user has pinned.
    package var pinnedConversations = 50
    /// Members of a conversation in which everybody's marks are kept and shown.
    package var markedMembers = 100
    /// The newest messages of which it is kept when somebody read them, and for how many seconds.
    package var timedReceipts: Int64 = 1_000
    package var receiptSeconds: Int64 = 90 * 86_400
    /// The newest messages that a user has hidden, which a listener is not sent when they change.
    package var hidden = 1_000
    /// Users whom a message mentions, as in Discord; further ones are shown as mentioned, but not notified.
    package var mentions = 100
    /// Messages of one author that wait in a conversation to be sent, as in Telegram, and in all.
    package var scheduled = 100
    package var scheduledOfUser = 1_000
    /// Unread messages of a conversation are counted so far.
    package var unread = 999

    /// Notices of a conversation, and of one author in it, within `noticeSeconds` and the newest `noticeWindow`
    /// messages: further changes get no notice.
    package var notices = 60
    package var noticesOfMember = 20
    package var noticeSeconds: Int64 = 60
    package var noticeWindow: Int64 = 200

    /// Messages whose translations one request asks for.
    package var translatedAtOnce = 50

    /// Terms of a conversation's glossary.
    package var glossaryTerms = 200

    /// Links of a group that have not expired, and those that one member has made of it.
    package var links = 50
    package var linksOfMember = 10
    /// How long a link works if nothing is said, as in Discord; at least, and at most.
    package var linkSeconds: Int64 = 7 * 86_400
    package var leastLinkSeconds: Int64 = 60
    package var mostLinkSeconds: Int64 = 365 * 86_400
    /// After somebody has declined, no invitation to the same group, and none by the same person, reaches them for so
    /// long; after so many times none ever does. Friends and links are not bound by it.
    package var declinedSeconds: Int64 = 30 * 86_400
    package var declines = 3

    package init() {}
}
