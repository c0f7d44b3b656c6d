// Attention of many shapes to compute flow on: what trained models show, and what breaks solvers.
#pragma once
#include <string>
#include <vector>

#include "headwater/core/matrix.h"

namespace headwater::test {

/// bert       twelve heads: sinks, neighbours, diffuse, content; residual 0.5
/// bert-sink  the same with sinks that take most of the attention
/// bert-1     one head
/// bert-bare  no residual
/// softmax    twelve heads of random scores
/// softmax-1  one of them
/// uniform    every token attends to all alike
/// permuted   nearly a permutation in every layer
/// causal, causal-sink, causal-bare   as bert, nothing above the diagonal
const std::vector<std::string>& kinds();

/// `layers` matrices whose rows sum to 1, the lowest first. The same for the same arguments.
std::vector<Matrix> stack_of(const std::string& kind, int n, int layers, unsigned seed);

}  // namespace headwater::test
