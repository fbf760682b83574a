import COpenSSL

/// How long OpenSSL's tables live.
package enum OpenSSLLifetime {
    /// Leaves them to the system when the process exits; to be called before anything else of OpenSSL is.
    ///
    /// Without it `exit` frees them while a thread may still load certificates, and the process ends with a fault instead
    /// of its code.
    ///
    /// - Source: OpenSSL, OPENSSL_init_crypto(3), `OPENSSL_INIT_NO_ATEXIT`.
    package static func outlastExit() {
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }
}
