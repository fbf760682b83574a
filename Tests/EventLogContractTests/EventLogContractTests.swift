import AegisCore
import AegisPorts
import AegisTestKit
import KafkaEventLog
import Testing

@Suite struct EventLogContractTests {
    private static let topic = "domain.events"
    private static let first = TopicPartition(topic: topic, partition: 0)

    @Test(arguments: Engine.available)
    func `records of a partition come in order, with key, time and offset`(engine: Engine) async throws {
        try await Site.with(engine, topics: [Self.topic: 1]) { site in
            let member = try site.join(topics: [Self.topic])
            let values = (0..<300).map(String.init)
            try await site.publish(values, to: Self.topic)
            let seen = try await member.wait("300 records") { $0.all.count >= 300 }
            #expect(seen.records[Self.first]?.map(\.offset) == (0..<300).map(Int64.init))
            #expect(seen.texts == values)
            #expect(seen.all.allSatisfy { $0.key == Array("k".utf8) })
            #expect(seen.strays == 0)
            await member.close()
        }
    }

    @Test(arguments: Engine.available)
    func `a committed position is where the next member goes on`(engine: Engine) async throws {
        try await Site.with(engine, topics: [Self.topic: 1]) { site in
            try await site.publish(["0", "1", "2", "3", "4"], to: Self.topic)
            let one = try site.join(topics: [Self.topic])
            let seen = try await one.wait("5 records") { $0.all.count == 5 }
            let assignment = try #require(seen.held[Self.first])
            try await one.log.commit([CommitPosition(assignment: assignment, offset: 3)])
            await one.close()
            let two = try site.join(topics: [Self.topic])
            let again = try await two.wait("the rest") { $0.all.count >= 2 }
            #expect(again.texts == ["3", "4"])
            await two.close()
        }
    }

    @Test(arguments: Engine.available)
    func `what was read and not committed comes again`(engine: Engine) async throws {
        try await Site.with(engine, topics: [Self.topic: 1]) { site in
            try await site.publish(["0", "1"], to: Self.topic)
            let one = try site.join(topics: [Self.topic])
            try await one.wait("2 records") { $0.all.count == 2 }
            await one.close()
            let two = try site.join(topics: [Self.topic])
            let again = try await two.wait("2 records again") { $0.all.count >= 2 }
            #expect(again.texts == ["0", "1"])
            await two.close()
        }
    }

    @Test(arguments: Engine.available)
    func `a commit for an assignment of another epoch changes nothing and is no error`(engine: Engine) async throws {
        try await Site.with(engine, topics: [Self.topic: 1]) { site in
            try await site.publish(["0", "1", "2"], to: Self.topic)
            let one = try site.join(topics: [Self.topic])
            let seen = try await one.wait("3 records") { $0.all.count == 3 }
            let assignment = try #require(seen.held[Self.first])
            let stale = PartitionAssignment(partition: Self.first, epoch: assignment.epoch + 1)
            try await one.log.commit([CommitPosition(assignment: assignment, offset: 1)])
            try await one.log.commit([CommitPosition(assignment: stale, offset: 3)])
            await one.close()
            let two = try site.join(topics: [Self.topic])
            let again = try await two.wait("2 records") { $0.all.count >= 2 }
            #expect(again.texts == ["1", "2"])
            await two.close()
        }
    }

    @Test(arguments: Engine.available)
    func `a paused topic delivers nothing while others flow, and everything once it resumes`(engine: Engine)
        async throws
    {
        try await Site.with(engine, topics: ["held": 1, "free": 1]) { site in
            let member = try site.join(topics: ["held", "free"])
            await member.log.setPaused(["held"])
            try await member.wait("both partitions") { $0.held.count == 2 }
            try await site.publish(["h0", "h1"], to: "held")
            try await site.publish(["f0", "f1"], to: "free")
            try await member.wait("the free topic") { $0.all.count >= 2 }
            #expect(Set(member.now.texts) == ["f0", "f1"])
            await member.log.setPaused(["free"])
            let seen = try await member.wait("the held topic") { $0.all.count >= 4 }
            #expect(seen.records[TopicPartition(topic: "held", partition: 0)]?.map(\.offset) == [0, 1])
            await member.close()
        }
    }

    @Test(arguments: Engine.available)
    func `a revoked partition moves only when it is released, from the position committed by then`(
        engine: Engine
    ) async throws {
        try await Site.with(engine, topics: [Self.topic: 2]) { site in
            let one = try site.join(topics: [Self.topic])
            try await one.wait("both partitions") { $0.held.count == 2 }
            try await site.publisher.publish(
                (0..<40).map { OutgoingRecord(key: Array("k\($0)".utf8), value: Array("\($0)".utf8)) }, to: Self.topic)
            let read = try await one.wait("40 records") { $0.all.count == 40 }
            let two = try site.join(topics: [Self.topic])
            let asked = try await one.wait("the request") { !$0.revoking.isEmpty }
            #expect(two.now.held.isEmpty)
            if engine == .broker {
                // It looks for finished rounds every 20 ms or so: a member that starts the next round sooner makes it forget
                // to answer the other's JoinGroup, and both then wait for ever.
                try await two.wait("the end of its first round") { $0.assignmentCount > 0 }
            }
            // Draining: what is revoked can still be committed.
            var isCommitted = true
            do {
                try await one.log.commit(
                    asked.revoking.map { assignment in
                        let end = read.records[assignment.partition]?.last.map { $0.offset + 1 } ?? 0
                        return CommitPosition(assignment: assignment, offset: end)
                    })
            } catch let error as EventLogError where engine == .mockCluster && error.kind == .fenced {
                // The mock may start the next generation without waiting for the drain: the records come again then.
                isCommitted = false
            }
            await one.log.release(asked.revoking)
            // The group may settle in more than one round, and each wants its answer.
            let later = Task {
                var released = asked.revoking.count
                while !Task.isCancelled {
                    let all = one.now.revoking
                    if all.count > released { await one.log.release(Array(all[released...])) }
                    released = max(released, all.count)
                    try? await ContinuousClock().sleep(for: .milliseconds(20))
                }
            }
            defer { later.cancel() }
            let given = try await two.wait("a partition") { !$0.held.isEmpty }
            let moved = try #require(given.held.keys.first)
            #expect(asked.revoking.map(\.partition).contains(moved))
            try await site.publisher.publish(
                (0..<40).map { OutgoingRecord(key: Array("k\($0)".utf8), value: Array("new".utf8)) }, to: Self.topic)
            let after = try await two.wait("new records") { $0.texts.contains("new") }
            #expect(Set(after.texts) == ["new"] || !isCommitted)
            #expect(after.strays == 0)
            await two.close()
            await one.close()
        }
    }

    @Test(arguments: [Engine.inMemory, .mockCluster])
    func `partitions that are lost come again under a new epoch, and their old positions are void`(
        engine: Engine
    ) async throws {
        try await Site.with(engine, topics: [Self.topic: 1]) { site in
            try await site.publish(["0", "1"], to: Self.topic)
            let member = try site.join(topics: [Self.topic])
            let seen = try await member.wait("2 records") { $0.all.count == 2 }
            let old = try #require(seen.held[Self.first])
            switch site.backing {
            case .memory(let broker): broker.expelMembers(of: "aegis")
            case .mock(let cluster, _): cluster.expelNextMember()
            case .process: Issue.record("not an engine of this test")
            }
            let after = try await member.wait("the partition again") { !$0.lost.isEmpty && $0.held[Self.first] != nil }
            #expect(after.lost == [old])
            #expect(try #require(after.held[Self.first]).epoch > old.epoch)
            try await member.log.commit([CommitPosition(assignment: old, offset: 2)])
            let again = try await member.wait("both records again") { $0.all.count >= 4 }
            #expect(again.records[Self.first]?.map(\.offset) == [0, 1, 0, 1])
            await member.close()
        }
    }

    @Test(arguments: Engine.available)
    func `lag counts the records after the committed position`(engine: Engine) async throws {
        try await Site.with(engine, topics: [Self.topic: 1]) { site in
            try await site.publish((0..<10).map(String.init), to: Self.topic)
            let member = try site.join(topics: [Self.topic])
            let seen = try await member.wait("10 records") { $0.all.count == 10 }
            #expect(await member.log.lag() == [Self.first: 10])
            let assignment = try #require(seen.held[Self.first])
            try await member.log.commit([CommitPosition(assignment: assignment, offset: 4)])
            #expect(await member.log.lag() == [Self.first: 6])
            await member.log.setPaused([Self.topic])
            try await site.publish(["10", "11"], to: Self.topic)
            #expect(await member.log.lag() == [Self.first: 8])
            await member.close()
        }
    }

    @Test(arguments: Engine.available)
    func `no value is not an empty value, and header values may be null or binary`(engine: Engine) async throws {
        try await Site.with(engine, topics: [Self.topic: 1]) { site in
            let headers = [
                RecordHeader(name: "a", value: nil), RecordHeader(name: "b", value: []),
                RecordHeader(name: "a", value: [0, 255, 10]),
            ]
            try await site.publisher.publish(
                [
                    OutgoingRecord(key: Array("k".utf8), value: nil), OutgoingRecord(key: nil, value: []),
                    OutgoingRecord(key: [], value: [0, 200], headers: headers),
                ], to: Self.topic)
            let member = try site.join(topics: [Self.topic])
            let records = try await member.wait("3 records") { $0.all.count == 3 }.all
            #expect(records.map(\.value) == [nil, [], [0, 200]])
            #expect(records.map(\.key) == [Array("k".utf8), nil, []])
            #expect(records.map(\.headers) == [[], [], headers])
            await member.close()
        }
    }

    @Test(arguments: Engine.available)
    func `five thousand records are acknowledged and read`(engine: Engine) async throws {
        try await Site.with(engine, topics: [Self.topic: 4]) { site in
            try await site.publisher.publish(
                (0..<5_000).map { OutgoingRecord(key: Array("k\($0)".utf8), value: Array("\($0)".utf8)) },
                to: Self.topic)
            let member = try site.join(topics: [Self.topic]) { $0.waitingRecordsLimit = 100 }
            let seen = try await member.wait("5000 records") { $0.all.count >= 5_000 }
            #expect(Set(seen.texts).count == 5_000)
            for records in seen.records.values {
                #expect(records.map(\.offset) == (0..<records.count).map(Int64.init))
            }
            await member.close()
        }
    }

    @Test(arguments: Engine.available)
    func `a dead letter keeps bytes and headers and says why`(engine: Engine) async throws {
        try await Site.with(engine, topics: [Self.topic: 1]) { site in
            let record = KafkaRecord(
                offset: 7, timestamp: UnixTime(milliseconds: 5), key: [1, 0], value: [0xFF, 0x7B],
                headers: [RecordHeader(name: "traceparent", value: [9]), RecordHeader(name: "none", value: nil)])
            let letter = DeadLetter(
                rejection: Rejection(kind: .malformed, stage: .decode, reason: "not JSON"), origin: Self.first,
                record: record)
            let now = UnixTime(milliseconds: 1_796_040_000_000)
            #expect(await site.publisher.publish([letter], at: now) == [nil])
            let member = try site.join("reader", topics: [Site.deadLetters])
            let seen = try #require(try await member.wait("the dead letter") { !$0.all.isEmpty }.all.first)
            #expect(seen.key == record.key)
            #expect(seen.value == record.value)
            #expect(seen.headers == record.headers + letter.addedHeaders(at: now))
            await member.close()
        }
    }

    @Test(arguments: Engine.available)
    func `a dead letter of a record above the usual megabyte has an answer of its own`(engine: Engine) async throws {
        try await Site.with(engine, topics: [Self.topic: 1]) { site in
            let letters = [10, 1_040_000, 20].map { size in
                DeadLetter(
                    rejection: Rejection(kind: .malformed, stage: .decode, reason: "not JSON"), origin: Self.first,
                    record: KafkaRecord(
                        offset: 7, timestamp: UnixTime(milliseconds: 5), key: nil,
                        value: Array(repeating: UInt8(ascii: "x"), count: size)))
            }
            #expect(await site.publisher.publish(letters, at: UnixTime(milliseconds: 1)) == [nil, nil, nil])
            let member = try site.join("reader", topics: [Site.deadLetters])
            let seen = try await member.wait("the dead letters") { $0.all.count >= 3 }.all
            #expect(seen.compactMap { $0.value?.count }.sorted() == [10, 20, 1_040_000])
            await member.close()
        }
    }

    @Test(arguments: Engine.available)
    func `closing leaves the group, and every waiter and later call has an answer`(engine: Engine) async throws {
        try await Site.with(engine, topics: [Self.topic: 1]) { site in
            let one = try site.join(topics: [Self.topic])
            let held = try await one.wait("the partition") { $0.held.count == 1 }
            let two = try site.join(topics: [Self.topic])
            await one.close()
            #expect(one.now.isEnded)
            #expect(await one.log.signals() == nil)
            await one.log.setPaused([])
            await one.log.release(Array(held.held.values))
            #expect(await one.log.lag().isEmpty)
            await #expect(throws: EventLogError.self) {
                try await one.log.commit(held.held.values.map { CommitPosition(assignment: $0, offset: 0) })
            }
            await one.log.close()
            try await two.wait("the partition of the one that left") { $0.held.count == 1 }
            await two.close()
        }
    }
}
