// AegisContent
