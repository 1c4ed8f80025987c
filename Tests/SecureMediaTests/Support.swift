import TestSupport
import Testing
import Wire

@testable import SecureMedia

/// A sender and a receiver with packets as arrays, which tests find easier.
final class Ends {
    private var sender: SRTPSender
    private var receiver: SRTPReceiver

    init(_ key: SRTPMasterKey, maximumSources: Int = SRTPSender.defaultSources) throws {
        guard let sender = SRTPSender.make(key, maximumSources: maximumSources),
            let receiver = SRTPReceiver.make(key, maximumSources: maximumSources)
        else { throw SRTPError.cryptographyFailed }
        self.sender = sender
        self.receiver = receiver
    }

    /// With session keys in place of a master key, as some vectors have them.
    init(session keys: SRTPSessionKeys) throws {
        guard let sender = SRTPSender.make(keys, keys, maximumSources: 8),
            let receiver = SRTPReceiver.make(keys, keys, maximumSources: 8)
        else { throw SRTPError.cryptographyFailed }
        self.sender = sender
        self.receiver = receiver
    }

    var sourceCount: Int { receiver.sourceCount }
    var reporterCount: Int { receiver.reporterCount }
    var rejectedBySender: SRTPRejections { sender.rejections }
    var rejectedByReceiver: SRTPRejections { receiver.rejections }
    var senderLimits: SRTPKeyLimits {
        get { sender.limits }
        set { sender.limits = newValue }
    }
    var receiverLimits: SRTPKeyLimits {
        get { receiver.limits }
        set { receiver.limits = newValue }
    }

    func forget(_ source: UInt32) { receiver.forget(source) }
    func forgetSending(_ source: UInt32) { sender.forget(source) }

    func protectRTP(_ packet: [UInt8], space: Int = 16) -> Result<[UInt8], SRTPError> {
        changed(packet + [UInt8](repeating: 0xEE, count: space)) { buffer throws(SRTPError) in
            try sender.protectRTP(buffer, count: packet.count)
        }
    }

    func protectRTCP(_ packet: [UInt8], space: Int = 20) -> Result<[UInt8], SRTPError> {
        changed(packet + [UInt8](repeating: 0xEE, count: space)) { buffer throws(SRTPError) in
            try sender.protectRTCP(buffer, count: packet.count)
        }
    }

    func unprotectRTP(_ packet: [UInt8]) -> Result<[UInt8], SRTPError> {
        changed(packet) { buffer throws(SRTPError) in try receiver.unprotectRTP(buffer) }
    }

    func unprotectRTCP(_ packet: [UInt8]) -> Result<[UInt8], SRTPError> {
        changed(packet) { buffer throws(SRTPError) in try receiver.unprotectRTCP(buffer) }
    }

    private func changed(
        _ bytes: [UInt8], _ body: (UnsafeMutableRawBufferPointer) throws(SRTPError) -> Int
    ) -> Result<[UInt8], SRTPError> {
        var buffer = bytes
        return buffer.withUnsafeMutableBytes { all in
            do throws(SRTPError) {
                let count = try body(all)
                return .success(Array(all.prefix(count)))
            } catch {
                return .failure(error)
            }
        }
    }
}

extension SRTPMasterKey {
    static func random(_ profile: SRTPProfile, _ generator: inout SeededRandom) throws -> SRTPMasterKey {
        try #require(
            SRTPMasterKey(
                profile, key: generator.bytes(profile.keyByteCount), salt: generator.bytes(profile.saltByteCount)))
    }
}

extension SeededRandom {
    /// An RTP packet of 12 to 1500 bytes: sources that contributed, extensions of one and two bytes, padding.
    mutating func rtp(source: UInt32, sequence: UInt16) -> [UInt8] {
        let contributors = Bool.random(using: &self) ? Int.random(in: 0...15, using: &self) : 0
        let extended = Int.random(in: 0...2, using: &self)
        let padded = Int.random(in: 0...3, using: &self) == 0
        let first = 0x80 | UInt8(contributors) | (extended > 0 ? 0x10 : 0) | (padded ? 0x20 : 0)
        var packet: [UInt8] = [first, UInt8(truncatingIfNeeded: next())]
        packet.append(bigEndian: sequence)
        packet += bytes(4)
        packet.append(bigEndian: source)
        packet += bytes(4 * contributors)
        if extended > 0 {
            let words = Int.random(in: 0...8, using: &self)
            packet.append(bigEndian: extended == 1 ? 0xBEDE as UInt16 : 0x1000)
            packet.append(bigEndian: UInt16(words))
            packet += bytes(4 * words)
        }
        if Int.random(in: 0...9, using: &self) > 0 {
            packet += bytes(Int.random(in: 0...(1500 - packet.count), using: &self))
        }
        if padded {
            let count = Int.random(in: 1...16, using: &self)
            packet += [UInt8](repeating: 0, count: count - 1) + [UInt8(count)]
        }
        return packet
    }

    /// An RTCP compound: a receiver report and perhaps more behind it.
    mutating func rtcp(source: UInt32) -> [UInt8] {
        var packet: [UInt8] = []
        for _ in 0...Int.random(in: 0...3, using: &self) {
            let words = Int.random(in: 1...40, using: &self)
            packet += [0x80, UInt8.random(in: 200...206, using: &self)]
            packet.append(bigEndian: UInt16(words))
            packet.append(bigEndian: source)
            packet += bytes(4 * (words - 1))
        }
        return packet
    }
}
