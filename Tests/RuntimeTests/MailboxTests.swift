import Runtime
import Testing

@Suite struct MailboxTests {
    @Test func `elements come out in the order they went in, all that is there at once`() async {
        let box = Mailbox<Int>()
        box.put(1)
        box.put([2, 3])
        box.put([])
        #expect(await box.take() == [1, 2, 3])
        box.put(4)
        #expect(await box.take() == [4])
    }

    @Test func `a waiting reader is woken by what comes`() async {
        let box = Mailbox<Int>()
        async let taken = box.take()
        box.put([7, 8])
        #expect(await taken == [7, 8])
    }

    @Test func `what was put in before closing can still be taken`() async {
        let box = Mailbox<Int>()
        box.put(1)
        box.close()
        #expect(box.put(2) == false)
        #expect(await box.take() == [1])
        #expect(await box.take() == nil)
    }

    @Test func `closing wakes a waiting reader`() async {
        let box = Mailbox<Int>()
        let reader = Task { await box.take() }
        await Task.yield()
        box.close()
        #expect(await reader.value == nil)
    }

    @Test func `a cancelled reader goes away and leaves what comes later to the next`() async {
        let box = Mailbox<Int>()
        let reader = Task { await box.take() }
        await Task.yield()
        reader.cancel()
        #expect(await reader.value == nil)
        box.put(5)
        #expect(await box.take() == [5])
    }

    @Test(.timeLimit(.minutes(1)))
    func `a second reader that is cancelled does not send the first one away`() async {
        for round in 0..<200 {
            let box = Mailbox<Int>()
            let first = Task { await box.take() }
            await Task.yield()
            let second = Task {
                while !Task.isCancelled { await Task.yield() }
                return await box.take()
            }
            second.cancel()
            #expect(await second.value == nil)
            box.put(round)
            #expect(await first.value == [round])
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a reader cancelled after it was served does not disturb the next reader`() async {
        for round in 0..<200 {
            let box = Mailbox<Int>()
            let first = Task { await box.take() }
            let second = Task {
                _ = await first.value
                return await box.take()
            }
            box.put(round)
            first.cancel()
            let early = await first.value
            box.put(-1)
            let late = await second.value
            #expect((early ?? []) + (late ?? []) == [round, -1] || (early == [round] && late == [-1]))
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `nothing of many writers is lost and each writer's order is kept`() async {
        let box = Mailbox<(writer: Int, number: Int)>()
        let (writers, each) = (8, 2_000)
        var next = [Int](repeating: 0, count: writers)
        await withTaskGroup { group in
            for writer in 0..<writers {
                group.addTask { for number in 0..<each { box.put((writer, number)) } }
            }
            var count = 0
            while count < writers * each, let batch = await box.take() {
                for element in batch {
                    #expect(next[element.writer] == element.number)
                    next[element.writer] = element.number + 1
                }
                count += batch.count
            }
        }
        #expect(next == [Int](repeating: each, count: writers))
    }
}
