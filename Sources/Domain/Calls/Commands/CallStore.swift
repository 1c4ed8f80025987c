package import Model
package import Webhooks

/// A user as a party of a call that is being created: the name to show, and whatever prevents ringing.
package struct CallParty: Hashable, Sendable {
    package var user: UserID
    package var displayName: String
    package var photoURL: String?
    /// Whether a second call may ring during a call (a setting of the user).
    package var allowsCallWaiting: Bool
    /// Whether the user has blocked the caller or inviter, or takes no calls of them.
    package var hasBlockedCaller: Bool
    package var isDisabled: Bool
    /// The account was deleted, and so is disabled as well.
    package var isDeleted: Bool
    /// Whether devices of the user are pushed to.
    package var isPushed: Bool
    /// Whether anything of the user could ring: a session, a device that is pushed to, or the operator's own back end.
    package var isReachable: Bool

    package init(
        user: UserID, displayName: String, photoURL: String? = nil, allowsCallWaiting: Bool = false,
        hasBlockedCaller: Bool = false, isDisabled: Bool = false, isDeleted: Bool = false, isPushed: Bool = false,
        isReachable: Bool = true
    ) {
        self.user = user
        self.displayName = displayName
        self.photoURL = photoURL
        self.allowsCallWaiting = allowsCallWaiting
        self.hasBlockedCaller = hasBlockedCaller
        self.isDisabled = isDisabled
        self.isDeleted = isDeleted
        self.isPushed = isPushed
        self.isReachable = isReachable
    }
}

/// One user's participation in one live call, as other calls need it.
package struct LiveParticipation: Hashable, Sendable {
    package var user: UserID
    package var call: CallID
    /// `Call.pair` of that call.
    package var pair: String?
    package var conversation: ConversationID?
    /// The endpoint through which the user is joined; absent if not joined.
    package var endpoint: EndpointID?
    package var isDetached: Bool

    package init(
        user: UserID, call: CallID, pair: String?, conversation: ConversationID?, endpoint: EndpointID?,
        isDetached: Bool
    ) {
        self.user = user
        self.call = call
        self.pair = pair
        self.conversation = conversation
        self.endpoint = endpoint
        self.isDetached = isDetached
    }
}

/// The conversation of a new call, as whoever checked the caller's access to it found it.
package struct CallConversation: Hashable, Sendable {
    package let id: ConversationID
    /// A group, whose members join its calls without having been invited.
    package let isGroup: Bool
    /// Whom the call rings: nobody in a large group.
    package let callees: [UserID]

    package init(id: ConversationID, isGroup: Bool, callees: [UserID]) {
        self.id = id
        self.isGroup = isGroup
        self.callees = callees
    }
}

/// How somebody stands to the calls of a conversation.
package enum ConversationStanding: Hashable, Sendable {
    /// Neither sees nor joins them.
    case outside
    case member
    case administrator
}

/// Whether a client id is new to its user.
package enum ClientIDVerdict: Hashable, Sendable {
    case new
    /// The same request was made before and created this call.
    case same(CallID)
    /// A different request used the id.
    case reused
}

/// An entry to append to a stream; entries are appended in the given order.
package struct StreamEntry: Hashable, Sendable {
    package let stream: StreamName
    package let type: String
    /// JSON text.
    package var data: String
    /// Set if one endpoint sends it to another's mailbox.
    package var mail: Mail?

    /// For tests: other modules make entries of the known types only.
    init(stream: StreamName, type: String, data: String, mail: Mail? = nil) {
        self.stream = stream
        self.type = type
        self.data = data
        self.mail = mail
    }

    package static func user(_ user: UserID, _ type: UserChangeType, data: String) -> Self {
        Self(stream: .user(user), type: type.rawValue, data: data)
    }

    package static func call(_ call: CallID, _ type: CallChangeType, data: String) -> Self {
        Self(stream: .call(call), type: type.rawValue, data: data)
    }

    package static func signals(
        _ call: CallID, _ endpoint: EndpointID, _ type: SignalChangeType, data: String, mail: Mail? = nil
    ) -> Self {
        Self(stream: .signals(call, endpoint), type: type.rawValue, data: data, mail: mail)
    }

    /// What determines how long a mailbox keeps the payload of an entry.
    package struct Mail: Hashable, Sendable {
        package var sender: EndpointID
        package var generation: Int64

        package init(sender: EndpointID, generation: Int64) {
            self.sender = sender
            self.generation = generation
        }
    }
}

/// The limits of a mailbox.
package struct MailboxLimits: Hashable, Sendable {
    /// Maximum bytes of payloads, offers not counted (the latest offer of each sender is always kept). Beyond it, the
    /// oldest payloads of the sender with the most bytes are removed.
    package var bytes: Int64 = 1 << 20
    /// Bytes that an entry counts in addition to its payload.
    package var entryBytes: Int64 = 128
    /// Above this number of entries, those without a payload are removed from the older half.
    package var entries: Int64 = 1024

    package init() {}

    package static let standard = MailboxLimits()
    /// The data of an entry whose payload was removed, as JSON text.
    package static let superseded = "{\"superseded\":true}"
}

/// The storage of calls, inside one transaction. Methods are synchronous, and a thrown error rolls it back.
package protocol CallStore: SignalStore, RecordingStore, EventStore {
    /// Those of `users` who exist, as seen by `caller`, in any order.
    func parties(_ users: [UserID], calledBy caller: UserID) throws -> [CallParty]

    /// Whether the account is disabled or deleted, or there is none.
    func isDisabled(_ user: UserID) throws -> Bool

    /// Whether calls of the caller that name the user do not reach them, as if they had blocked the caller.
    func refusesCalls(of caller: UserID, _ user: UserID) throws -> Bool

    func call(_ id: CallID) throws -> Call?
    /// The participations of `users` in live calls, joined or not, except in calls withheld from them.
    func liveParticipations(of users: [UserID]) throws -> [LiveParticipation]
    /// The live call of a conversation.
    func liveCall(in conversation: ConversationID) throws -> CallID?
    /// How somebody stands to the conversation of an open call.
    func standing(of user: UserID, in conversation: ConversationID) throws -> ConversationStanding
    /// The live calls of a user, except those withheld from the user, newest first.
    func liveCalls(of user: UserID) throws -> [Call]
    /// The calls of a user, except those withheld from the user, newest first, before `cursor`.
    func calls(of user: UserID, before cursor: CallID?, limit: Int) throws -> [Call]
    /// Every live call, to start timers and leases after a restart.
    func liveCalls() throws -> [Call]

    func insert(_ call: Call) throws
    /// Writes the difference to `earlier`, provided that the store still holds that version.
    func save(_ call: Call, replacing earlier: Call) throws

    /// Whether the account exists and is not disabled, and the sign-in, if there is one, has not ended.
    func isSignedIn(_ user: UserID, by signIn: SignInID?) throws -> Bool

    /// Records that `user` created `entity` with the client id, unless the id was used before.
    func remember(_ clientID: ClientID, of user: UserID, bodyHash: Int64, entity: CallID) throws -> ClientIDVerdict

    /// Notes that a call began to ring some of these users, or to ring them no more: their devices are told.
    func notePush(of call: CallID, version: Int64, to users: [UserID]) throws

    /// Appends to streams, whose sequences have no gaps. Returns the sequences. A mailbox that exceeds `MailboxLimits`
    /// then loses payloads.
    @discardableResult
    func append(_ entries: [StreamEntry]) throws -> [Int64]
}

/// The storage of signals.
package protocol SignalStore: AnyObject {
    /// The negotiation between two endpoints or, without a second one, between an endpoint and whoever accepts the
    /// call.
    func negotiation(in call: CallID, between peers: Negotiation.Peers) throws -> Negotiation?
    /// Writes the negotiation, provided that the store still holds `earlier` (nil: none for these peers).
    func save(_ negotiation: Negotiation, replacing earlier: Negotiation?) throws
    /// The call was accepted: the negotiation that `opener` had begun without a peer becomes this one.
    func bind(_ negotiation: Negotiation, openedBy opener: EndpointID) throws

    /// Inserts what is needed to recognise a retry and, while the signal is held, its data.
    /// False if the sender has already used the client id in this call; then nothing is written.
    func insert(_ signal: Signal) throws -> Bool
    func sentSignal(_ clientID: ClientID, of user: UserID, in call: CallID) throws -> SentSignal?
    /// Held signals of `sender` for `recipient` (nil: for whoever accepts), in the order of their arrival.
    func heldSignals(in call: CallID, from sender: EndpointID, to recipient: EndpointID?) throws -> [Signal]
    /// Removes held signals up to a generation; their client ids stay known.
    func releaseHeldSignals(
        in call: CallID, from sender: EndpointID, to recipient: EndpointID?, through generation: Int64) throws
    /// Assigns signals of later generations that are held for whoever accepts to `recipient`.
    func bindHeldSignals(
        in call: CallID, from sender: EndpointID, to recipient: EndpointID, after generation: Int64) throws

    /// Supersedes the entries of these kinds that `sender` sent to the mailbox in generations before `generation`: they
    /// keep their sequences and lose their payloads.
    func supersede(
        _ kinds: Set<Signal.Kind>, from sender: EndpointID, in mailbox: StreamName, before generation: Int64) throws
    /// The data of one entry of a mailbox.
    func mail(in mailbox: StreamName, at sequence: Int64) throws -> String?
    /// If the mailbox has more than `length` entries, removes those before `sequence`, which are obsolete.
    func trimMailbox(
        of endpoint: EndpointID, in call: CallID, longerThan length: Int64, before sequence: Int64) throws
    /// Empties the endpoint's mailbox and removes its negotiations and the signals held for or from it.
    func closeMailbox(of endpoint: EndpointID, in call: CallID) throws
    /// Removes all signals of a call that has ended. If there are many, some are left to be removed in batches later;
    /// nobody can read them.
    func removeSignals(in call: CallID) throws
}
