internal import OpenSSLCrypto
internal import RTP
import Wire

/// Unprotects the packets of the other side of a session (RFC 3711, RFC 7714), in place.
///
/// It belongs to one thread. Only an authenticated packet changes its state: adds a source, advances the rollover
/// counter and updates the replay window. Each packet is accepted once; packets older than the replay window are
/// rejected.
package struct SRTPReceiver: ~Copyable {
    package let profile: SRTPProfile
    private let rtp: PacketTransform
    private let rtcp: PacketTransform
    private var sources: SourceTable<ReplayWindow>
    private var reporters: SourceTable<ReplayWindow>
    var limits = SRTPKeyLimits()
    package private(set) var rejections = SRTPRejections()

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

    /// The number of sources that have sent RTP, and RTCP.
    package var sourceCount: Int { sources.count }
    package var reporterCount: Int { reporters.count }

    /// Retires a source that the peer no longer uses, to free its entry. It may return, with higher numbers than
    /// before.
    package mutating func forget(_ source: UInt32) {
        sources.retire(source) { $0.highest }
        reporters.retire(source) { $0.highest }
    }

    /// Unprotects the RTP packet in the buffer, and returns its new size.
    package mutating func unprotectRTP(_ packet: UnsafeMutableRawBufferPointer) throws(SRTPError) -> Int {
        do {
            return try openRTP(packet)
        } catch {
            rejections.count(error)
            throw error
        }
    }

    /// The same for an RTCP compound.
    package mutating func unprotectRTCP(_ packet: UnsafeMutableRawBufferPointer) throws(SRTPError) -> Int {
        do {
            return try openRTCP(packet)
        } catch {
            rejections.count(error)
            throw error
        }
    }

    private mutating func openRTP(_ packet: UnsafeMutableRawBufferPointer) throws(SRTPError) -> Int {
        let tag = rtp.tagByteCount
        guard packet.count <= SRTPBounds.maximumByteCount else { throw .tooLong }
        guard packet.count >= SecuredRTPHeader.fixedByteCount &+ tag else { throw .tooShort }
        // A header that reaches into the tag is not one.
        guard let header = SecuredRTPHeader(packet.readable(0..<packet.count &- tag).bytes) else { throw .malformed }
        let sourceIndex = sources.index(of: header.source)
        if sourceIndex == nil, sources.isFull { throw .tooManySources }
        let retired = sourceIndex == nil ? sources.retired(header.source) : nil
        let highest = sourceIndex.map { sources[$0].highest } ?? retired ?? 0
        let index = PacketIndex.estimate(header.sequence, highest: highest)
        guard index < PacketIndex.limit, limits.rtpCount < PacketIndex.limit else { throw .keyLimitReached }
        if let sourceIndex { try Self.check(sources[sourceIndex].verdict(on: index)) }
        if let retired, index <= retired { throw .replayed }
        try rtp.openRTP(packet, header: header.byteCount, source: header.source, index: index)
        try limits.spendRTP(index)
        sources.record(index, of: header.source, at: sourceIndex, after: retired)
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
        let sourceIndex = reporters.index(of: header.source)
        if sourceIndex == nil, reporters.isFull { throw .tooManySources }
        guard limits.rtcpCount < SRTPKeyLimits.maximumRTCP else { throw .keyLimitReached }
        let retired = sourceIndex == nil ? reporters.retired(header.source) : nil
        if let sourceIndex { try Self.check(reporters[sourceIndex].verdict(on: UInt64(index))) }
        if let retired, UInt64(index) <= retired { throw .replayed }
        try rtcp.openRTCP(packet, header: SecuredRTCPHeader.byteCount, source: header.source, index: index)
        try limits.spendRTCP(index)
        reporters.record(UInt64(index), of: header.source, at: sourceIndex, after: retired)
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
    /// - Parameter retired: the source's highest index before it was retired.
    mutating func record(_ index: UInt64, of source: UInt32, at sourceIndex: Int?, after retired: UInt64?) {
        if let sourceIndex {
            self[sourceIndex].record(index)
        } else {
            var window = retired.map { ReplayWindow(after: $0) } ?? ReplayWindow()
            window.record(index)
            add(source, window)
        }
    }
}
