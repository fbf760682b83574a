import Testing

/// The pipeline with doubles around it, one test at a time: each has loops of its own that look at their clock all the time,
/// and all of them together would starve each other on a small machine.
@Suite(.serialized) struct PipelineTests {}
