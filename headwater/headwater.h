// headwater traces a transformer's output back to its input tokens. Everything is in namespace
// headwater.
//
//   auto source = open("bert.npz");                  // attention of every layer, from a file; or a
//                                                    // model: open("bert/", {.texts = {"..."}})
//   Options options;                                 // the paper's: mean of heads, residual 0.5
//   options.row = Row::cls;                          // one output token; default: all
//   Attribution result = rollout(*source, options);  // result.values[0](r, j): from input token j
//   write(result, "cls.svg");                        // .json .npy .npz .png .svg .pdf .html
//
// A source provides attention layer by layer: open() makes one from a file or a model,
// from_memory() from your arrays. A method folds the layers and returns a result; write() takes any
// result. Memory is a few n x n matrices, regardless of the number of layers and heads. Every
// failure is an Error with one sentence.
#pragma once
#include "headwater/core/error.h"
#include "headwater/core/matrix.h"
#include "headwater/core/threads.h"
#include "headwater/core/version.h"
#include "headwater/evaluate_model.h"
#include "headwater/layer/options.h"
#include "headwater/method/average.h"
#include "headwater/method/compare.h"
#include "headwater/method/compare_input.h"
#include "headwater/method/flow/flow.h"
#include "headwater/method/generate.h"
#include "headwater/method/gradient.h"
#include "headwater/method/info.h"
#include "headwater/method/metrics.h"
#include "headwater/method/relevance.h"
#include "headwater/method/rollout.h"
#include "headwater/method/spearman.h"
#include "headwater/model/shipped.h"
#include "headwater/open.h"
#include "headwater/output/write.h"
#include "headwater/result/result.h"
#include "headwater/result/words.h"
#include "headwater/source/file.h"
#include "headwater/source/source.h"
