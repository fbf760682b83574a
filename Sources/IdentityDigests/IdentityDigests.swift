// IdentityDigests
