import Logging
import Model

extension Logger.MetadataProvider {
    /// `request`: the id of the request that the current task handles, or that started it.
    static let request = Self { RequestID.current.map { ["request": "\($0.text)"] } ?? [:] }
}
