import FuzzInput
import SecureMedia
import Wire

/// A session whose keys are known, under packets from the input: bytes as they are, and packets that were protected and
/// then cut, lengthened, changed or sent again. What comes out must have gone in, once.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSRTP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(UnsafeRawBufferPointer(start: start, count: count))
    let profile = SRTPProfile.preferred[Int(input.byte()) % SRTPProfile.preferred.count]
    guard var harness = Harness(profile) else { return 0 }
    var steps = 0
    while !input.isEmpty, steps < 100 {
        harness.step(&input)
        steps += 1
    }
    return 0
}

private struct Harness: ~Copyable {
    private static let maximumSources = 4

    private var sender: SRTPSender
    private var receiver: SRTPReceiver
    /// Protected packets of both kinds that have not come out yet, and what they were before.
    private var underWay: [[UInt8]: [UInt8]] = [:]
    private var latest: [UInt8] = []
    private var sequence: UInt16 = 65_000

    init?(_ profile: SRTPProfile) {
        let key = [UInt8](repeating: 3, count: profile.keyByteCount)
        let salt = [UInt8](repeating: 7, count: profile.saltByteCount)
        guard let master = SRTPMasterKey(profile, key: key, salt: salt),
            let sender = SRTPSender.make(master, maximumSources: 8),
            let receiver = SRTPReceiver.make(master, maximumSources: Self.maximumSources)
        else { return nil }
        self.sender = sender
        self.receiver = receiver
    }

    mutating func step(_ input: inout FuzzInput) {
        let choice = input.byte()
        let isRTCP = choice & 0x80 != 0
        switch choice & 7 {
        case 0: receive(input.take(Int(input.byte())), isRTCP)
        case 1, 2: protect(&input, isRTCP)
        case 3: protectRaw(input.take(Int(input.byte())), isRTCP)
        case 4: receive(Array(latest.dropLast(Int(input.byte()))), isRTCP)
        case 5: receive(latest + input.take(Int(input.byte() & 31)), isRTCP)
        case 6: receive(changed(&input), isRTCP)
        default: receive(latest, isRTCP)
        }
        if receiver.sourceCount > Self.maximumSources || receiver.reporterCount > Self.maximumSources {
            fatalError("more sources than allowed")
        }
    }

    private func changed(_ input: inout FuzzInput) -> [UInt8] {
        guard !latest.isEmpty else { return [] }
        var packet = latest
        packet[Int(input.byte()) % packet.count] ^= input.byte()
        return packet
    }

    /// A packet that a sender would protect.
    private mutating func protect(_ input: inout FuzzInput, _ isRTCP: Bool) {
        sequence &+= UInt16(input.byte()) &* (input.byte() & 15 == 0 ? 129 : 1)
        var packet: [UInt8] = [0x80 | input.byte() & 0x3F, 96]
        if !isRTCP {
            packet.append(bigEndian: sequence)
            packet.append(bigEndian: UInt32(0))
        } else {
            packet.append(bigEndian: UInt16(1))
        }
        packet.append(bigEndian: UInt32(input.byte() & 7))
        protectRaw(packet + input.take(Int(input.byte())), isRTCP)
    }

    private mutating func protectRaw(_ packet: [UInt8], _ isRTCP: Bool) {
        var buffer = packet + [UInt8](repeating: 0, count: SRTPSender.maximumExpansion)
        let count = buffer.withUnsafeMutableBytes { all in
            isRTCP
                ? try? sender.protectRTCP(all, count: packet.count) : try? sender.protectRTP(all, count: packet.count)
        }
        guard let count else { return }
        let protected = Array(buffer.prefix(count))
        latest = protected
        underWay[[isRTCP ? 1 : 0] + protected] = packet
    }

    private mutating func receive(_ packet: [UInt8], _ isRTCP: Bool) {
        var buffer = packet
        let count = buffer.withUnsafeMutableBytes { all in
            isRTCP ? try? receiver.unprotectRTCP(all) : try? receiver.unprotectRTP(all)
        }
        guard let count else { return }
        guard underWay.removeValue(forKey: [isRTCP ? 1 : 0] + packet) == Array(buffer.prefix(count)) else {
            fatalError("a packet that was not sent, or that came out twice")
        }
    }
}
