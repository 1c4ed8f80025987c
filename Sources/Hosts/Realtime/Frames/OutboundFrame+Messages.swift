import Bus
import Model
import NIOCore

/// The messages that the server sends.
extension OutboundFrame {
    /// `{"stream":"call:C1","changes":[{"seq":18,"type":"participant","data":{…}}]}`
    static func changes(_ changes: some Collection<Change>, of stream: StreamName) -> Self {
        let size = changes.reduce(64) { $0 + $1.data.utf8.count + $1.type.utf8.count + 48 }
        return Self(expecting: size) { buffer in
            buffer.writeText(#"{"stream":"#)
            buffer.writeQuoted(stream.text)
            buffer.writeText(#","changes":["#)
            var separator: StaticString = #"{"seq":"#
            for change in changes {
                buffer.writeText(separator)
                buffer.writeDecimal(change.position.sequence)
                buffer.writeText(#","type":"#)
                buffer.writeQuoted(change.type)
                buffer.writeText(#","data":"#)
                buffer.writeString(change.data)
                buffer.writeText("}")
                separator = #",{"seq":"#
            }
            buffer.writeText("]}")
        }
    }

    /// `{"stream":"inbox:U1","rows":[{…}],"epoch":"e1","after":17,"upTo":21}`
    static func rows(
        _ rows: [String], of stream: StreamName, after: Int64, upTo position: Position, gap: ClosedRange<Int64>? = nil
    ) -> Self {
        Self(expecting: rows.reduce(160) { $0 + $1.utf8.count + 1 }) { buffer in
            buffer.writeText(#"{"stream":"#)
            buffer.writeQuoted(stream.text)
            buffer.writeText(#","rows":["#)
            var separator: StaticString = ""
            for row in rows {
                buffer.writeText(separator)
                buffer.writeString(row)
                separator = ","
            }
            buffer.writeText(#"],"epoch":"#)
            buffer.writeQuoted(position.epoch)
            buffer.writeText(#","after":"#)
            buffer.writeDecimal(after)
            buffer.writeText(#","upTo":"#)
            buffer.writeDecimal(position.sequence)
            if let gap {
                buffer.writeText(#","gap":["#)
                buffer.writeDecimal(gap.lowerBound)
                buffer.writeText(",")
                buffer.writeDecimal(gap.upperBound)
                buffer.writeText("]")
            }
            buffer.writeText("}")
        }
    }

    /// `{"stream":"call:C1","snapshot":{…},"epoch":"e1","seq":17}`; without epoch and seq where there is no log.
    static func snapshot(_ json: [UInt8], of stream: StreamName, at position: Position) -> Self {
        Self(expecting: json.count + 128) { buffer in
            buffer.writeText(#"{"stream":"#)
            buffer.writeQuoted(stream.text)
            buffer.writeText(#","snapshot":"#)
            buffer.writeBytes(json)
            if stream.hasPositions {
                buffer.writeText(#","epoch":"#)
                buffer.writeQuoted(position.epoch)
                buffer.writeText(#","seq":"#)
                buffer.writeDecimal(position.sequence)
            }
            buffer.writeText("}")
        }
    }

    /// `{"stream":"call:C1","reset":{"reason":"gap"}}`
    static func reset(_ stream: StreamName, _ reason: ResetReason) -> Self {
        Self { buffer in
            buffer.writeText(#"{"stream":"#)
            buffer.writeQuoted(stream.text)
            buffer.writeText(#","reset":{"reason":"#)
            buffer.writeQuoted(reason.rawValue)
            buffer.writeText("}}")
        }
    }

    /// `{"stream":"presence:U2","event":{…}}`
    static func event(_ event: EphemeralEvent) -> Self {
        Self { buffer in
            buffer.writeText(#"{"stream":"#)
            buffer.writeQuoted(event.stream.text)
            buffer.writeText(#","event":"#)
            buffer.writeString(event.data)
            buffer.writeText("}")
        }
    }

    static func presence(_ presence: Presence, of stream: StreamName) -> Self {
        event(EphemeralEvent(stream: stream, data: presence.json))
    }

    /// `{"heartbeat":{"serverTime":"…"}}`
    static func heartbeat(at now: Timestamp) -> Self {
        Self { buffer in
            buffer.writeText(#"{"heartbeat":{"serverTime":""#)
            buffer.writeString(now.text)
            buffer.writeText(#""}}"#)
        }
    }

    /// `{"bye":{"code":4008,"reason":"slow","retryAfter":1500}}`; `retryAfter` in milliseconds.
    static func bye(_ bye: Bye, retryAfter: Int64?) -> Self {
        Self { buffer in
            buffer.writeText(#"{"bye":{"code":"#)
            buffer.writeDecimal(Int64(bye.code))
            buffer.writeText(#","reason":"#)
            buffer.writeQuoted(bye.reason)
            if let retryAfter {
                buffer.writeText(#","retryAfter":"#)
                buffer.writeDecimal(retryAfter)
            }
            buffer.writeText("}}")
        }
    }
}
