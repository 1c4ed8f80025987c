package import Model

/// What a user is to a call that is being made: the name to show, and what stands in the way of ringing.
package struct CallParty: Hashable, Sendable {
    package var user: UserID
    package var displayName: String
    package var photoURL: String?
    /// Whether a second call may ring during a first one (a setting of the user).
    package var allowsCallWaiting: Bool
    /// Whether the user has blocked the one who calls or invites.
    package var hasBlockedCaller: Bool
    package var isDisabled: Bool

    package init(
        user: UserID, displayName: String, photoURL: String? = nil, allowsCallWaiting: Bool = false,
        hasBlockedCaller: Bool = false, isDisabled: Bool = false
    ) {
        self.user = user
        self.displayName = displayName
        self.photoURL = photoURL
        self.allowsCallWaiting = allowsCallWaiting
        self.hasBlockedCaller = hasBlockedCaller
        self.isDisabled = isDisabled
    }
}

/// One user's part in one live call, as far as other calls need to know it.
package struct LiveParticipation: Hashable, Sendable {
    package var user: UserID
    package var call: CallID
    /// `Call.pair` of that call.
    package var pair: String?
    package var conversation: ConversationID?
    /// The endpoint through which the user is joined; absent when the user is not.
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

/// Whether a client id is new to its user.
package enum ClientIDVerdict: Hashable, Sendable {
    case new
    /// The same request was made before, and this is what it made.
    case same(CallID)
    /// Another request used the id.
    case reused
}

/// An entry for a stream, to be written in the order given.
package struct StreamEntry: Hashable, Sendable {
    package var stream: StreamName
    package var type: String
    /// JSON text.
    package var data: String
    /// Set where one endpoint sends it to the mailbox of another.
    package var mail: Mail?

    package init(stream: StreamName, type: String, data: String, mail: Mail? = nil) {
        self.stream = stream
        self.type = type
        self.data = data
        self.mail = mail
    }

    /// What decides for how long a mailbox keeps the payload of an entry.
    package struct Mail: Hashable, Sendable {
        package var sender: EndpointID
        package var generation: Int64

        package init(sender: EndpointID, generation: Int64) {
            self.sender = sender
            self.generation = generation
        }
    }
}

/// How much a mailbox keeps.
package struct MailboxLimits: Hashable, Sendable {
    /// Bytes of payloads, without offers, of which the latest of each sender is kept in any case. Beyond that the oldest
    /// of whoever has the most there go.
    package var bytes: Int64 = 1 << 20
    /// What an entry counts beside its payload.
    package var entryBytes: Int64 = 128
    /// Entries from which on numbers without a payload go; half as many stay.
    package var entries: Int64 = 1024

    package init() {}

    package static let standard = MailboxLimits()
    /// What is left of an entry whose payload went, as JSON text.
    package static let superseded = "{\"superseded\":true}"
}

/// What calls need of a store, inside one transaction. Methods are synchronous, and a thrown error undoes everything.
package protocol CallStore: SignalStore, RecordingStore {
    /// The users of `users` who exist, as seen by `caller`, in any order.
    func parties(_ users: [UserID], calledBy caller: UserID) throws -> [CallParty]

    func call(_ id: CallID) throws -> Call?
    /// Every live call in which one of `users` is a participant, joined or not, except those that are withheld from
    /// that user.
    func liveParticipations(of users: [UserID]) throws -> [LiveParticipation]
    /// The live call of a conversation.
    func liveCall(in conversation: ConversationID) throws -> CallID?
    /// The live calls of a user, without those withheld from the user, newest first.
    func liveCalls(of user: UserID) throws -> [Call]
    /// Calls of a user, without those withheld from the user, newest first, from before `cursor`.
    func calls(of user: UserID, before cursor: CallID?, limit: Int) throws -> [Call]
    /// Every live call, to start timers and leases after a restart.
    func liveCalls() throws -> [Call]

    func insert(_ call: Call) throws
    /// Writes what differs from `earlier`, provided that the store still holds that version.
    func save(_ call: Call, replacing earlier: Call) throws

    /// Whether the account exists and is not disabled, and the sign-in, if there is one, has not ended.
    func isSignedIn(_ user: UserID, by signIn: SignInID?) throws -> Bool

    /// Notes that `user` made `entity` with the client id, unless the id was used before.
    func remember(_ clientID: ClientID, of user: UserID, bodyHash: Int64, entity: CallID) throws -> ClientIDVerdict

    /// Appends to streams, each of which numbers its entries without a hole. Returns the sequences. A mailbox that holds
    /// more than `MailboxLimits` afterwards loses payloads.
    @discardableResult
    func append(_ entries: [StreamEntry]) throws -> [Int64]
}

/// What signals need of a store.
package protocol SignalStore: AnyObject {
    /// What was negotiated between two endpoints, or, without a second one, from an endpoint towards whoever will
    /// accept the call.
    func negotiation(in call: CallID, between peers: Negotiation.Peers) throws -> Negotiation?
    /// Writes the negotiation, provided that the store still holds what was read (absent: nothing for these peers).
    func save(_ negotiation: Negotiation, replacing earlier: Negotiation?) throws
    /// Somebody accepted: what `opener` had negotiated with nobody yet becomes this negotiation.
    func bind(_ negotiation: Negotiation, openedBy opener: EndpointID) throws

    /// Keeps what is needed to recognise a repeat and, while it is held back, the signal itself.
    /// False when the sender has used the client id in this call; then nothing is written.
    func insert(_ signal: Signal) throws -> Bool
    func sentSignal(_ clientID: ClientID, of user: UserID, in call: CallID) throws -> SentSignal?
    /// Signals held back from `sender` for `recipient` (absent: for whoever accepts), in the order they came in.
    func heldSignals(in call: CallID, from sender: EndpointID, to recipient: EndpointID?) throws -> [Signal]
    /// Lets go of held signals up to a generation; their client ids stay known.
    func releaseHeldSignals(
        in call: CallID, from sender: EndpointID, to recipient: EndpointID?, through generation: Int64) throws
    /// What is held for whoever accepts, of later generations, is held for `recipient` from now on.
    func bindHeldSignals(
        in call: CallID, from sender: EndpointID, to recipient: EndpointID, after generation: Int64) throws

    /// What `sender` sent to a mailbox in earlier generations than that holds no more: such entries of these kinds keep
    /// their numbers and lose their payloads.
    func supersede(
        _ kinds: Set<Signal.Kind>, from sender: EndpointID, in mailbox: StreamName, before generation: Int64) throws
    /// The data of one entry of a mailbox.
    func mail(in mailbox: StreamName, at sequence: Int64) throws -> String?
    /// When the mailbox has more than `length` entries, removes those before `sequence`: what they told holds no more.
    func trimMailbox(
        of endpoint: EndpointID, in call: CallID, longerThan length: Int64, before sequence: Int64) throws
    /// Empties the endpoint's mailbox, and forgets its negotiations and what is held for or from it.
    func closeMailbox(of endpoint: EndpointID, in call: CallID) throws
    /// Removes everything about signals in a call that has ended. Where that is much, some of it is left to be removed in
    /// pieces; nobody may read it.
    func removeSignals(in call: CallID) throws
}
