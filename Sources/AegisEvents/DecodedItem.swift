package import AegisCore

/// What one event in a record came to.
package enum DecodedItem: Hashable, Sendable {
    case event(DomainEvent)
    case ignored(IgnoreReason)
    case rejected(Rejection)
}
