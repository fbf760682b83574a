// ProviderToken
