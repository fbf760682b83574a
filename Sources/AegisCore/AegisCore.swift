// AegisCore
