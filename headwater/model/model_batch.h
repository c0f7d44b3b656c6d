// A model and its inputs, as a batch of sources.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headwater/core/error.h"
#include "headwater/model/model.h"
#include "headwater/model/model_input.h"
#include "headwater/model/output_head.h"
#include "headwater/source/source.h"

namespace headwater {

class ModelBatch : public Batch {
 public:
  /// The model runs when a method asks. Texts are tokenized and images read here, so a bad one
  /// shows before any work. Without input, the batch has no items. `name` is the model's name in
  /// results. Throws Error, also for a text without any token of its own.
  ModelBatch(std::shared_ptr<const Model> model, const ModelInput& input, const std::string& name);
  /// The same, but a text that cannot run is left out, after a call of bad(number of the text, what
  /// is wrong).
  using BadText = std::function<void(size_t text, const Error& error)>;
  ModelBatch(std::shared_ptr<const Model> model, const ModelInput& input, const std::string& name,
             const BadText& bad);

  const Description& description() const override { return description_; }
  int size() const override { return static_cast<int>(items_.size()); }
  std::unique_ptr<Source> item(int k) override;
  /// Neighbours are packed (pack.h) until a pack is full. Images, and texts that are long enough to
  /// fill a pack, run on their own.
  std::vector<std::unique_ptr<Source>> together(std::span<const int> items) override;
  /// "bert model, 384 wide, 23 M parameters, f32, at most 512 tokens".
  std::string reading() const override;
  std::optional<ModelFacts> facts() const override;

  const Model& model() const { return *model_; }

 private:
  struct Item {
    Description description;
    TextInput text;
    Pixels pixels;  // empty for a text
    std::vector<std::string> notes;
    std::shared_ptr<const OutputHead> head;  // null: the model's own
  };
  /// `what` is the text's name in errors.
  Item text_item(const std::string& text, const ModelInput& input, const std::string& what) const;
  Item ids_item(const ModelInput& input) const;
  Item image_item(const std::string& path, const ImageProcessor& processor) const;
  void compare(const ModelInput& input);
  static void pad(const Model& model, Item& item);

  std::shared_ptr<const Model> model_;
  Description description_;
  std::vector<Item> items_;
};

}  // namespace headwater
