import Calls
import Model
import Testing

/// The kind of the problem that `body` throws.
func problem(_ body: () throws -> some Any) -> Problem.Kind? { rejection(body)?.kind }

func rejection(_ body: () throws -> some Any) -> Problem? {
    do {
        _ = try body()
        return nil
    } catch let problem as Problem {
        return problem
    } catch {
        Issue.record("Not a problem: \(error)")
        return nil
    }
}
