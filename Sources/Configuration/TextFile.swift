import Foundation

/// A file of the disk, read within the bounds of ``YAMLDocument``.
enum TextFile {
    /// The bytes of the file, at most one more than are understood.
    static func read(_ path: String) throws(Problem) -> [UInt8] {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw Problem(file: path, message: "cannot be opened")
        }
        defer { try? file.close() }
        do {
            let data = try file.read(upToCount: YAMLDocument.largestFile + 1)
            return [UInt8](data ?? Data())
        } catch {
            throw Problem(file: path, message: "cannot be read")
        }
    }

    /// A path written in the file at `base`: taken from the folder of that file.
    static func path(_ path: String, besideFile base: String) -> String {
        guard !path.hasPrefix("/"), let slash = base.lastIndex(of: "/") else { return path }
        return base[...slash] + path
    }
}

extension Problem: Error {}
