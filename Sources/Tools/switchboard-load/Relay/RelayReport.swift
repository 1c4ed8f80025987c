import Foundation
import Histogram

/// The results of a relay run.
struct RelayReport: RunReport {
    let transport: LoadTransport
    let allocations: Int
    /// Packets a second of each allocation; 0 for as fast as possible.
    let rate: Double
    let payload: Int
    var seconds = 0.0
    var sent: UInt64 = 0
    /// Packets that reached the peer, and those that came back.
    var reached: UInt64 = 0
    var received: UInt64 = 0
    /// Microseconds.
    var oneWay = Histogram<UInt64>()
    var roundTrip = Histogram<UInt64>()
    var server: ProcessTimes?
    var own: ProcessTimes?
    /// Packets that were due while their connection was full.
    var held: UInt64 = 0

    init(transport: LoadTransport, allocations: Int, rate: Double, payload: Int) {
        self.transport = transport
        self.allocations = allocations
        self.rate = rate
        self.payload = payload
    }

    private var lost: UInt64 { sent > received ? sent - received : 0 }
    /// Each packet that comes back was relayed twice.
    private var relayed: UInt64 { reached + received }

    private func perPacket(_ seconds: Double) -> Double {
        relayed > 0 ? seconds * 1e6 / Double(relayed) : 0
    }

    var table: String {
        var lines = [
            "\(allocations) allocations over \(transport.rawValue.uppercased()), \(sent) packets of \(payload) bytes sent, \(received) back, \(lost) lost"
                + " (\(decimal(sent > 0 ? Double(lost) * 100 / Double(sent) : 0, 3)) %)",
            "\(decimal(seconds > 0 ? Double(relayed) / seconds : 0, 0)) packets relayed a second", "",
            row("microseconds", pointNames), row("to the peer", percentiles(oneWay)),
            row("there and back", percentiles(roundTrip)),
        ]
        if let server {
            lines += [
                "",
                "server CPU for each packet: \(decimal(perPacket(server.all.total), 2)) µs"
                    + " (user \(decimal(perPacket(server.all.user), 2)), system \(decimal(perPacket(server.all.system), 2)))",
            ]
        }
        if held > 0 {
            lines += ["", "\(held) packets were not sent, since their connections were full: the rate is too high"]
        }
        if let own {
            // This includes half a second of grace, in which little happens.
            let share = seconds > 0 ? own.all.total / seconds : 0
            lines += [
                "",
                "this program: \(decimal(perPacket(own.all.total), 2)) µs CPU for each packet, "
                    + "\(decimal(share * 100, 0)) % of a core",
            ]
            if share > 0.95 { lines += ["It is at its limit: start it more than once to load the server further."] }
        }
        return lines.joined(separator: "\n")
    }

    var json: Data {
        get throws {
            struct Stats: Encodable {
                var transport: String
                var allocations: Int
                var rate: Double
                var payload: Int
                var seconds: Double
                var sent, received, lost, held: UInt64
                var relayedPerSecond: Double
                var oneWayMicroseconds, roundTripMicroseconds: [String: UInt64]
                var serverMicrosecondsPerPacket, serverUserMicrosecondsPerPacket: Double?
                var ownMicrosecondsPerPacket: Double?
            }
            return try written(
                Stats(
                    transport: transport.rawValue, allocations: allocations, rate: rate, payload: payload,
                    seconds: seconds, sent: sent, received: received, lost: lost, held: held,
                    relayedPerSecond: seconds > 0 ? Double(relayed) / seconds : 0,
                    oneWayMicroseconds: named(oneWay), roundTripMicroseconds: named(roundTrip),
                    serverMicrosecondsPerPacket: server.map { perPacket($0.all.total) },
                    serverUserMicrosecondsPerPacket: server.map { perPacket($0.all.user) },
                    ownMicrosecondsPerPacket: own.map { perPacket($0.all.total) }))
        }
    }
}
