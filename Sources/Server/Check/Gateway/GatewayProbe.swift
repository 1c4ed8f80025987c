import DatagramIO
import Foundation
import Wire

/// Tests the media gateway as a group call does: two legs of a call that exists only in the gateway, each with ICE and
/// a DTLS handshake, and an SRTP packet that the gateway forwards from one leg to the other.
///
/// It does so over each UDP address that the gateway gives to clients. It does not prove that these addresses are
/// reached from other machines, nor ICE over TCP.
struct GatewayProbe: Sendable {
    private struct Round {
        /// All that the gateway gave.
        let addresses: [TransportAddress]
        let profile: String
        /// From one leg to the other.
        let milliseconds: Double
    }

    private static let packets = 100

    let server: RunningServer

    func run() async -> CheckOutcome {
        do throws(CheckProblem) {
            var rounds: [Round] = []
            repeat {
                rounds.append(try await test(rounds.count))
            } while rounds.count < rounds[0].addresses.count
            let details = zip(rounds[0].addresses, rounds).map { address, round in
                "\(String(format: "%.2f", round.milliseconds)) ms over UDP \(address)"
            }
            return .passed(
                "ICE, DTLS and \(rounds[0].profile) with two legs, and a packet from one to the other: "
                    + details.joined(separator: ", "))
        } catch {
            return .failed(error)
        }
    }

    /// Two legs over one of the addresses.
    private func test(_ index: Int) async throws(CheckProblem) -> Round {
        let call = UUID().uuidString
        let offers = [try GatewayLegOffer(), try GatewayLegOffer()]
        let result: Result<Round, CheckProblem>
        do throws(CheckProblem) {
            var answers: [GatewayLegAnswer] = []
            for (leg, offer) in offers.enumerated() {
                let answer = try await server.ask(.leg(call: call, leg: "\(leg)", sdp: offer.text))
                answers.append(try GatewayLegAnswer(answer))
            }
            result = .success(try Self.exchange(offers, answers, index))
        } catch {
            result = .failure(error)
        }
        for leg in offers.indices { _ = try? await server.ask(.endLeg(call: call, leg: "\(leg)")) }
        return try result.get()
    }

    private static func exchange(
        _ offers: [GatewayLegOffer], _ answers: [GatewayLegAnswer], _ index: Int
    ) throws(CheckProblem) -> Round {
        let addresses = answers[0].addresses
        guard addresses.indices.contains(index) else {
            throw CheckProblem(
                "the gateway gives clients no UDP address",
                remedy: "Set relay.listen to this machine's addresses, and relay.externalAddress behind a NAT.")
        }
        let sending = try GatewayLegClient(offers[0], answers[0], over: addresses[index])
        let receiving = try GatewayLegClient(offers[1], answers[1], over: addresses[index])
        try sending.connect()
        try receiving.connect()
        defer {
            sending.close()
            receiving.close()
        }
        let marker = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        for _ in 0..<Self.packets {
            let start = SystemClock.now()
            sending.sendAudio(marker)
            guard receiving.receives(marker, until: start.adding(nanoseconds: 20_000_000)) else { continue }
            return Round(
                addresses: addresses, profile: receiving.profile,
                milliseconds: Double(SystemClock.now().nanoseconds(since: start)) / 1_000_000)
        }
        throw CheckProblem(
            "both legs are connected over UDP \(addresses[index]), but no packet passes from one to the other",
            remedy: "Look at the drops of the gateway on /metrics, and restart the server.")
    }
}
