import Wire

// Feedback messages: the SSRCs of the sender and of the media source, then the feedback control information (RFC 4585
// section 6.1).

extension RTCPPacket {
    /// The media source of NACK, PLI and transport-wide feedback; 0 in FIR and REMB, which list their sources
    /// separately.
    package var mediaSource: UInt32? {
        switch kind {
        case .nack, .pictureLoss, .fullIntraRequest, .estimatedMaximumBitrate, .transportFeedback:
            body.integer(at: 4, as: UInt32.self)
        default: nil
        }
    }

    /// Calls `visit` with each sequence number that a generic NACK requests (RFC 4585 section 6.2.1): one, and a bit
    /// for each of the 16 after it. Visits no more than `limit`; false when there were more.
    @discardableResult
    package func visitLost(atMost limit: Int = .max, _ visit: (UInt16) -> Void) -> Bool {
        guard kind == .nack else { return true }
        var left = limit
        var offset = 8
        while let first = body.integer(at: offset, as: UInt16.self),
            var rest = body.integer(at: offset &+ 2, as: UInt16.self)
        {
            guard left > rest.nonzeroBitCount else { return false }
            left &-= 1 &+ rest.nonzeroBitCount
            visit(first)
            var sequence = first
            while rest != 0 {
                sequence &+= 1
                if rest & 1 != 0 { visit(sequence) }
                rest >>= 1
            }
            offset &+= 4
        }
        return true
    }

    /// Calls `visit` with each source that a key frame is requested from, and the command's sequence number, which
    /// stays the same when the command is repeated (RFC 5104 section 4.3.1).
    package func visitFullIntraRequests(_ visit: (UInt32, UInt8) -> Void) {
        guard kind == .fullIntraRequest else { return }
        var offset = 8
        while let ssrc = body.integer(at: offset, as: UInt32.self), let number = body.byte(at: offset &+ 4),
            offset &+ 8 <= body.byteCount
        {
            visit(ssrc, number)
            offset &+= 8
        }
    }

    /// REMB (draft-alvestrand-rmcat-remb-03 section 2.2): the receiver's limit in bits per second, saturated.
    ///
    ///     |  'R' 'E' 'M' 'B'                                              |
    ///     |  Num SSRC     | BR Exp    |  BR Mantissa                      |
    package var estimatedMaximumBitrate: UInt64? {
        guard kind == .estimatedMaximumBitrate, body.integer(at: 8, as: UInt32.self) == 0x5245_4D42,
            let value = body.integer(at: 12, as: UInt32.self)
        else { return nil }
        let mantissa = UInt64(value & 0x3FFFF)
        let exponent = Int(value >> 18 & 63)
        guard mantissa != 0 else { return 0 }
        return mantissa.leadingZeroBitCount >= exponent ? mantissa << UInt64(exponent) : .max
    }
}
