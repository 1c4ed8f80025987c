package import Model
internal import Webhooks

/// Which pushes may be under way at a time, by the host that they go to and the user that they are for.
///
/// Hosts of Web Push are named by clients, who may name some that never respond. One that responds has many slots. Those
/// of which nothing is known share some, and those that did not respond share a few: however many hosts hang, pushes to
/// those that work go on. So does what is for others than a user who has many devices.
package struct PushLanes: Sendable {
    package struct Limits: Sendable {
        package var all = 512
        package var user = 8
        /// Of one host that responds, and of a service that the operator has configured.
        package var host = 256
        package var service = 128
        /// Of all hosts together of which nothing is known, and of one of them.
        package var unknown = 128
        package var unknownHost = 32
        /// Of all hosts together that did not respond the last time, and of one of them.
        package var silent = 32
        package var silentHost = 4
        /// Hosts that are remembered.
        package var hosts = 1_024
        /// For how long a push waits for a slot, in milliseconds: a call that rings, others, and to a silent host.
        package var ringWait: Int64 = 250
        package var wait: Int64 = 1_000
        package var silentWait: Int64 = 15_000
        package var silentRingWait: Int64 = 2_000
        package var maxWait: Int64 = 120_000
        /// After so many attempts in a row without a response a host that had responded is silent.
        package var misses = 8

        package init() {}
    }

    fileprivate enum Kind {
        case responding
        case unknown
        case silent
    }

    private struct Host {
        var kind: Kind
        var inFlight = 0
        /// Attempts since the last response.
        var misses = 0
        /// Pushes that wait since there was no slot.
        var waiting = 0
        var usedAt: Timestamp
    }

    /// The push services of browsers' makers are known to respond, and those that operators configure.
    private static let services: Set = [
        "fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com",
    ]
    private static let windowsDomain = ".notify.windows.com"
    /// Begins the names of services that operators configure. The name of no host has one.
    private static let configured = "/"

    private let limits: Limits
    private var hosts: [String: Host] = [:]
    private var users: [UserID: Int] = [:]
    private var inFlight = 0
    private var shared: [Kind: Int] = [:]

    package init(limits: Limits = Limits()) { self.limits = limits }

    package var all: Int { limits.all }

    /// A push that has begun.
    package struct Slot: Hashable, Sendable {
        fileprivate let host: String
        fileprivate let user: UserID
        fileprivate let kind: Kind
    }

    package enum Decision: Hashable, Sendable {
        case begin(Slot)
        /// There is no slot; how long to wait, in milliseconds.
        case wait(Int64)
    }

    package mutating func begin(_ name: String, for user: UserID, isRing: Bool, at now: Timestamp) -> Decision {
        var host = hosts[name] ?? Host(kind: Self.isService(name) ? .responding : .unknown, usedAt: now)
        host.usedAt = now
        let (ofHost, ofAll) =
            switch host.kind {
            case .responding where Self.isConfigured(name): (limits.service, limits.all)
            case .responding: (limits.host, limits.all)
            case .unknown: (limits.unknownHost, limits.unknown)
            case .silent: (limits.silentHost, limits.silent)
            }
        let hasSlot =
            inFlight < limits.all && host.inFlight < ofHost && shared[host.kind, default: 0] < ofAll
            && users[user, default: 0] < limits.user
        guard hasSlot else {
            guard host.kind == .silent else { return .wait(isRing ? limits.ringWait : limits.wait) }
            host.waiting += 1
            hosts[name] = host
            if isRing { return .wait(limits.silentRingWait) }
            // The more wait, the less often each of them asks.
            let turns = Int64(max(1, host.waiting / max(1, limits.silentHost)))
            return .wait(min(limits.silentWait * turns, limits.maxWait))
        }
        host.inFlight += 1
        host.waiting = max(0, host.waiting - 1)
        inFlight += 1
        shared[host.kind, default: 0] += 1
        users[user, default: 0] += 1
        hosts[name] = host
        return .begin(Slot(host: name, user: user, kind: host.kind))
    }

    /// - Parameter hasResponded: whether the host has responded, with whatever; nil if the attempt was not made.
    package mutating func end(_ slot: Slot, hasResponded: Bool?, at now: Timestamp) {
        inFlight -= 1
        shared[slot.kind, default: 0] -= 1
        let left = users[slot.user, default: 1] - 1
        users[slot.user] = left > 0 ? left : nil
        guard var host = hosts[slot.host] else { return }
        host.inFlight -= 1
        if hasResponded == true {
            (host.kind, host.misses, host.waiting) = (.responding, 0, 0)
        } else if hasResponded == false, !Self.isConfigured(slot.host) {
            host.misses += 1
            if host.kind != .responding || host.misses >= limits.misses { host.kind = .silent }
        }
        hosts[slot.host] = host
        if hosts.count > limits.hosts { forget() }
    }

    private static func isService(_ name: String) -> Bool {
        isWellKnown(name) || isConfigured(name)
    }

    /// Whether it is the push service of a browser's maker. Others may be any web site.
    package static func isWellKnown(_ host: String) -> Bool {
        services.contains(host) || host.hasSuffix(windowsDomain)
    }

    /// One that does not respond for a while is no hostile client's: all that it fails to take at a time are requests of one
    /// connection that was lost, and it is not kept from those that follow.
    private static func isConfigured(_ name: String) -> Bool { name.hasPrefix(configured) }

    package static func host(of address: PushAddress) -> String {
        switch address {
        case .web(let address): address.endpoint.authority
        case .fcm: configured + PushKind.fcm.rawValue
        case .apns(let address): configured + PushKind.apns.rawValue + configured + address.environment.rawValue
        }
    }

    /// A quarter of the hosts, of those without anything under way: first those that do not respond, then those that were used
    /// least recently.
    private mutating func forget() {
        let idle = hosts.filter { $0.value.inFlight == 0 }.sorted { left, right in
            let (isLeft, isRight) = (left.value.kind == .responding, right.value.kind == .responding)
            return isLeft == isRight ? left.value.usedAt < right.value.usedAt : isRight
        }
        for (name, _) in idle.prefix(limits.hosts / 4) { hosts[name] = nil }
    }
}
