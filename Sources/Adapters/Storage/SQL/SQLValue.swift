package import Model

/// One value that a statement binds or a row holds, in the types that SQLite and PostgreSQL share:
/// BIGINT, DOUBLE PRECISION, TEXT and BLOB (BYTEA). Booleans are a BIGINT of 0 or 1, times a BIGINT of milliseconds
/// since 1970.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

extension SQLValue {
    package static func integer(_ value: Int) -> Self { .integer(Int64(value)) }
    package static func bool(_ value: Bool) -> Self { .integer(value ? 1 : 0) }
    package static func time(_ value: Timestamp) -> Self { .integer(value.milliseconds) }
    package static func id<Entity>(_ value: Identifier<Entity>) -> Self { .text(value.text) }
    package static func stream(_ value: StreamName) -> Self { .text(value.text) }

    package static func integer(_ value: Int64?) -> Self { value.map { .integer($0) } ?? .null }
    package static func real(_ value: Double?) -> Self { value.map { .real($0) } ?? .null }
    package static func text(_ value: String?) -> Self { value.map { .text($0) } ?? .null }
    package static func blob(_ value: [UInt8]?) -> Self { value.map { .blob($0) } ?? .null }
    package static func time(_ value: Timestamp?) -> Self { value.map { .integer($0.milliseconds) } ?? .null }
    package static func id<Entity>(_ value: Identifier<Entity>?) -> Self { value.map { .text($0.text) } ?? .null }
}

extension SQLValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(stringLiteral value: String) { self = .text(value) }
    package init(nilLiteral: ()) { self = .null }
}
