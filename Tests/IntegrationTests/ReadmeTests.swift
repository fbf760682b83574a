import AegisTestKit
import Foundation
import Testing

@Suite(.enabled(if: BrokerProcess.part.isToBeTested, "\(BrokerProcess.part.reason)"))
struct ReadmeTests {
    @Test func `links, the demo's output and the commands of the README hold`() async throws {
        let script = ServiceHarness.repository.appending(path: "scripts/check-readme.sh")
        let result = try await ChildProgram.run(
            [], of: script, environment: ["AEGIS": ChildProgram.executable.path(percentEncoded: false)])
        #expect(result.code == 0, "\(result.text)")
    }
}
