// AegisPipeline
