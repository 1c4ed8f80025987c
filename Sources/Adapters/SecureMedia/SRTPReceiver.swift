internal import OpenSSLCrypto
internal import RTP
import Wire

/// Unprotects what the other side of a session sends (RFC 3711, RFC 7714), in the buffer that it lies in.
///
/// It belongs to one thread. Nothing is believed before it is authentic: only then a source is remembered, its rollover
/// counter moves and a packet counts as seen. A packet comes out once; of those far behind the newest it cannot be told
/// whether they did, so they never do.
package struct SRTPReceiver: ~Copyable {
    package let profile: SRTPProfile
    private let rtp: PacketTransform
    private let rtcp: PacketTransform
    private var sources: SourceTable<ReplayWindow>
    private var reporters: SourceTable<ReplayWindow>
    var limits = SRTPKeyLimits()
    package private(set) var refusals = SRTPRefusals()

    private init(
        _ profile: SRTPProfile, _ rtp: consuming PacketTransform, _ rtcp: consuming PacketTransform, sources: Int
    ) {
        self.profile = profile
        self.rtp = rtp
        self.rtcp = rtcp
        self.sources = SourceTable(limit: sources)
        reporters = SourceTable(limit: sources)
    }

    /// nil when OpenSSL has no memory.
    package static func make(
        _ key: SRTPMasterKey, maximumSources: Int = SRTPSender.defaultSources
    ) -> SRTPReceiver? {
        guard let rtp = key.derive(.rtp), let rtcp = key.derive(.rtcp) else { return nil }
        return make(rtp, rtcp, maximumSources: maximumSources)
    }

    static func make(_ rtp: SRTPSessionKeys, _ rtcp: SRTPSessionKeys, maximumSources: Int) -> SRTPReceiver? {
        guard let first = PacketTransform.make(rtp, .opens), let second = PacketTransform.make(rtcp, .opens) else {
            return nil
        }
        return SRTPReceiver(rtp.profile, first, second, sources: maximumSources)
    }

    /// Sources that have sent RTP, and sources that have sent RTCP.
    package var sourceCount: Int { sources.count }
    package var reporterCount: Int { reporters.count }

    /// Makes room for another source, where a peer is known to have given this one up. It may come back, with numbers
    /// behind those it had.
    package mutating func forget(_ source: UInt32) {
        sources.retire(source) { $0.highest }
        reporters.retire(source) { $0.highest }
    }

    /// Unprotects the RTP packet that the buffer is, and says how many of its first bytes are the packet then.
    package mutating func unprotectRTP(_ packet: UnsafeMutableRawBufferPointer) throws(SRTPError) -> Int {
        do {
            return try openRTP(packet)
        } catch {
            refusals.count(error)
            throw error
        }
    }

    /// The same for an RTCP compound.
    package mutating func unprotectRTCP(_ packet: UnsafeMutableRawBufferPointer) throws(SRTPError) -> Int {
        do {
            return try openRTCP(packet)
        } catch {
            refusals.count(error)
            throw error
        }
    }

    private mutating func openRTP(_ packet: UnsafeMutableRawBufferPointer) throws(SRTPError) -> Int {
        let tag = rtp.tagByteCount
        guard packet.count <= SRTPBounds.maximumByteCount else { throw .tooLong }
        guard packet.count >= SecuredRTPHeader.fixedByteCount &+ tag else { throw .tooShort }
        // A header that reaches into the tag is not one.
        guard let header = SecuredRTPHeader(packet.readable(0..<packet.count &- tag).bytes) else { throw .malformed }
        let place = sources.place(of: header.source)
        if place == nil, sources.isFull { throw .tooManySources }
        let retired = place == nil ? sources.retired(header.source) : nil
        let highest = place.map { sources[$0].highest } ?? retired ?? 0
        let index = PacketIndex.estimate(header.sequence, highest: highest)
        guard index < PacketIndex.limit, limits.rtpCount < PacketIndex.limit else { throw .keyLimitReached }
        if let place { try Self.check(sources[place].verdict(on: index)) }
        if let retired, index <= retired { throw .replayed }
        try rtp.openRTP(packet, header: header.byteCount, source: header.source, index: index)
        try limits.spendRTP(index)
        sources.note(index, of: header.source, at: place, after: retired)
        return packet.count &- tag
    }

    private mutating func openRTCP(_ packet: UnsafeMutableRawBufferPointer) throws(SRTPError) -> Int {
        let added = rtcp.tagByteCount &+ PacketTransform.trailerByteCount
        guard packet.count <= SRTPBounds.maximumByteCount else { throw .tooLong }
        guard packet.count >= SecuredRTCPHeader.byteCount &+ added else { throw .tooShort }
        let bytes = UnsafeRawBufferPointer(packet).bytes
        guard let header = SecuredRTCPHeader(bytes),
            let trailer = bytes.integer(at: rtcp.rtcpParts(packet.count).trailer.lowerBound, as: UInt32.self)
        else { throw .malformed }
        guard trailer & PacketTransform.encryptedFlag != 0 else { throw .notEncrypted }
        let index = trailer & ~PacketTransform.encryptedFlag
        let place = reporters.place(of: header.source)
        if place == nil, reporters.isFull { throw .tooManySources }
        guard limits.rtcpCount < SRTPKeyLimits.maximumRTCP else { throw .keyLimitReached }
        let retired = place == nil ? reporters.retired(header.source) : nil
        if let place { try Self.check(reporters[place].verdict(on: UInt64(index))) }
        if let retired, UInt64(index) <= retired { throw .replayed }
        try rtcp.openRTCP(packet, header: SecuredRTCPHeader.byteCount, source: header.source, index: index)
        try limits.spendRTCP(index)
        reporters.note(UInt64(index), of: header.source, at: place, after: retired)
        return packet.count &- added
    }

    private static func check(_ verdict: ReplayWindow.Verdict) throws(SRTPError) {
        switch verdict {
        case .new: return
        case .replayed: throw .replayed
        case .tooOld: throw .tooOld
        }
    }
}

extension SourceTable<ReplayWindow> {
    /// - Parameter retired: the source's highest index of before, where it was given up.
    mutating func note(_ index: UInt64, of source: UInt32, at place: Int?, after retired: UInt64?) {
        if let place {
            self[place].note(index)
        } else {
            var window = retired.map { ReplayWindow(after: $0) } ?? ReplayWindow()
            window.note(index)
            add(source, window)
        }
    }
}
