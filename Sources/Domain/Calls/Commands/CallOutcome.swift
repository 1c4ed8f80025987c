package import Model

/// What is to be done outside the store once a command is committed, in this order.
package enum CallEffect: Hashable, Sendable {
    /// All realtime sessions of the user listen to the stream.
    case attachUser(UserID, StreamName)
    /// The endpoint's session listens to the stream.
    case attachEndpoint(EndpointID, StreamName)
    /// The endpoint may not hear the stream any more.
    case dropEndpoint(EndpointID, StreamName)
    /// Nobody listens to the stream any more: the call is over, or the mailbox closed.
    case detach(StreamName)
    /// Replaces the timer with the same key.
    case schedule(CallDeadline)
    case unschedule(CallDeadline.Key)
    /// Replaces the lease of the same participant.
    case leaseStarted(CallID, UserID, EndpointID)
    case leaseRenewed(CallID, UserID)
    case leaseEnded(CallID, UserID)
    /// The user is out of the call, which goes on: what the relay carries for it ends.
    case relayEnded(CallID, UserID)
    /// A new ring: the user's devices get a push that is worth nothing after `remainingMs`.
    case ringPush(UserID, CallID, remainingMs: Int64)
    /// The endpoint is not in the call any more: its leg with the gateway goes.
    case legEnded(CallID, EndpointID)
    /// What is said in the call is to be recorded from now on.
    case recordingBegan(CallID, RecordingID)
    /// It is not any more.
    case recordingEnded(CallID, RecordingID)
    /// What is said in the call is to be written down from now on.
    case captionsBegan(CallID)
    /// It is not any more.
    case captionsEnded(CallID)
    /// What somebody said, as JSON, for those of these endpoints that are there.
    case caption(CallID, String, to: Set<EndpointID>)
    case ended(CallID)
}

/// What a command did: the call as it is now, and what follows from it.
package struct CallOutcome: Sendable {
    package var call: Call
    /// The call's JSON, encoded once for the streams and the answer.
    package var callJSON: String
    /// The request had been carried out before; nothing was done this time.
    package var isDuplicate = false
    /// A request to create a call was turned into joining the one that was there.
    package var hasJoined = false
    package var effects: [CallEffect] = []

    init(call: Call, at now: Timestamp) {
        self.call = call
        callJSON = call.json(at: now)
    }

    /// The call was so before.
    static func duplicate(_ call: Call, at now: Timestamp) -> Self {
        var outcome = Self(call: call, at: now)
        outcome.isDuplicate = true
        return outcome
    }
}

/// What happened to a signal.
package struct SignalOutcome: Hashable, Sendable {
    package enum Status: String, Sendable, CaseIterable {
        /// It is in the recipient's mailbox.
        case delivered
        /// It waits for the offer it belongs to, or for somebody to accept.
        case pending
        /// It belongs to what has been superseded.
        case ignored
    }

    package var status: Status
    package var generation: Int64
    package var isDuplicate = false

    package init(status: Status, generation: Int64, isDuplicate: Bool = false) {
        self.status = status
        self.generation = generation
        self.isDuplicate = isDuplicate
    }
}
