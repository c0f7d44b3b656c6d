#include "headwater/model/open.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "headwater/core/fail.h"
#include "headwater/core/mapped_file.h"
#include "headwater/core/threads.h"
#include "headwater/core/utf8.h"
#include "headwater/model/image/read.h"
#include "headwater/model/model_example.h"
#include "headwater/model/model_source.h"
#include "headwater/model/token_name.h"

namespace headwater {
namespace {

std::string count_text(uint64_t count) {
  if (count >= 10'000'000) return fmt::format("{:.0f} M", static_cast<double>(count) / 1e6);
  if (count >= 100'000) return fmt::format("{:.1f} M", static_cast<double>(count) / 1e6);
  return std::to_string(count);
}

std::string reading_of(const Model& model) {
  const Architecture& shape = model.architecture();
  std::string text =
      fmt::format("{} model, {} wide, {} parameters, {}", shape.family, shape.width,
                  count_text(model.checkpoint().parameters()), model.checkpoint().types());
  if (shape.positions && shape.text)
    text += fmt::format(", at most {} tokens", *shape.positions);
  return text;
}

// One input, ready to run.
struct Item {
  Example example;
  TextInput text;
  Pixels pixels;  // empty for a text
};

class ModelBatch : public Batch {
 public:
  ModelBatch(std::unique_ptr<Model> model, std::vector<Item> items, const std::string& name)
      : model_(std::move(model)), items_(std::move(items)) {
    for (size_t k = 0; k < items_.size(); ++k) {
      if (!name.empty()) items_[k].example.name = name;
      items_[k].example.item = static_cast<int>(k);
      items_[k].example.items = static_cast<int>(items_.size());
      items_[k].example.padded = static_cast<int>(items_[k].example.tokens.size());
    }
  }
  int size() const override { return static_cast<int>(items_.size()); }
  std::unique_ptr<Source> item(int k) override {
    const Item& item = items_[static_cast<size_t>(k)];
    if (item.example.picture)
      return std::make_unique<ModelSource>(*model_, item.example, item.pixels);
    return std::make_unique<ModelSource>(*model_, item.example, item.text);
  }
  std::string reading() const override { return reading_of(*model_); }

 private:
  std::unique_ptr<Model> model_;
  std::vector<Item> items_;
};

void check_length(const Model& model, const std::string& what, size_t tokens, const char* advice) {
  const std::optional<int> most = model.architecture().positions;
  if (most && tokens > static_cast<size_t>(*most))
    fail("{}: {} has {} tokens, expected at most {}, the positions of the model; {}", model.name(),
         what, tokens, *most, advice);
}

std::vector<Item> text_items(const Model& model, const ModelInput& input) {
  const auto path = std::filesystem::path(model.name()) / "tokenizer.json";
  std::error_code missing;
  if (!std::filesystem::exists(path, missing))
    fail(
        "{}: has no tokenizer.json, expected one for a text; give --ids, or save the tokenizer "
        "with save_pretrained of transformers",
        model.name());
  const Tokenizer tokenizer = Tokenizer::open(path.string());
  std::optional<size_t> limit;
  if (input.truncate && model.architecture().positions)
    limit = static_cast<size_t>(*model.architecture().positions);
  std::vector<Item> items;
  for (const std::string& text : input.texts) {
    Encoding encoding = tokenizer.encode(text, input.pair, true, limit);
    const std::string what =
        input.texts.size() == 1 ? "the text" : fmt::format("text {}", items.size());
    if (std::ranges::all_of(encoding.sequences, [](int sequence) { return sequence < 0; }))
      fail("{}: {} has no tokens of its own, expected at least one; give a longer text",
           model.name(), what);
    check_length(model, what, encoding.ids.size(), input.advice);
    Item item;
    item.example = model_example(model);
    item.example.tokens = std::move(encoding.tokens);
    item.example.ids = encoding.ids;
    for (size_t t = 0; t < encoding.ids.size(); ++t)
      item.example.places.push_back(
          {encoding.sequences[t], encoding.offsets[t].begin, encoding.offsets[t].end});
    item.text = {std::move(encoding.ids), std::move(encoding.types)};
    items.push_back(std::move(item));
  }
  return items;
}

Item ids_item(const Model& model, const ModelInput& input) {
  Item item;
  item.example = model_example(model);
  item.text.ids = input.ids;
  const std::optional<int> most = model.architecture().positions;
  if (input.truncate && most && item.text.ids.size() > static_cast<size_t>(*most))
    item.text.ids.resize(static_cast<size_t>(*most));
  check_length(model, "--ids", item.text.ids.size(), input.advice);
  item.example.ids = item.text.ids;
  // The words, where there is something that knows them.
  const auto path = std::filesystem::path(model.name()) / "tokenizer.json";
  std::error_code missing;
  std::optional<Tokenizer> tokenizer;
  if (std::filesystem::exists(path, missing)) tokenizer = Tokenizer::open(path.string());
  for (const int id : item.text.ids) item.example.tokens.push_back(token_name(tokenizer, id));
  model.embed(item.text);  // ids outside the vocabulary are known before the work
  return item;
}

Item image_item(const Model& model, const ImageProcessor& processor, const std::string& path) {
  const Image image = read_image(path);
  Item item;
  item.pixels = processor.apply(image);
  const ImageEmbedding& grid = *model.architecture().image;
  const int rows = item.pixels.height / grid.patch, columns = item.pixels.width / grid.patch;
  item.example = model_example(model);
  item.example.picture = picture_of(image, item.pixels.seen, rows, columns, model.image_prefix());
  const size_t own = grid.prefix.size();
  item.example.tokens.push_back("[CLS]");
  if (own > 1) item.example.tokens.push_back("[DISTILLATION]");
  for (int k = 0; k < grid.register_count; ++k)
    item.example.tokens.push_back(fmt::format("[REGISTER {}]", k));
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) item.example.tokens.push_back(fmt::format("{},{}", y, x));
  model.embed(item.pixels);  // a size that the model does not take is known before the work
  return item;
}

}  // namespace

std::unique_ptr<Batch> open_model(const std::string& folder, const ModelInput& input) {
  std::unique_ptr<Model> model = Model::open(folder);
  const bool sees = model->architecture().image.has_value();
  const int kinds = !input.texts.empty() + !input.ids.empty() + !input.images.empty();
  if (kinds == 0)
    fail("{}: is a model of {}, expected something to run it on; give {}", folder,
         sees ? "images" : "text", sees ? "--image FILE" : "--text \"...\"");
  if (kinds > 1 || (input.pair && input.texts.size() != 1))
    fail_usage("{}: was given {}, expected one text, one file of texts, ids or images; choose one",
               folder, kinds > 1 ? "several kinds of input" : "--text-pair without one --text");
  if (sees != !input.images.empty())
    fail("{}: is a model of {} ({}), expected {} for it; give {}", folder, sees ? "images" : "text",
         model->architecture().family, sees ? "an image" : "a text",
         sees ? "--image FILE" : "--text \"...\"");
  std::vector<Item> items;
  if (sees) {
    const ImageProcessor processor = ImageProcessor::open(folder);
    for (const std::string& path : input.images)
      items.push_back(image_item(*model, processor, path));
  } else if (!input.ids.empty()) {
    items.push_back(ids_item(*model, input));
  } else {
    items = text_items(*model, input);
  }
  return std::make_unique<ModelBatch>(std::move(model), std::move(items), input.name);
}

Info model_info(const std::string& folder) {
  const std::unique_ptr<Model> model = Model::open(folder);
  Info info;
  info.source = model_example(*model);
  info.reading = reading_of(*model);
  info.causal = model->architecture().causal;
  info.kernel = kernel::name();
  info.threads = threads();
  return info;
}

std::vector<std::string> read_texts(const std::string& path) {
  const MappedFile file(path);
  const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()),
                               file.bytes().size());
  std::vector<std::string> texts;
  // Some editors begin a file with a mark of its encoding.
  for (size_t at = bytes.starts_with("\xEF\xBB\xBF") ? 3 : 0; at < bytes.size();) {
    const size_t end = std::min(bytes.find('\n', at), bytes.size());
    std::string_view line = bytes.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t number = texts.size() + 1;
    if (line.find_first_not_of(" \t") == std::string_view::npos)
      fail("{}: line {} is empty, expected a text on each line; remove it", path, number);
    if (valid_utf8(line) != line || line.find('\0') != std::string_view::npos)
      fail("{}: line {} is no UTF-8 text, expected text; check that the file is one", path, number);
    texts.emplace_back(line);
    at = end + 1;
  }
  return texts;
}

}  // namespace headwater
