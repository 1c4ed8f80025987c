/// A request without a response yet.
struct PendingRequest: Sendable {
    var name: String
    /// JSON text, the same every time it is sent.
    var params: [UInt8]
    var deadline: Int64
}

extension EndpointMachine {
    /// Sends a request, now or as soon as there is a connection; `key` is completed exactly once.
    mutating func submit(
        _ name: String, params: [UInt8], for key: Key, at now: Int64, into actions: inout [Action]
    ) {
        if case .stopped(let error) = connectionState { return actions.append(.complete(key, .failure(error))) }
        guard requests.count < limits.pendingRequests else {
            return actions.append(.complete(key, .failure(.overflow)))
        }
        requests[key] = PendingRequest(name: name, params: params, deadline: now + limits.requestTimeout)
        unsent.append(key)
        sendRequests(into: &actions)
    }

    /// Drops a request whose caller was cancelled. The server may already have carried it out.
    mutating func withdraw(_ key: Key) {
        requests[key] = nil
        unsent.removeAll { $0 == key }
    }

    mutating func sendRequests(into actions: inout [Action]) {
        guard isLive, !unsent.isEmpty else { return }
        var sent = 0
        for key in unsent {
            guard inFlight < limits.requestsInFlight else { break }
            sent += 1
            guard let request = requests[key] else { continue }
            let id = makeID()
            purposes[id] = .request(key)
            inFlight += 1
            actions.append(.send(.request(id: id, name: request.name, params: request.params)))
        }
        unsent.removeFirst(sent)
    }

    mutating func receiveResult(
        _ id: Int, _ result: Result<ResultFrame, Problem>, at now: Int64, into actions: inout [Action]
    ) {
        switch purposes.removeValue(forKey: id) {
        case .listen(let stream): receiveListenResult(stream, result, at: now, into: &actions)
        case .request(let key):
            inFlight -= 1
            if requests.removeValue(forKey: key) != nil {
                actions.append(.complete(key, result.map(\.frame).mapError(SwitchboardError.refused)))
            }
            sendRequests(into: &actions)
        case .token, .unlisten, nil: break
        }
    }

    mutating func expireRequests(at now: Int64, into actions: inout [Action]) {
        for (key, request) in requests.sorted(by: { $0.key < $1.key }) where now >= request.deadline {
            withdraw(key)
            actions.append(.complete(key, .failure(.timedOut)))
        }
    }
}
