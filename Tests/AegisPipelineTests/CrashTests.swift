import AegisCore
import AegisPipeline
import AegisPorts
import AegisTestKit
import Testing

extension PipelineTests {
    @Suite struct CrashTests {
        /// A process ends at a random step towards the outside, again and again; the step takes effect or does not.
        @Test(arguments: 1...60 as ClosedRange<UInt64>)
        func `wherever it is killed, every device gets its notification under one id`(seed: UInt64) async throws {
            var chance = SeededGenerator(seed: seed)
            let world = try World(topics: ["events": 3])
            var expected: Set<PushID> = []
            let users = (0..<6).map { "u\($0)" }
            for (number, user) in users.enumerated() {
                try await world.register(user, devices: 1 + number % 3, number: number)
            }
            var ends: [Int64] = [0, 0, 0]
            var bad = 0
            for number in 0..<25 {
                let partition = Int.random(in: 0..<3, using: &chance)
                if Int.random(in: 0..<8, using: &chance) == 0 {
                    world.publish(raw: "bad \(number)", partition: Int32(partition))
                    bad += 1
                } else {
                    let id = "o-\(Int.random(in: 0..<20, using: &chance))"
                    world.publish(id, for: users, partition: Int32(partition))
                    for user in users {
                        for device in try await world.store.devices(of: .sample(user)) {
                            expected.insert(
                                PlainDigests().pushID(
                                    for: EventIdentity(source: "events", id: id), user: .sample(user), device: device.id
                                ))
                        }
                    }
                }
                ends[partition] += 1
            }
            var sent: [Push] = []
            for _ in 0..<Int.random(in: 1...6, using: &chance) {
                let fuse = Fuse(steps: Int.random(in: 0..<40, using: &chance), appliesLast: .random(using: &chance))
                let rig = try Rig(world, Rig.Options(batchSize: Int.random(in: 1...10, using: &chance), fuse: fuse))
                misbehave(rig, users: users.count, using: &chance)
                try await eventually("ended or done") { fuse.isBlown || isDone(world, ends) }
                await rig.kill()
                sent += rig.gateway.sent
            }
            let last = try Rig(world)
            misbehave(last, users: users.count, using: &chance)
            try await eventually("committed") { isDone(world, ends) }
            #expect(await last.drain() == 0)
            sent += last.gateway.sent
            #expect(Set(sent.map(\.id)) == expected)
            let letters = Set(world.deadLetters.compactMap { $0.value.map { String(decoding: $0, as: UTF8.self) } })
            #expect(letters.count == bad)
            for number in 0..<20 {
                for record in try await world.history("o-\(number)") {
                    #expect(record.state == .sent)
                    #expect(record.deliveries.allSatisfy { $0.outcome == "accepted" })
                }
            }
            let outcomes = try await (0..<20).asyncSum { try await world.history("o-\($0)").map(\.deliveries.count) }
            #expect(outcomes == expected.count)
        }

        private func isDone(_ world: World, _ ends: [Int64]) -> Bool {
            ends.indices.allSatisfy { ends[$0] == 0 || world.committed("events", Int32($0)) == ends[$0] }
        }

        /// Answers that are mended by another attempt.
        private func misbehave(_ rig: Rig, users: Int, using chance: inout SeededGenerator) {
            for number in 0..<users where Bool.random(using: &chance) {
                rig.gateway.script(
                    .sample(number * 100), [.notProcessed, .status(500), .status(200), .unknown(.connectionLost)])
            }
        }
    }
}

extension Range<Int> {
    fileprivate func asyncSum(_ parts: (Int) async throws -> [Int]) async rethrows -> Int {
        var sum = 0
        for number in self { sum += try await parts(number).reduce(0, +) }
        return sum
    }
}
