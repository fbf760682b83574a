package import AegisPorts

/// A file of certificates to trust, as an endpoint may name one.
package enum AuthoritiesFile {
    /// Reads the file as a connection would.
    ///
    /// - Throws: ``GatewayError`` of kind `configuration` that names the file.
    package static func check(path: String) throws(GatewayError) {
        _ = try TLSContext(caFile: path)
    }
}
