import NIOCore

/// Two virtual users, of whom one calls the other, over and over: the life cycle as a machine. It lives on one event
/// loop, and so does everything it touches.
final class CallsPair {
    /// What a request on the wire was, and when it was sent.
    private struct Asked { var step: CallsStep; var at: UInt64 }

    /// One life cycle under way.
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
        var isEndAnswered = false
        var hasOffer = false
        var hasAnswer = false
    }

    private static let batches = 2

    let caller: CallsConnection
    let callee: CallsConnection
    private unowned let worker: CallsWorker
    private var asked: (caller: [Int: Asked], callee: [Int: Asked]) = ([:], [:])
    private var lifeCycle: LifeCycle?
    private var listening = 0
    /// The call before, of which some last word may still come.
    private var lastCall: String?
    private(set) var isReady = false
    private(set) var isBroken = false

    init(_ caller: CallsConnection, _ callee: CallsConnection, worker: CallsWorker) {
        self.caller = caller
        self.callee = callee
        self.worker = worker
        caller.pair = self
        callee.pair = self
    }

    /// When the life cycle that is under way was begun.
    var began: UInt64? { lifeCycle?.began }

    /// Begins a life cycle that was due at `due`.
    func begin(due: UInt64, at now: UInt64) {
        lifeCycle = LifeCycle(due: due, began: now)
        let params =
            #"{"clientID":"\#(UUIDText.make())","callees":["\#(callee.person.user)"],"kind":"audio","offer":{"sdp":"\#(CallsPayloads.offer)"}}"#
        ask(caller, .create, "calls.create", params)
    }

    /// A frame came to one of the two.
    func took(_ frame: CallsFrame, _ text: Span<UInt8>, on connection: CallsConnection) {
        let now = CallsClock.now
        if let stream = frame.stream {
            if stream.hasPrefix("call:") {
                tookCall(String(stream.dropFirst(5)), text, on: connection, at: now)
            } else if stream.hasPrefix("signals:") {
                tookSignals(stream, text, on: connection, at: now)
            }
        } else if let id = frame.id {
            tookAnswer(id, frame, text, on: connection, at: now)
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

    func lost(_ connection: CallsConnection) {
        guard !isBroken else { return }
        isBroken = true
        if !worker.isOver { worker.count(error: "connection lost") }
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
    private func tookAnswer(
        _ id: Int, _ frame: CallsFrame, _ text: Span<UInt8>, on connection: CallsConnection, at now: UInt64
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
        guard let asked = isCaller ? asked.caller.removeValue(forKey: id) : asked.callee.removeValue(forKey: id) else {
            return
        }
        guard !frame.isError else {
            return failed("\(asked.step.name): \(text.text(after: #""type":""#) ?? "?")")
        }
        worker.record(asked.step, since: asked.at, to: now)
        switch asked.step {
        case .ringing:
            lifeCycle?.accepted = now
            askAboutCall(callee, .accept, "calls.accept", #","clientID":"\#(UUIDText.make())""#)
        case .connected:
            lifeCycle?.connections += 1
            guard lifeCycle?.connections == 2 else { return }
            lifeCycle?.ended = now
            askAboutCall(caller, .end, "calls.end", "")
        case .end:
            lifeCycle?.isEndAnswered = true
            finishIfOver(at: now)
        default: break
        }
    }

    private func tookCall(_ call: String, _ text: Span<UInt8>, on connection: CallsConnection, at now: UInt64) {
        guard lifeCycle != nil, call != lastCall else { return }
        let isCaller = connection === caller
        if lifeCycle?.call == nil || lifeCycle?.call == call {
            let isFirst = isCaller ? lifeCycle?.callerStream.isEmpty == true : lifeCycle?.call == nil
            if isCaller { lifeCycle?.callerStream = call }
            if isFirst, !isCaller, text.occurrences(of: #""status":"ended""#) == 0 {
                lifeCycle?.call = call
                worker.record(.seesRing, since: lifeCycle?.began ?? now, to: now)
                askAboutCall(callee, .ringing, "calls.ringing", "")
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

    private func tookSignals(_ stream: String, _ text: Span<UInt8>, on connection: CallsConnection, at now: UInt64) {
        guard let lifeCycle, let call = lifeCycle.call, stream.dropFirst(8).hasPrefix(call) else { return }
        let isCaller = connection === caller
        if !isCaller, !lifeCycle.hasOffer, text.occurrences(of: #""kind":"offer""#) > 0 {
            self.lifeCycle?.hasOffer = true
            self.lifeCycle?.answered = now
            worker.record(.seesOffer, since: lifeCycle.accepted, to: now)
            askAboutCall(
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

    private func sendCandidates(_ connection: CallsConnection) {
        let now = CallsClock.now
        if connection === caller {
            lifeCycle?.candidatesSent.caller = now
        } else {
            lifeCycle?.candidatesSent.callee = now
        }
        for batch in 1...Self.batches {
            askAboutCall(
                connection, .candidates, "calls.signals",
                #","clientID":"\#(UUIDText.make())","kind":"candidates","generation":1,"payload":{"candidates":\#(CallsPayloads.candidates),"end":\#(batch == Self.batches)}"#
            )
        }
        connectIfReady(connection, at: now)
    }

    /// Media would flow once one has sent one's own candidates and has the other's.
    private func connectIfReady(_ connection: CallsConnection, at now: UInt64) {
        guard let lifeCycle else { return }
        let isCaller = connection === caller
        let seen = isCaller ? lifeCycle.candidatesSeen.caller : lifeCycle.candidatesSeen.callee
        let sent = isCaller ? lifeCycle.candidatesSent.caller : lifeCycle.candidatesSent.callee
        guard seen == Self.batches, sent > 0 else { return }
        let since = isCaller ? lifeCycle.candidatesSent.callee : lifeCycle.candidatesSent.caller
        if since > 0 { worker.record(.seesCandidates, since: since, to: now) }
        if isCaller { self.lifeCycle?.candidatesSeen.caller += 1 } else { self.lifeCycle?.candidatesSeen.callee += 1 }
        askAboutCall(connection, .connected, "calls.connected", "")
    }

    private func finishIfOver(at now: UInt64) {
        guard let lifeCycle, lifeCycle.isEndAnswered, lifeCycle.seesEnd.caller, lifeCycle.seesEnd.callee else { return }
        worker.record(.lifeCycle, since: lifeCycle.due, to: now)
        lastCall = lifeCycle.call
        self.lifeCycle = nil
        worker.finished(self)
    }

    private func giveUp() {
        guard lifeCycle != nil else { return }
        asked = ([:], [:])
        if lifeCycle?.call != nil { askAboutCall(caller, .end, "calls.end", "") }
        asked = ([:], [:])
        lastCall = lifeCycle?.call
        lifeCycle = nil
        worker.gaveUp(self)
    }

    private func ask(_ connection: CallsConnection, _ step: CallsStep, _ name: StaticString, _ params: String) {
        let id = connection.request(name, params)
        let asking = Asked(step: step, at: CallsClock.now)
        if connection === caller { asked.caller[id] = asking } else { asked.callee[id] = asking }
    }

    private func askAboutCall(_ connection: CallsConnection, _ step: CallsStep, _ name: StaticString, _ more: String) {
        guard let call = lifeCycle?.call else { return }
        ask(connection, step, name, #"{"call":"\#(call)"\#(more)}"#)
    }

    /// How far the life cycle came, for the error that it ends with.
    private var progress: String {
        guard let lifeCycle else { return "idle" }
        if lifeCycle.call == nil { return "no ring" }
        if !lifeCycle.hasOffer { return "no offer" }
        if !lifeCycle.hasAnswer { return "no answer" }
        if lifeCycle.connections < 2 { return "not connected" }
        return "not ended"
    }
}
