import Languages
internal import Model

/// Validates and normalizes the values of accounts. Each function returns the value to store, or throws a `Problem`
/// that names the field.
package enum AccountRules {
    /// The maximum number of open sign-ins, and of devices, per user.
    package static let maxSignIns = 64

    /// The lookup key of an address: trimmed and in lower case. The case of the local part may matter to the mail
    /// server (RFC 5321 section 2.4), but it never distinguishes two people.
    package static func emailKey(_ email: String) -> String { trimmed(email).lowercased() }

    /// Checks only the syntax, not whether the mailbox exists.
    package static func email(_ email: String, field: String = "email") throws -> String {
        let email = trimmed(email)
        let parts = email.split(separator: "@", omittingEmptySubsequences: false)
        guard email.utf8.count <= 254, parts.count == 2, !parts[0].isEmpty, parts[0].utf8.count <= 64 else {
            throw Problem.invalid(field, "This is not an e-mail address.")
        }
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        let isDomain = labels.allSatisfy { label in
            !label.isEmpty && label.utf8.count <= 63 && label.first != "-" && label.last != "-"
                && label.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || isDigit($0) || $0 == "-" }
        }
        let isClean = email.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && !isControl($0) }
        guard isDomain, labels.count >= 2, isClean else {
            throw Problem.invalid(field, "This is not an e-mail address.")
        }
        return email
    }

    /// 8 to 128 characters; length makes a password hard to guess, so no character classes are required.
    package static func password(_ password: String, field: String = "password") throws -> String {
        guard password.count >= 8 else { throw Problem.invalid(field, "A password needs at least 8 characters.") }
        guard password.count <= 128, password.utf8.count <= 512 else {
            throw Problem.invalid(field, "A password has at most 128 characters.")
        }
        return password
    }

    /// 1 to 80 characters, none of which is invisible or changes the direction of text: `NameCharacters` has the list.
    package static func displayName(_ name: String, field: String = "displayName") throws -> String {
        let name = trimmed(name)
        guard !name.isEmpty, name.utf8.count <= 640, name.count <= 80 else {
            throw Problem.invalid(field, "A name has 1 to 80 characters.")
        }
        try checkClusters(name, field: field)
        if let disallowed = NameCharacters.firstDisallowed(in: name) {
            throw Problem.invalid(
                field,
                "A name must not contain \(NameCharacters.name(of: disallowed)): it is invisible or changes the text "
                    + "direction.")
        }
        return name
    }

    /// A text that others read, such as a note. Empty is allowed; what is invisible or changes the text direction is not.
    package static func text(
        _ text: String, field: String, characters: Int, mayHaveLines: Bool = false
    ) throws -> String {
        // A character may have many bytes: bounded before they are counted.
        guard text.utf8.count <= 8 * characters, text.count <= characters else {
            throw Problem.invalid(field, "\(field) has at most \(characters) characters.")
        }
        try checkClusters(text, field: field)
        let text = trimmed(text)
        let line = mayHaveLines ? String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 }) : text
        if let disallowed = NameCharacters.firstDisallowed(in: line) {
            throw Problem.invalid(
                field,
                "\(field) must not contain \(NameCharacters.name(of: disallowed)): it is invisible or changes the text "
                    + "direction.")
        }
        return text
    }

    /// - Throws: `invalid_request` of the field if a character has so many marks that they cover what is around it.
    private static func checkClusters(_ text: String, field: String) throws {
        guard !text.hasLongCluster else {
            throw Problem.invalid(
                field, "A character of \(field) has at most \(String.maxClusterLength - 1) marks.")
        }
    }

    /// Language tags in the order of preference, without duplicates.
    package static func languages(_ tags: [String], field: String = "languages") throws -> [String] {
        guard tags.count <= 16 else { throw Problem.invalid(field, "At most 16 languages.") }
        var seen: Set<String> = []
        return try tags.enumerated().compactMap { index, tag in
            let tag = try language(tag, field: "\(field)[\(index)]")
            return seen.insert(tag).inserted ? tag : nil
        }
    }

    /// A language tag in the case of RFC 5646 section 2.1.1.
    package static func language(_ tag: String, field: String) throws -> String {
        try LanguageTag(tag, field: field).string
    }

    package static func device(_ claim: DeviceClaim?) throws -> DeviceClaim {
        guard let claim else { return DeviceClaim(name: "Unknown device", platform: "unknown") }
        func text(_ value: String, _ field: String) throws -> String {
            let value = trimmed(value)
            guard !value.isEmpty, value.count <= 80, value.utf8.count <= 640,
                value.unicodeScalars.allSatisfy({ !isControl($0) })
            else { throw Problem.invalid(field, "Expected 1 to 80 characters without control characters.") }
            return value
        }
        return DeviceClaim(
            id: claim.id, name: try text(claim.name, "device.name"),
            platform: try text(claim.platform, "device.platform"))
    }

    /// The secret that a client chose for its endpoint.
    package static func endpointSecret(_ secret: String) throws -> String {
        let isClean = secret.unicodeScalars.allSatisfy { isLetter($0) || isDigit($0) || $0 == "-" || $0 == "_" }
        guard (16...128).contains(secret.utf8.count), isClean else {
            throw Problem.invalid("secret", "An endpoint's secret has 16 to 128 characters of A-Z, a-z, 0-9, - and _.")
        }
        return secret
    }
}

extension AccountRules {
    package static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    /// Control characters, line separators and bidirectional controls, which can make a text look like another.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        }
    }
}
