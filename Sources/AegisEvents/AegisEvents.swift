// AegisEvents
