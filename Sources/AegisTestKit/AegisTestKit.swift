// AegisTestKit
