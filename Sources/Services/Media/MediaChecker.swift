package import Model
package import Storage

/// Checks whether a user currently has access to the files of a resource.
package typealias MediaChecker = @Sendable (_ resource: String, UserID, StoreTransaction) throws -> Bool
