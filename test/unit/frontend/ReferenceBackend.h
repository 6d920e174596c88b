#pragma once

namespace dlc::test {

/// From now on programs run in the reference evaluator, each op rounded to its declared type.
void useReferenceBackend();

} // namespace dlc::test
