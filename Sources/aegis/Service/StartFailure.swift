import Configuration

/// Why a start ends instead of waiting.
struct StartFailure: Error {
    /// Whole, as it is printed.
    let message: String
    let exitCode: Int32

    init(message: String, exitCode: Int32) {
        self.message = message
        self.exitCode = exitCode
    }

    /// Only a change of the configuration helps.
    init(_ problem: Problem) {
        self.init(message: problem.description, exitCode: ExitCode.usage)
    }
}
