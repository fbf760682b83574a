/// Keys made for these tests alone, in forms that a `.p8` file must not have.
enum Samples {
    /// SEC1, as `openssl ecparam -genkey` writes it.
    static let sec1 = Array(
        """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIP3oaN2MT7FTXXyhCDIat2M7KlGoAEYfR5uyPV51jazsoAoGCCqGSM49
        AwEHoUQDQgAEP7inzGH45K8IXB6XnpA2/wjVfxRXVQof4XW5gd6fBczDVU5nzbOf
        n6Bf8zSpkTGMFAYDWU6p3xRV3+jsEPiDaQ==
        -----END EC PRIVATE KEY-----

        """.utf8)

    /// PKCS#8 with a password.
    static let encrypted = Array(
        """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjuogTNIi0XPAICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEJicMN7cZR/gnlzpVbJyvCUEgZAO
        2gRlPKAsIYUsLBP0xzxvEl3/dcmkADlvhxbU4kQFP7u/RD0ruqXZlxCKTxCK7Isn
        GeemqtN0CxZ0oI5rrMYegetiXr4H+draL9Mkixfdbv99+uNzJpiOXMzueKI7kgZX
        7TsplgSFmT0ZFFhmh97FTZajRnzFBqVSvqf0KsKp7uamnY37BBvB6wB4LeEAy+Y=
        -----END ENCRYPTED PRIVATE KEY-----

        """.utf8)

    /// PKCS#8 on another curve.
    static let secp384r1 = Array(
        """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDDzFkamB0TuQVRnayBN
        nFzep//Tv29eoEs2PqWAsP4uS+PlDmdnYSSuskaMkV2j5XmhZANiAAStEc/LIxTE
        cWi0yAuDldKpniEckQsAFvhszjJnEwT3t+8MXdG1Udydgrdf1xYQzCfM2JZKzGDS
        aS8Ipz11GBrP3kwjUiDW+T6h+iIzxVhnd4ReSYzmLiKN5akTBCv42Ok=
        -----END PRIVATE KEY-----

        """.utf8)

    /// PKCS#8 of an RSA key.
    static let rsa = Array(
        """
        -----BEGIN PRIVATE KEY-----
        MIICeQIBADANBgkqhkiG9w0BAQEFAASCAmMwggJfAgEAAoGBAMPHFEYKTjqBZ4yx
        MJqhXGSFH14TH+8ORbpDxT3tUhgRbRnQz9pf6U6xak2PFm7bny+RrzfOxbPcptlP
        6JMbxfiLjHXXgREX3HUSKajJPGRG/KmXYMF7Z6kARkTQEMAkTmFgVuafM4Ko6Xze
        GYSkGG/XzW6zlvgnLGCQHSJkv7TTAgMBAAECgYEAtpX3WW8JEFVZfoROQRhWc8UX
        wQPzF19nNlU4Ig4wLxQpfRcakp46l9KswpK9KDyZVKL5GAI2rg0OasO0s2YGlamN
        xj8zfpeHBKQHFSVpJrCx9XQMJvwExBL3IpmOc0jrfz0DOwQohb4vpgs21YihNlVl
        UNm7BV8CZq5DrMNt2PkCQQDp1T/v3SeyWoYJyIbSGPhgLvILZEz4cO64vG7oC8uL
        KaWKQQKk7CE7fx9ZO3k/PsXRBZz5KI36Q6bRQf4zPqvVAkEA1lZJjpZazDaYlWzm
        wYNLOWaLDaPfzjFi0F5qhmu14R47j07IGRLwGCeOElko50/fuCpeDW3v1O2gl2D0
        9c/6BwJBAOQDgB9DxkvSndW4Zk9E7h3MaVXWbn/sj7wwcu1vYwHGkJeqIQv0/cro
        gQcgSXD0oyzZjmIfu6KIiYiQE3Kg8CkCQQCiKBnyZFJBWbTKp99U3C4XOTtOkIKM
        DtUBa80P8YFi1WqeGy5LugYnYBWeUBIgHk/Vl0gcxOXDpBvxKwtoxXYVAkEA3lOA
        f6wqdOvVcNgO4sZm26P3ypbYVY3GzrtYLVr2BQNbNE7/axpoAcIxeuVJvSIZ3pXK
        biQAW73pX9l7ZIIWYw==
        -----END PRIVATE KEY-----

        """.utf8)
}
