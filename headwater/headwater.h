// headwater: where an output of a transformer comes from. All of it is in namespace headwater.
//
//   auto source = open("bert.npz");                  // attention of every layer, from a file
//   Options options;                                 // the paper's: mean of heads, residual 0.5
//   options.row = {Row::Kind::index, 0};             // one output token; all without it
//   Attribution result = rollout(*source, options);  // result.values[0](r, j): from input token j
//   write(std::move(result), "cls.svg");             // .json .npy .npz .png .svg .pdf
//
// source/ opens files or takes your arrays (from_memory), model/ runs a model directory
// (open_model, open_generation), layer/ turns the heads of a layer into one row-stochastic matrix,
// method/ folds the layers, output/ writes. A method asks its source for one layer after the other,
// so memory is a few n x n matrices, whatever the numbers of layers and heads. Every failure is an
// Error with one sentence.
#pragma once
#include "headwater/core/error.h"
#include "headwater/core/matrix.h"
#include "headwater/core/threads.h"
#include "headwater/core/version.h"
#include "headwater/layer/layers.h"
#include "headwater/layer/options.h"
#include "headwater/method/attribution.h"
#include "headwater/method/average.h"
#include "headwater/method/compare.h"
#include "headwater/method/evaluate.h"
#include "headwater/method/flow.h"
#include "headwater/method/generate.h"
#include "headwater/method/gradient.h"
#include "headwater/method/metrics.h"
#include "headwater/method/rollout.h"
#include "headwater/method/spearman.h"
#include "headwater/model/model_generation.h"
#include "headwater/model/open.h"
#include "headwater/model/shipped.h"
#include "headwater/output/write.h"
#include "headwater/source/info.h"
#include "headwater/source/open.h"
#include "headwater/source/source.h"
