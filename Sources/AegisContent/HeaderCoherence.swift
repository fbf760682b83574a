package import AegisCore

extension NotificationRules {
    /// Why the headers of this type's pushes would contradict each other or the payload; nil where they agree.
    ///
    /// APNs refuses such a push, or takes it and drops it, so it is refused where the catalog is read.
    ///
    /// - Source: Apple, "Sending notification requests to APNs" and "Pushing background updates to your app".
    package var headerProblem: String? {
        if timeToLive <= .zero { return "a push that has expired when it is made is sent to no one" }
        switch pushType {
        case .alert:
            if interruptionLevel == .critical, pushPriority != .immediate {
                return "a critical interruption goes out with priority 10: declare the type critical or high"
            }
            return nil
        case .background:
            if pushPriority != .powerAware { return "a background push goes out with priority 5" }
            if interruptionLevel == .critical { return "a background push interrupts nobody" }
            return nil
        case .voip:
            guard pushPriority != .immediate else { return nil }
            return "a voip push goes out with priority 10: declare the type critical or high"
        case .liveactivity:
            return "a live activity's state cannot be rendered from texts"
        }
    }
}
