internal import OpenSSLCrypto
internal import RTP
import Wire

/// Protects the packets that one side of a session sends (RFC 3711, RFC 7714), in place.
///
/// It belongs to one thread. It keeps the rollover counter of each source, so packets may be slightly out of order; the
/// same sequence number twice is rejected, since a nonce must never be used for two packets: retransmissions have to
/// reuse the protected bytes, or be sent as RTX on their own source (RFC 4588).
package struct SRTPSender: ~Copyable {
    /// The maximum number of bytes that protection adds, for RTCP.
    package static let maximumExpansion = 20
    /// The default limit of sources per session: five audio and twenty-five video slots with RTX are 55.
    package static let defaultSources = 128

    package let profile: SRTPProfile
    private let rtp: PacketTransform
    private let rtcp: PacketTransform
    private var sources: SourceTable<ReplayWindow>
    /// The index of each source's next compound.
    private var reporters: SourceTable<UInt32>
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
    package static func make(_ key: SRTPMasterKey, maximumSources: Int = defaultSources) -> SRTPSender? {
        guard let rtp = key.derive(.rtp), let rtcp = key.derive(.rtcp) else { return nil }
        return make(rtp, rtcp, maximumSources: maximumSources)
    }

    static func make(_ rtp: SRTPSessionKeys, _ rtcp: SRTPSessionKeys, maximumSources: Int) -> SRTPSender? {
        guard let first = PacketTransform.make(rtp, .seals), let second = PacketTransform.make(rtcp, .seals) else {
            return nil
        }
        return SRTPSender(rtp.profile, first, second, sources: maximumSources)
    }

    /// Bytes that protecting adds to an RTP packet.
    package var rtpExpansion: Int { rtp.tagByteCount }
    /// Bytes that protecting adds to an RTCP compound.
    package var rtcpExpansion: Int { rtcp.tagByteCount &+ PacketTransform.trailerByteCount }

    package var sourceCount: Int { sources.count }

    /// Retires a source that is no longer sent, to free its entry. If it is used again, it continues after its last
    /// index.
    package mutating func forget(_ source: UInt32) {
        sources.retire(source) { $0.highest }
        reporters.retire(source) { UInt64($0) }
    }

    /// Protects the RTP packet in the first `count` bytes of the buffer, and returns its new size.
    package mutating func protectRTP(
        _ buffer: UnsafeMutableRawBufferPointer, count: Int
    ) throws(SRTPError) -> Int {
        do {
            return try sealRTP(buffer, count)
        } catch {
            rejections.count(error)
            throw error
        }
    }

    /// The same for an RTCP compound whose packets all have the same sender.
    package mutating func protectRTCP(
        _ buffer: UnsafeMutableRawBufferPointer, count: Int
    ) throws(SRTPError) -> Int {
        do {
            return try sealRTCP(buffer, count)
        } catch {
            rejections.count(error)
            throw error
        }
    }

    private mutating func sealRTP(_ buffer: UnsafeMutableRawBufferPointer, _ count: Int) throws(SRTPError) -> Int {
        let packet = try SRTPBounds.check(
            buffer, count, adding: rtp.tagByteCount, minimum: SecuredRTPHeader.fixedByteCount)
        guard let header = SecuredRTPHeader(buffer.readable(0..<count).bytes) else { throw .malformed }
        let sourceIndex = try sourceIndex(of: header.source)
        let index = PacketIndex.estimate(header.sequence, highest: sources[sourceIndex].highest)
        switch sources[sourceIndex].verdict(on: index) {
        case .replayed: throw .replayed
        case .tooOld: throw .tooOld
        case .new: break
        }
        try limits.spendRTP(index)
        guard rtp.sealRTP(packet, header: header.byteCount, source: header.source, index: index) else {
            throw .cryptographyFailed
        }
        sources[sourceIndex].record(index)
        return packet.count
    }

    private mutating func sourceIndex(of source: UInt32) throws(SRTPError) -> Int {
        if let sourceIndex = sources.index(of: source) { return sourceIndex }
        guard !sources.isFull else { throw .tooManySources }
        sources.add(source, sources.retired(source).map { ReplayWindow(after: $0) } ?? ReplayWindow())
        return sources.count &- 1
    }

    private mutating func sealRTCP(_ buffer: UnsafeMutableRawBufferPointer, _ count: Int) throws(SRTPError) -> Int {
        let packet = try SRTPBounds.check(buffer, count, adding: rtcpExpansion, minimum: SecuredRTCPHeader.byteCount)
        guard let header = SecuredRTCPHeader(buffer.readable(0..<count).bytes) else { throw .malformed }
        let sourceIndex: Int
        if let known = reporters.index(of: header.source) {
            sourceIndex = known
        } else {
            guard !reporters.isFull else { throw .tooManySources }
            sourceIndex = reporters.count
            reporters.add(header.source, reporters.retired(header.source).map { UInt32(clamping: $0) } ?? 0)
        }
        let index = reporters[sourceIndex]
        try limits.spendRTCP(index)
        reporters[sourceIndex] = index &+ 1
        guard
            rtcp.sealRTCP(packet, header: SecuredRTCPHeader.byteCount, source: header.source, index: index)
        else { throw .cryptographyFailed }
        return packet.count
    }
}

/// The lifetime of one master key (RFC 3711 section 9.2): 2^48 RTP and 2^31 RTCP packets, over all sources.
struct SRTPKeyLimits {
    static let maximumRTCP: UInt64 = 1 << 31

    var rtpCount: UInt64 = 0
    var rtcpCount: UInt64 = 0

    mutating func spendRTP(_ index: UInt64) throws(SRTPError) {
        guard rtpCount < PacketIndex.limit, index < PacketIndex.limit else { throw .keyLimitReached }
        rtpCount &+= 1
    }

    mutating func spendRTCP(_ index: UInt32) throws(SRTPError) {
        guard rtcpCount < Self.maximumRTCP, UInt64(index) < Self.maximumRTCP else { throw .keyLimitReached }
        rtcpCount &+= 1
    }
}

enum SRTPBounds {
    /// No UDP datagram is longer.
    static let maximumByteCount = 65_535

    /// The part of the buffer for a packet of `count` bytes and `adding` more.
    static func check(
        _ buffer: UnsafeMutableRawBufferPointer, _ count: Int, adding: Int, minimum: Int
    ) throws(SRTPError) -> UnsafeMutableRawBufferPointer {
        guard count >= minimum else { throw .tooShort }
        guard count <= maximumByteCount &- adding else { throw .tooLong }
        guard count &+ adding <= buffer.count else { throw .bufferTooSmall }
        return buffer.part(0..<count &+ adding)
    }
}
