import ICE
import SDP
import SwitchboardClient

/// One call that is answered: it negotiates media with the other side or the gateway, and hangs up when nobody else is
/// there.
///
/// Everything that happens to the call becomes a message, and messages are handled one at a time.
actor EchoCall {
    private enum Message: Sendable {
        case document(Call)
        case signal(Signal)
        /// The state of the leg with the gateway has changed.
        case leg
        case media(EchoWorker.LegID, EchoLegEvent)
        /// Every ten seconds.
        case tick
        /// A leg with the gateway is to be made again.
        case retry
        case over
    }

    private static let messageLimit = 2_048
    private static let tickInterval = Duration.seconds(10)
    private static let retryDelay = Duration.seconds(1)

    private let call: LiveCall
    private let user: UserID
    private let addresses: EchoAddresses
    private let worker: EchoWorker
    private let report: @Sendable (EchoEvent) -> Void
    private let counts = EchoCounts()
    private let messages: AsyncStream<Message>
    private let sink: AsyncStream<Message>.Continuation

    private var hasJoined = false
    /// Why the call is over for this side.
    private var endReason: String?
    /// The connection with the other side of a call of two.
    private var peer: EchoPeer?
    private var peerLeg: EchoWorker.LegID?
    private var generation = 0
    private var gatewayLeg: EchoWorker.LegID?
    private var lastReceived = 0

    init(
        _ call: LiveCall, _ user: UserID, _ addresses: EchoAddresses, _ worker: EchoWorker,
        report: @escaping @Sendable (EchoEvent) -> Void
    ) {
        self.call = call
        self.user = user
        self.addresses = addresses
        self.worker = worker
        self.report = report
        (messages, sink) = AsyncStream.makeStream(
            of: Message.self, bufferingPolicy: .bufferingOldest(Self.messageLimit))
    }

    private var name: String { call.id.rawValue }

    /// Answers the call, and returns when it is over.
    func run() async {
        let document = call.document
        let caller = document.participant(document.caller)?.displayName ?? document.caller.rawValue
        report(.rings(call: name, kind: document.kind.rawValue, from: caller))
        let start = ContinuousClock.now
        do {
            try await call.ringing()
            try await call.accept(media: MediaChange(audio: true, video: document.kind == .video))
        } catch {
            return report(.failed(call: name, "\(error)"))
        }
        report(.answered(call: name))
        await handleMessages()
        for leg in [peerLeg, gatewayLeg].compactMap(\.self) { worker.close(leg) }
        let sent = counts.current.sent
        report(
            .ended(
                call: name, reason: endReason ?? "the sign-in ended",
                seconds: Int(clamping: (ContinuousClock.now - start).components.seconds),
                audio: sent[.audio, default: 0], video: sent[.video, default: 0]))
    }

    /// Hangs up; `run` then returns.
    func hangUp() async {
        endReason = endReason ?? "stopped"
        _ = try? await call.leave()
        finish("stopped")
    }

    /// The call is over for this side; the first reason counts.
    private func finish(_ reason: String) {
        endReason = endReason ?? reason
        sink.yield(.over)
    }

    private func handleMessages() async {
        await withTaskGroup(of: Void.self) { group in
            let (call, sink) = (call, sink)
            group.addTask {
                for await document in call.updates { sink.yield(.document(document)) }
                sink.yield(.over)
            }
            group.addTask {
                // It ends with the call; a reader that is too slow loses signals, and the caller offers again.
                do { for try await signal in call.signals { sink.yield(.signal(signal)) } } catch {}
            }
            group.addTask { for await _ in call.legStates { sink.yield(.leg) } }
            group.addTask {
                while (try? await Task.sleep(for: Self.tickInterval)) != nil { sink.yield(.tick) }
            }
            for await message in messages {
                if case .over = message { break }
                await handle(message)
            }
            group.cancelAll()
        }
    }

    private func handle(_ message: Message) async {
        switch message {
        case .document(let document): await handle(document)
        case .signal(let signal):
            guard case .offer(let sdp) = signal.content, signal.generation > generation else { return }
            await answer(sdp, signal.generation)
        case .leg:
            // The latest state: a change may be older than the leg that was made meanwhile.
            switch call.legState.need {
            // Only VP8 is offered, which every leg can decode.
            case nil, .otherCodec: return
            case .first, .gatewayRestarted, .ended: await joinGateway()
            }
        case .retry: if gatewayLeg == nil, call.document.mode == "gateway" { await joinGateway() }
        case .media(let leg, let event): await handle(event, of: leg)
        case .tick:
            let received = counts.current.received
            guard received > lastReceived else { return }
            lastReceived = received
            // Not awaited, since the server may be restarting.
            Task { [call] in _ = try? await call.alive() }
        case .over: return
        }
    }

    // MARK: The document

    private func handle(_ document: Call) async {
        guard document.status != .ended else {
            return finish(document.endReason?.rawValue ?? "ended")
        }
        guard let own = document.participant(user) else { return }
        guard own.state == .joined else {
            // The first document may be from before the call was accepted.
            guard hasJoined else { return }
            return finish(own.reason?.rawValue ?? "left")
        }
        hasJoined = true
        let others = document.participants.filter { $0.user != user }
        guard others.contains(where: { [.joined, .invited, .ringing].contains($0.state) }) else {
            // A group call would go on with this user alone.
            finish("everybody left")
            _ = try? await call.leave()
            return
        }
        await mirror(others, own.media)
    }

    /// Shows the media that is sent back as this side's own. Accepting another call holds this one, which an echo does
    /// not.
    private func mirror(_ others: [Participant], _ media: Participant.Media) async {
        let hasVideo = others.contains { $0.state == .joined && $0.media.video }
        guard !media.audio || media.held || media.video != hasVideo else { return }
        _ = try? await call.setMedia(MediaChange(audio: true, video: hasVideo, held: false))
    }

    // MARK: A call of two

    private func answer(_ sdp: String, _ generation: Int) async {
        self.generation = generation
        do {
            let answer = try accept(try SessionDescription.parse(sdp))
            try await call.send(.answer(sdp: answer), generation: generation)
        } catch {
            report(.failed(call: name, "an offer was not answered: \(error)"))
        }
    }

    /// Applies an offer to the connection, or to a new one if the offer is of a new connection. Returns the answer.
    private func accept(_ offer: SessionDescription) throws -> String {
        if var known = peer, let leg = peerLeg {
            do {
                let outcome = try known.answer(offer)
                peer = known
                guard case .change(let change, let answer) = outcome else { throw MediaFailure("no connection") }
                worker.change(leg, change)
                return answer
            } catch  where EchoPeer.isOfAnotherConnection(error) {
                worker.close(leg)
            }
        }
        peer = nil
        peerLeg = nil
        var made = try EchoPeer(addresses)
        guard case .begin(let plan, let answer) = try made.answer(offer) else { throw MediaFailure("no connection") }
        peer = made
        peerLeg = open(plan)
        return answer
    }

    // MARK: The gateway

    private func joinGateway() async {
        if let leg = gatewayLeg { worker.close(leg) }
        gatewayLeg = nil
        do {
            let identity = try EchoIdentity(isServer: false)
            let offer = MediaOffer(
                MediaParameters(audio: true, video: true, audioSlots: 1, videoSlots: 1),
                try LocalCredentials.random(), fingerprint: identity.fingerprint)
            let leg = try await call.leg(offer: offer.text)
            gatewayLeg = open(try EchoLegPlan(try LegPlan(offer, answer: leg.answer), identity.context))
        } catch {
            report(.failed(call: name, "no leg with the media gateway: \(error)"))
            retryLater()
        }
    }

    private func retryLater() {
        Task { [sink] in
            try? await Task.sleep(for: Self.retryDelay)
            sink.yield(.retry)
        }
    }

    // MARK: Legs

    private func open(_ plan: EchoLegPlan) -> EchoWorker.LegID {
        worker.open(plan, counts) { [sink] leg, event in sink.yield(.media(leg, event)) }
    }

    private func handle(_ event: EchoLegEvent, of leg: EchoWorker.LegID) async {
        guard leg == peerLeg || leg == gatewayLeg else { return }
        switch event {
        case .connected(let address):
            report(.mediaConnected(call: name, address: address))
            // The call has moved to the gateway.
            if leg == gatewayLeg, let old = peerLeg {
                worker.close(old)
                peer = nil
                peerLeg = nil
            }
            _ = try? await call.connected()
        case .echoes(let kind): report(.echoes(call: name, kind))
        case .ended(let why):
            report(.mediaEnded(call: name, why))
            if leg == gatewayLeg {
                gatewayLeg = nil
                retryLater()
            } else {
                // The caller's next offer begins a new connection.
                peer = nil
                peerLeg = nil
            }
        }
    }
}
