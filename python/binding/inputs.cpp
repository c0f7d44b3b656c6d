#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "headwater/core/fail.h"
#include "headwater/method/info.h"
#include "headwater/model/classifier.h"
#include "headwater/model/find_model.h"
#include "headwater/model/model_batch.h"
#include "headwater/model/shipped.h"
#include "headwater/model/target.h"
#include "headwater/open.h"
#include "headwater/source/attention_batch.h"
#include "python/binding/arrays.h"
#include "python/binding/binding.h"

namespace headwater::python {
namespace {

using namespace nb::literals;
using Array = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Words = std::vector<std::string>;

Tensor tensor_of(const Array& array, std::string name, const std::string& source) {
  Tensor tensor;
  const std::string what = fmt::format("{}: array {}", source, name);
  tensor.name = std::move(name);
  tensor.type = type_of(array.dtype(), what);
  for (size_t axis = 0; axis < array.ndim(); ++axis)
    tensor.shape.push_back(static_cast<int64_t>(array.shape(axis)));
  const uint64_t count = count_of(tensor.shape, tensor.type, what);
  tensor.bytes = {static_cast<const std::byte*>(array.data()), count * size_of(tensor.type)};
  return tensor;
}

// One list counts as the caller's tokens, a list for each item as the tokens of a file.
void set_tokens(std::vector<Words> tokens, Arrays& arrays, ReadOptions& read) {
  if (tokens.size() == 1) read.tokens = std::move(tokens.front());
  if (tokens.size() < 2) return;
  arrays.tokens = Tokens{{}, static_cast<int>(tokens.size())};
  for (Words& list : tokens)
    for (std::string& word : list) arrays.tokens->words.push_back(std::move(word));
}

Inputs from_arrays(nb::list layers, const std::string& name, nb::object mask,
                   std::vector<Words> tokens, ReadOptions read) {
  Arrays arrays;
  arrays.format = "memory";
  arrays.name = name;
  nb::list alive;
  for (nb::handle layer : layers) {
    auto array = nb::cast<Array>(layer);
    arrays.layers.push_back(tensor_of(array, std::to_string(arrays.layers.size()), name));
    alive.append(nb::cast(array));
  }
  if (!mask.is_none()) {
    auto array = nb::cast<Array>(mask);
    arrays.mask = tensor_of(array, "attention_mask", name);
    alive.append(nb::cast(array));
  }
  set_tokens(std::move(tokens), arrays, read);
  return {alive, std::make_unique<AttentionBatch>(std::move(arrays), read)};
}

ReadOptions read_options(std::string axes, Words tokens, bool any_sums, bool nan_identity) {
  ReadOptions read;
  read.axes = std::move(axes);
  read.tokens = std::move(tokens);
  read.any_sums = any_sums;
  read.nan_identity = nan_identity;
  return read;
}

Dictionary describe(const Inputs& inputs, int item) {
  const std::unique_ptr<Source> source = inputs.batch->item(item);
  const Description& described = source->description();
  Dictionary out;
  out["kind"] = described.kind;
  out["name"] = described.name;
  out["layers"] = described.layers;
  out["heads"] = described.heads;
  out["tokens"] = described.tokens;
  out["item"] = described.item;
  out["items"] = described.items;
  out["padded"] = described.padded;
  out["ids"] = described.ids;
  out["causal"] = described.causal;
  nb::list places;
  for (const TokenPlace& place : described.places)
    places.append(nb::make_tuple(place.text, place.begin, place.end));
  out["places"] = places;
  return out;
}

/// A model that is opened once, for many inputs.
struct OpenModel {
  std::string name;
  std::shared_ptr<const Model> model;
};

void check_output(const OpenModel& self, const std::string& target, const std::string& against) {
  const Classifier& classifier = self.model->classifier();
  for (const std::string& name : {target, against}) {
    if (name.empty() || name == "best") continue;
    check_class(*self.model, classifier, name);
    if (classifier.kind() == Classifier::Kind::masked_words ||
        classifier.kind() == Classifier::Kind::next_words)
      word_number(*self.model, classifier.outputs(), name);
  }
}

Inputs inputs_of(const OpenModel& self, Words texts, bool truncate,
                 nb::typed<nb::dict, int, nb::str> failed) {
  ModelInput input;
  input.texts = std::move(texts);
  input.truncate = truncate;
  nb::gil_scoped_release release;
  auto batch = std::make_unique<ModelBatch>(self.model, input, self.name,
                                            [&](size_t text, const Error& error) {
                                              nb::gil_scoped_acquire acquire;
                                              failed[nb::int_(text)] = nb::str(error.what());
                                            });
  nb::gil_scoped_acquire acquire;
  return Inputs{nb::none(), std::move(batch)};
}

}  // namespace

void bind_inputs(nb::module_& module) {
  nb::class_<Inputs>(module, "Inputs", "Attention of one input or of a batch, not yet read.")
      .def("__len__", [](const Inputs& self) { return self.batch->size(); })
      .def_prop_ro(
          "reading", [](const Inputs& self) { return self.batch->reading(); },
          "How the arrays were read, in one line.")
      .def("describe", &describe, "item"_a, "What is known about an item before it is read.");

  nb::class_<OpenModel>(module, "Model", "A model that is opened once, for many inputs.")
      .def(
          "__init__",
          [](OpenModel* self, const std::string& name, bool ignore_code) {
            nb::gil_scoped_release release;
            new (self) OpenModel{name, open_model(name, ignore_code)};
          },
          "name"_a, "ignore_code"_a = false, "By its folder or name.")
      .def_prop_ro(
          "folder", [](const OpenModel& self) { return self.model->folder(); },
          "The folder that it was read from.")
      .def_prop_ro(
          "causal", [](const OpenModel& self) { return self.model->architecture().causal; },
          "Whether tokens see only those before them.")
      .def_prop_ro(
          "layers", [](const OpenModel& self) { return self.model->architecture().layers; },
          "How many layers it has.")
      .def_prop_ro(
          "heads", [](const OpenModel& self) { return self.model->architecture().heads; },
          "How many heads a layer has.")
      .def_prop_ro(
          "reads_texts",
          [](const OpenModel& self) {
            return !self.model->architecture().image && self.model->tokenizer();
          },
          "Whether it is a model of texts, with a tokenizer.")
      .def("check_target", &check_output, "target"_a, "against"_a,
           "Raises an Error if the model has no output to ask about, or none of these names.")
      .def("inputs", &inputs_of, "texts"_a, "truncate"_a, "failed"_a,
           "The texts, tokenized. Those that cannot run are left out: `failed` is filled with what "
           "is wrong with each, by its number.");

  module.def(
      "open",
      [](const std::string& name, Words texts, std::optional<std::string> pair,
         std::vector<int> ids, Words images, bool truncate, std::string axes, Words tokens,
         bool any_sums, bool nan_identity, Words prompts, bool ignore_code,
         std::optional<std::string> against_text, std::optional<std::string> against_image) {
        const OpenOptions options{
            {.texts = std::move(texts),
             .pair = std::move(pair),
             .ids = std::move(ids),
             .images = std::move(images),
             .against_text = std::move(against_text),
             .against_image = std::move(against_image),
             .truncate = truncate,
             .ignore_code = ignore_code,
             .prompts = std::move(prompts)},
            read_options(std::move(axes), std::move(tokens), any_sums, nan_identity)};
        nb::gil_scoped_release release;
        auto batch = open_batch(name, options);
        nb::gil_scoped_acquire acquire;
        return Inputs{nb::none(), std::move(batch)};
      },
      "name"_a, "texts"_a = Words(), "pair"_a = nb::none(), "ids"_a = std::vector<int>(),
      "images"_a = Words(), "truncate"_a = false, "axes"_a = "", "tokens"_a = Words(),
      "any_sums"_a = false, "nan_identity"_a = false, "prompts"_a = Words(),
      "ignore_code"_a = false, "against_text"_a = nb::none(), "against_image"_a = nb::none(),
      "The attention in a file, or a model by its folder or name, run when a method asks.");
  module.def("models", &shipped_model_folders,
             "The models that ship with headwater: names and folders.");

  module.def(
      "from_arrays",
      [](nb::typed<nb::list, nb::any> layers, const std::string& name, nb::object mask,
         std::string axes, std::vector<Words> tokens, bool any_sums, bool nan_identity) {
        return from_arrays(layers, name, mask, std::move(tokens),
                           read_options(std::move(axes), {}, any_sums, nan_identity));
      },
      "layers"_a, "name"_a = "memory", "mask"_a = nb::none(), "axes"_a = "",
      "tokens"_a = std::vector<Words>(), "any_sums"_a = false, "nan_identity"_a = false,
      "Layers in memory, borrowed without a copy: [n, n], [H, n, n] or [B, H, n, n] each, or one "
      "array with all of them; mask [n] or [B, n] as floats; tokens: none, one list, or one for "
      "each item.");
}

}  // namespace headwater::python
