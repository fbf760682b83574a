// AegisPorts
