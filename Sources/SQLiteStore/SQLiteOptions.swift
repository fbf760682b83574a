/// How a file is opened.
package struct SQLiteOptions: Hashable, Sendable {
    /// How long a call waits for another process's write before it is ``StoreError/Kind/unavailable``.
    package var busyTimeout: Duration
    /// Memory for pages of the file.
    package var cacheBytes: Int64
    /// How much of the file is read through a memory map; 0 for none.
    package var mappedBytes: Int64
    /// The file does not grow beyond this; nil leaves it to the disk.
    package var maximumBytes: Int64?

    package init(
        busyTimeout: Duration = .seconds(5), cacheBytes: Int64 = 64 << 20, mappedBytes: Int64 = 256 << 20,
        maximumBytes: Int64? = nil
    ) {
        self.busyTimeout = busyTimeout
        self.cacheBytes = cacheBytes
        self.mappedBytes = mappedBytes
        self.maximumBytes = maximumBytes
    }
}
