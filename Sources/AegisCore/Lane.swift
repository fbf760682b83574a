/// A share of the sender: urgent first, without starving bulk.
package enum Lane: String, Hashable, Sendable, CaseIterable {
    case urgent
    case standard
    case bulk
}
