#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "headwater/core/error.h"
#include "headwater/method/average.h"
#include "headwater/method/metrics.h"
#include "headwater/method/rollout.h"
#include "headwater/open.h"
#include "headwater/source/file.h"
#include "tests/support/case_file.h"

namespace headwater::test {
namespace {

Options options_of_case(const Case& one) {
  const auto preset = one.options.find("preset");
  Options options =
      preset == one.options.end() ? Options{} : options_of(parse_preset(preset->second));
  for (const auto& [name, value] : one.options) {
    if (name == "fuse")
      options.fuse = parse_fuse(value);
    else if (name == "residual")
      options.residual = std::stod(value);
    else if (name == "discard")
      options.discard = std::stod(value);
    else if (name == "order")
      options.order = parse_order(value);
    else if (name == "empty")
      options.empty = parse_empty(value);
    else if (name == "divide")
      options.divide = parse_divide(value);
    else if (name == "layers")
      options.layers = parse_slice(value);
    else if (name == "row")
      options.row = parse_row(value);
    else if (name != "preset" && name != "layer" && name != "sums" && name != "nan")
      throw std::runtime_error("unknown option " + name);
  }
  return options;
}

struct Outcome {
  std::vector<std::vector<double>> values;  // a group for each matrix
  std::vector<std::string> notes;
  Metrics metrics;
};

Outcome run(const Case& one) {
  std::vector<std::vector<float>> numbers;
  std::vector<ArrayView> views;
  for (const auto& heads : one.layers) {
    const auto n = static_cast<int64_t>(std::lround(std::sqrt(heads[0].size())));
    numbers.emplace_back();
    for (const auto& head : heads) {
      if (static_cast<int64_t>(head.size()) != n * n) throw std::runtime_error("map not square");
      numbers.back().insert(numbers.back().end(), head.begin(), head.end());
    }
    views.push_back({DType::f32, {1, static_cast<int64_t>(heads.size()), n, n}, nullptr});
  }
  for (size_t l = 0; l < views.size(); ++l) views[l].data = numbers[l].data();
  // A single array would be read as a stack of layers.
  ReadOptions read;
  read.axes = "BHnn";
  read.tokens = one.tokens;
  read.any_sums = one.options.contains("sums");
  read.nan_identity = one.options.contains("nan");
  const auto batch = from_memory(views, "case", read);
  const auto source = batch->item(0);
  const int layer = one.options.contains("layer") ? std::stoi(one.options.at("layer")) : -1;
  const Options options = options_of_case(one);
  Outcome outcome;
  if (one.command == "metrics") {
    outcome.metrics = metrics(*batch, options, layer);
    outcome.notes = outcome.metrics.notes;
    return outcome;
  }
  const Attribution result = one.command == "rollout"    ? rollout(*source, options)
                             : one.command == "by-layer" ? rollout_by_layer(*source, options)
                             : one.command == "average"  ? average(*source, options)
                                                         : raw(*source, layer, options);
  for (const Matrix& matrix : result.values)
    outcome.values.emplace_back(matrix.data(), matrix.data() + matrix.size());
  outcome.notes = result.notes;
  return outcome;
}

void expect_metric(const Metrics& metrics, const std::string& text) {
  const std::map<std::string, double> known = {
      {"mean_attention", metrics.mean_attention},
      {"max_attention", metrics.max_attention},
      {"attention_entropy", metrics.attention_entropy},
      {"attention_concentration", metrics.attention_concentration},
      {"rollout_max", metrics.rollout_max},
      {"rollout_entropy", metrics.rollout_entropy},
      {"batch_size", metrics.batch_size},
      {"seq_length", metrics.seq_length}};
  std::string rest = text;
  while (!rest.empty()) {
    const size_t space = std::min(rest.find(' '), rest.size());
    const std::string word = rest.substr(0, space);
    rest.erase(0, std::min(space + 1, rest.size()));
    if (word.empty()) continue;
    const size_t equals = word.find('=');
    EXPECT_NEAR(known.at(word.substr(0, equals)), read_numbers(word.substr(equals + 1))[0][0], 1e-6)
        << word;
  }
}

bool has_note(const std::vector<std::string>& notes, const std::string& text) {
  for (const std::string& note : notes)
    if (note.find(text) != std::string::npos) return true;
  return false;
}

void check_expectation(const Case& one, const Outcome& outcome, const std::string& expect) {
  if (expect == "no note") {
    EXPECT_TRUE(outcome.notes.empty()) << outcome.notes[0];
  } else if (expect.starts_with("note ")) {
    EXPECT_TRUE(has_note(outcome.notes, expect.substr(5))) << expect;
  } else if (one.command == "metrics") {
    expect_metric(outcome.metrics, expect);
  } else {
    const auto groups = read_numbers(expect);
    ASSERT_EQ(outcome.values.size(), groups.size());
    for (size_t k = 0; k < groups.size(); ++k) {
      ASSERT_EQ(outcome.values[k].size(), groups[k].size());
      for (size_t j = 0; j < groups[k].size(); ++j)
        EXPECT_NEAR(outcome.values[k][j], groups[k][j], 1e-6) << "matrix " << k << ", number " << j;
    }
  }
}

}  // namespace

void run_case(const Case& one) {
  ASSERT_FALSE(one.expect.empty());
  const std::string& first = one.expect[0];
  if (first.starts_with("error ")) {
    const bool usage = first.starts_with("error usage ");
    const std::string text = first.substr(usage ? 12 : 11);
    try {
      run(one);
      ADD_FAILURE() << "no error, expected: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), usage ? Error::Kind::usage : Error::Kind::work) << error.what();
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
    return;
  }
  const Outcome outcome = run(one);
  for (const std::string& expect : one.expect) check_expectation(one, outcome, expect);
}

}  // namespace headwater::test
