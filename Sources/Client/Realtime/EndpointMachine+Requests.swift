/// A request that has not been answered.
struct PendingRequest: Sendable {
    var name: String
    /// JSON text, the same every time it is sent.
    var params: [UInt8]
    var deadline: Int64
}

extension EndpointMachine {
    /// Makes a request, now or as soon as there is a connection; `key` is answered once.
    mutating func submit(
        _ name: String, params: [UInt8], for key: Key, at now: Int64, into actions: inout [Action]
    ) {
        if case .stopped(let error) = link { return actions.append(.answer(key, .failure(error))) }
        guard requests.count < limits.pendingRequests else {
            return actions.append(.answer(key, .failure(.overflow)))
        }
        requests[key] = PendingRequest(name: name, params: params, deadline: now + limits.requestTimeout)
        unsent.append(key)
        sendRequests(into: &actions)
    }

    /// Forgets a request whose answer nobody waits for any more. What the server has of it stays done.
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

    mutating func answered(_ id: Int, _ result: Result<Answer, Problem>, at now: Int64, into actions: inout [Action]) {
        switch purposes.removeValue(forKey: id) {
        case .listen(let stream): listened(stream, result, at: now, into: &actions)
        case .request(let key):
            inFlight -= 1
            if requests.removeValue(forKey: key) != nil {
                actions.append(.answer(key, result.map(\.frame).mapError(SwitchboardError.refused)))
            }
            sendRequests(into: &actions)
        case .token, .unlisten, nil: break
        }
    }

    mutating func expireRequests(at now: Int64, into actions: inout [Action]) {
        for (key, request) in requests.sorted(by: { $0.key < $1.key }) where now >= request.deadline {
            withdraw(key)
            actions.append(.answer(key, .failure(.timedOut)))
        }
    }
}
