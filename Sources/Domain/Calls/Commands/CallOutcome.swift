package import Model

/// A side effect to carry out after a command is committed; effects are carried out in order.
package enum CallEffect: Hashable, Sendable {
    /// Subscribe all realtime sessions of the user to the stream.
    case attachUser(UserID, StreamName)
    /// Subscribe the endpoint's session to the stream.
    case attachEndpoint(EndpointID, StreamName)
    /// Unsubscribe the endpoint from the stream: it may no longer receive it.
    case dropEndpoint(EndpointID, StreamName)
    /// Unsubscribe all realtime sessions of the user from the stream: they may no longer receive it.
    case dropUser(UserID, StreamName)
    /// Unsubscribe everybody from the stream: the call has ended, or the mailbox closed.
    case detach(StreamName)
    /// Replaces the timer with the same key.
    case schedule(CallDeadline)
    case unschedule(CallDeadline.Key)
    /// Replaces the lease of the same participant.
    case leaseStarted(CallID, UserID, EndpointID)
    case leaseRenewed(CallID, UserID)
    case leaseEnded(CallID, UserID)
    /// The user has left the call, which goes on: end the user's relay allocations for it.
    case relayEnded(CallID, UserID)
    /// A new ring: send the user's devices a push notification that expires after `remainingMs`.
    case ringPush(UserID, CallID, remainingMs: Int64)
    /// The endpoint is no longer in the call: end its gateway leg.
    case legEnded(CallID, EndpointID)
    /// Begin to record the call's audio.
    case recordingBegan(CallID, RecordingID)
    /// Stop recording.
    case recordingEnded(CallID, RecordingID)
    /// Begin to transcribe the call's audio as captions.
    case captionsBegan(CallID)
    /// Stop the captions.
    case captionsEnded(CallID)
    /// Send a caption to those of these endpoints that are connected.
    case caption(CallID, Caption, to: Set<EndpointID>)
    case ended(CallID)
}

/// The result of a command: the current call, and the effects.
package struct CallOutcome: Sendable {
    package var call: Call
    /// The call's JSON, encoded once for the streams and the response.
    package var callJSON: String
    /// The request is a duplicate; nothing was done this time.
    package var isDuplicate = false
    /// A request to create a call joined an existing one.
    package var hasJoined = false
    package var effects: [CallEffect] = []

    init(call: Call, at now: Timestamp) {
        self.call = call
        callJSON = call.json(at: now)
    }

    /// The outcome of a request that changed nothing.
    static func duplicate(_ call: Call, at now: Timestamp) -> Self {
        var outcome = Self(call: call, at: now)
        outcome.isDuplicate = true
        return outcome
    }
}

/// The result of sending a signal.
package struct SignalOutcome: Hashable, Sendable {
    package enum Status: String, Sendable, CaseIterable {
        /// It is in the recipient's mailbox.
        case delivered
        /// It is held until its offer arrives, or somebody accepts.
        case pending
        /// It belongs to a superseded generation.
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
