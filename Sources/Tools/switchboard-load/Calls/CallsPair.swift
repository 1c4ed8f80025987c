import NIOCore

/// Two virtual users, one of whom calls the other repeatedly: the state machine of the life cycle. It runs on one event
/// loop.
final class CallsPair: RealtimeConnectionDelegate {
    /// A request without a result yet, and when it was sent.
    private struct PendingRequest { var step: CallsStep; var at: UInt64 }

    /// The current life cycle.
    private struct LifeCycle {
        var due: UInt64
        var began: UInt64
        var call: String?
        var callerStream = ""
        var accepted: UInt64 = 0
        var answered: UInt64 = 0
        var candidatesSent: (caller: UInt64, callee: UInt64) = (0, 0)
        var candidatesSeen = (caller: 0, callee: 0)
        var connections = 0
        var ended: UInt64 = 0
        var seesEnd = (caller: false, callee: false)
        var isEndConfirmed = false
        var hasOffer = false
        var hasAnswer = false
    }

    private static let batches = 2

    let caller: RealtimeConnection
    let callee: RealtimeConnection
    private unowned let worker: CallsWorker
    private var pending: (caller: [Int: PendingRequest], callee: [Int: PendingRequest]) = ([:], [:])
    private var lifeCycle: LifeCycle?
    private var listening = 0
    /// The previous call, of which late events may still arrive.
    private var lastCall: String?
    private(set) var isReady = false
    private(set) var isBroken = false

    init(_ caller: RealtimeConnection, _ callee: RealtimeConnection, worker: CallsWorker) {
        self.caller = caller
        self.callee = callee
        self.worker = worker
        caller.delegate = self
        callee.delegate = self
    }

    /// When the current life cycle began.
    var began: UInt64? { lifeCycle?.began }

    /// Begins a life cycle that was due at `due`.
    func begin(due: UInt64, at now: UInt64) {
        lifeCycle = LifeCycle(due: due, began: now)
        let params =
            #"{"clientID":"\#(UUIDText.make())","callees":["\#(callee.person.user)"],"kind":"audio","offer":{"sdp":"\#(CallsPayloads.offer)"}}"#
        send(caller, .create, "calls.create", params)
    }

    func opened(_ connection: RealtimeConnection) {
        _ = connection.hello()
        _ = connection.listen(to: "user:\(connection.person.user)")
    }

    func failed(_ what: String, on connection: RealtimeConnection) { failed(what) }

    func received(_ message: ByteBuffer, on connection: RealtimeConnection) {
        let text = message.readableBytesUInt8Span
        guard let frame = CallsFrame(text) else { return failed("a frame that is not JSON") }
        if frame.isHeartbeat {
            connection.respondToHeartbeat()
        } else if frame.isBye {
            failed("bye: \(text.text(after: #""reason":""#) ?? "")")
        } else {
            handle(frame, text, on: connection)
        }
    }

    /// Handles a frame of one of the two connections.
    private func handle(_ frame: CallsFrame, _ text: Span<UInt8>, on connection: RealtimeConnection) {
        let now = CallsClock.now
        if let stream = frame.stream {
            if stream.hasPrefix("call:") {
                handleCall(String(stream.dropFirst(5)), text, on: connection, at: now)
            } else if stream.hasPrefix("signals:") {
                handleSignals(stream, text, on: connection, at: now)
            }
        } else if let id = frame.id {
            handleResult(id, frame, text, on: connection, at: now)
        }
    }

    func failed(_ what: String) {
        worker.count(error: what)
        giveUp()
    }

    /// The life cycle took too long.
    func expire() {
        worker.count(error: "timed out: \(progress)")
        giveUp()
    }

    func lost(_ connection: RealtimeConnection) {
        guard !isBroken else { return }
        isBroken = true
        if !worker.isStopped { worker.count(error: "connection lost") }
        lifeCycle = nil
        worker.broke(self)
    }

    func close() {
        isBroken = true
        caller.close()
        callee.close()
    }
}

extension CallsPair {
    private func handleResult(
        _ id: Int, _ frame: CallsFrame, _ text: Span<UInt8>, on connection: RealtimeConnection, at now: UInt64
    ) {
        guard id > 2 else {
            guard !frame.isError else { return failed("hello: \(text.text(after: #""type":""#) ?? "")") }
            listening += 1
            if listening == 4 {
                isReady = true
                worker.became(ready: self)
            }
            return
        }
        let isCaller = connection === caller
        guard let pending = isCaller ? pending.caller.removeValue(forKey: id) : pending.callee.removeValue(forKey: id)
        else { return }
        guard !frame.isError else {
            return failed("\(pending.step.name): \(text.text(after: #""type":""#) ?? "?")")
        }
        worker.record(pending.step, since: pending.at, to: now)
        switch pending.step {
        case .ringing:
            lifeCycle?.accepted = now
            sendForCall(callee, .accept, "calls.accept", #","clientID":"\#(UUIDText.make())""#)
        case .connected:
            lifeCycle?.connections += 1
            guard lifeCycle?.connections == 2 else { return }
            lifeCycle?.ended = now
            sendForCall(caller, .end, "calls.end", "")
        case .end:
            lifeCycle?.isEndConfirmed = true
            finishIfOver(at: now)
        default: break
        }
    }

    private func handleCall(_ call: String, _ text: Span<UInt8>, on connection: RealtimeConnection, at now: UInt64) {
        guard lifeCycle != nil, call != lastCall else { return }
        let isCaller = connection === caller
        if lifeCycle?.call == nil || lifeCycle?.call == call {
            let isFirst = isCaller ? lifeCycle?.callerStream.isEmpty == true : lifeCycle?.call == nil
            if isCaller { lifeCycle?.callerStream = call }
            if isFirst, !isCaller, text.occurrences(of: #""status":"ended""#) == 0 {
                lifeCycle?.call = call
                worker.record(.seesRing, since: lifeCycle?.began ?? now, to: now)
                sendForCall(callee, .ringing, "calls.ringing", "")
                return
            }
        }
        guard lifeCycle?.call == call, text.occurrences(of: #""status":"ended""#) > 0, let ended = lifeCycle?.ended
        else {
            return
        }
        guard ended > 0 else {
            return failed("ended early: \(text.text(after: #""endReason":""#) ?? "?")")
        }
        if isCaller ? lifeCycle?.seesEnd.caller == true : lifeCycle?.seesEnd.callee == true { return }
        if isCaller { lifeCycle?.seesEnd.caller = true } else { lifeCycle?.seesEnd.callee = true }
        if !isCaller { worker.record(.seesEnd, since: ended, to: now) }
        finishIfOver(at: now)
    }

    private func handleSignals(_ stream: String, _ text: Span<UInt8>, on connection: RealtimeConnection, at now: UInt64)
    {
        guard let lifeCycle, let call = lifeCycle.call, stream.dropFirst(8).hasPrefix(call) else { return }
        let isCaller = connection === caller
        if !isCaller, !lifeCycle.hasOffer, text.occurrences(of: #""kind":"offer""#) > 0 {
            self.lifeCycle?.hasOffer = true
            self.lifeCycle?.answered = now
            worker.record(.seesOffer, since: lifeCycle.accepted, to: now)
            sendForCall(
                callee, .answer, "calls.signals",
                #","clientID":"\#(UUIDText.make())","kind":"answer","generation":1,"payload":{"sdp":"\#(CallsPayloads.answer)"}"#
            )
            sendCandidates(callee)
        }
        if isCaller, !lifeCycle.hasAnswer, text.occurrences(of: #""kind":"answer""#) > 0 {
            self.lifeCycle?.hasAnswer = true
            worker.record(.seesAnswer, since: lifeCycle.answered, to: now)
            sendCandidates(caller)
        }
        let batches = text.occurrences(of: #""kind":"candidates""#)
        guard batches > 0 else { return }
        if isCaller {
            self.lifeCycle?.candidatesSeen.caller += batches
        } else {
            self.lifeCycle?.candidatesSeen.callee += batches
        }
        connectIfReady(connection, at: now)
    }

    private func sendCandidates(_ connection: RealtimeConnection) {
        let now = CallsClock.now
        if connection === caller {
            lifeCycle?.candidatesSent.caller = now
        } else {
            lifeCycle?.candidatesSent.callee = now
        }
        for batch in 1...Self.batches {
            sendForCall(
                connection, .candidates, "calls.signals",
                #","clientID":"\#(UUIDText.make())","kind":"candidates","generation":1,"payload":{"candidates":\#(CallsPayloads.candidates),"end":\#(batch == Self.batches)}"#
            )
        }
        connectIfReady(connection, at: now)
    }

    /// Media would flow once a side has sent its candidates and received the other's.
    private func connectIfReady(_ connection: RealtimeConnection, at now: UInt64) {
        guard let lifeCycle else { return }
        let isCaller = connection === caller
        let seen = isCaller ? lifeCycle.candidatesSeen.caller : lifeCycle.candidatesSeen.callee
        let sent = isCaller ? lifeCycle.candidatesSent.caller : lifeCycle.candidatesSent.callee
        guard seen == Self.batches, sent > 0 else { return }
        let since = isCaller ? lifeCycle.candidatesSent.callee : lifeCycle.candidatesSent.caller
        if since > 0 { worker.record(.seesCandidates, since: since, to: now) }
        if isCaller { self.lifeCycle?.candidatesSeen.caller += 1 } else { self.lifeCycle?.candidatesSeen.callee += 1 }
        sendForCall(connection, .connected, "calls.connected", "")
    }

    private func finishIfOver(at now: UInt64) {
        guard let lifeCycle, lifeCycle.isEndConfirmed, lifeCycle.seesEnd.caller, lifeCycle.seesEnd.callee
        else { return }
        worker.record(.lifeCycle, since: lifeCycle.due, to: now)
        lastCall = lifeCycle.call
        self.lifeCycle = nil
        worker.finished(self)
    }

    private func giveUp() {
        guard lifeCycle != nil else { return }
        pending = ([:], [:])
        if lifeCycle?.call != nil { sendForCall(caller, .end, "calls.end", "") }
        pending = ([:], [:])
        lastCall = lifeCycle?.call
        lifeCycle = nil
        worker.gaveUp(self)
    }

    private func send(_ connection: RealtimeConnection, _ step: CallsStep, _ name: StaticString, _ params: String) {
        let id = connection.request(name, params)
        let request = PendingRequest(step: step, at: CallsClock.now)
        if connection === caller { pending.caller[id] = request } else { pending.callee[id] = request }
    }

    private func sendForCall(_ connection: RealtimeConnection, _ step: CallsStep, _ name: StaticString, _ more: String)
    {
        guard let call = lifeCycle?.call else { return }
        send(connection, step, name, #"{"call":"\#(call)"\#(more)}"#)
    }

    /// The progress of the life cycle, for its error message.
    private var progress: String {
        guard let lifeCycle else { return "idle" }
        if lifeCycle.call == nil { return "no ring" }
        if !lifeCycle.hasOffer { return "no offer" }
        if !lifeCycle.hasAnswer { return "no answer" }
        if lifeCycle.connections < 2 { return "not connected" }
        return "not ended"
    }
}
