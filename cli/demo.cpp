#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "cli/command.h"
#include "cli/deliver.h"
#include "cli/quick_fox.h"
#include "cli/signals.h"
#include "headwater/core/fail.h"
#include "headwater/core/output_file.h"
#include "headwater/method/compare.h"
#include "headwater/method/generate.h"
#include "headwater/method/gradient.h"
#include "headwater/method/layer_maps.h"
#include "headwater/method/relevance.h"
#include "headwater/method/rollout.h"
#include "headwater/model/shipped.h"
#include "headwater/open.h"
#include "headwater/output/write.h"
#include "headwater/result/filter.h"
#include "headwater/result/token_text.h"
#include "headwater/result/top.h"

namespace headwater::cli {
namespace {

// Pictures in a folder, and a text about them. The text is printed at the end, when all of them are
// there.
class Tour {
 public:
  explicit Tour(std::string folder) : folder_(std::move(folder)) {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error)
      fail(
          "{}: could not be created ({}), expected a folder for the pictures; choose another with "
          "--folder",
          folder_, error.message());
  }

  std::string place(const char* name) const { return folder_ + "/" + name; }
  void say(const std::string& line) { text_ += line + '\n'; }
  void list(const char* name, const char* about) {
    say(fmt::format("  {:<24} {}", place(name), about));
  }
  /// `words` is the command that makes the same picture.
  void picture(const char* name, Result result, const char* about, const std::string& words) {
    {
      const DrawingGuard guard(place(name));
      write(result, place(name));
    }
    list(name, about);
    on_page(std::move(result), about, words);
  }
  void on_page(Result result, const std::string& about, const std::string& words) {
    results_.push_back(std::move(result));
    page_.abouts.push_back(about);
    page_.commands.push_back("headwater " + words);
  }
  /// The page with everything that was drawn.
  void write_page() {
    page_.command = "headwater demo";
    write(results_, place("index.html"), page_);
    say("\nAll of it on one page, to hover, pin and compare: open it in a browser");
    list("index.html", "needs no network and no server");
  }
  const std::string& text() const { return text_; }

 private:
  std::string folder_, text_;
  std::vector<Result> results_;
  WriteOptions page_;
};

// Shows all layers, for a page whose reader can choose among them.
Attribution with_layers(Source& source, Options options) {
  options.row = {};
  Attribution result = rollout(source, options);
  result.maps = maps_of(source, result);
  return result;
}

// "keys 0.30, to 0.15": the largest values of a row, special tokens left out.
std::string largest(std::span<const float> row, const std::vector<std::string>& tokens,
                    int digits = 2) {
  Filter filter;
  filter.special = true;
  const std::vector<std::string> labels = token_labels(tokens);
  std::vector<std::string> words;
  for (const int j : top(row, 3, kept(filter, tokens)))
    words.push_back(fmt::format("{} {:.{}f}", labels[static_cast<size_t>(j)],
                                row[static_cast<size_t>(j)], digits));
  return fmt::format("{}", fmt::join(words, ", "));
}

// Sentences whose subject and nearest noun differ in number.
void show_sentence(const std::string&, Tour& tour) {
  const std::string sentence = "The keys to the cabinet",
                    harder = "The authors that the guard likes";
  Options options = options_of(Preset::paper);
  options.row = Row::cls;
  const std::unique_ptr<Source> source = open("verb-number", {.texts = {sentence}});
  const std::string answer = gradient(*source, options).gradient->target.logit.name;
  Attribution rolled = rollout(*source, options);
  tour.say("verb-number, an encoder: is the next verb singular or plural?");
  tour.say(fmt::format("  \"{} ...\" is {}; rollout of [CLS] is largest on {}", sentence, answer,
                       largest(rolled.values[0].row(0), rolled.source.tokens)));
  const std::string on_sentence = fmt::format(" verb-number --text \"{}\"", sentence);
  tour.picture("sentence.png", std::move(rolled), "rollout of [CLS], where the model decides",
               "rollout" + on_sentence + " --row cls");
  tour.on_page(with_layers(*source, options), "rollout of every token, with all layers",
               "rollout" + on_sentence + " --embed-layers -o rollout.html");
  options.row = {};
  tour.picture("methods.png", compare_method(*source, options),
               "raw attention, average, rollout and exact flow",
               "compare" + on_sentence + " --by method");

  options.row = Row::cls;
  Attribution gradients = gradient(*open("verb-number", {.texts = {harder}}), options);
  tour.say(fmt::format("  \"{} ...\" is {}; attention times gradient is largest on {}", harder,
                       gradients.gradient->target.logit.name,
                       largest(gradients.values[0].row(0), gradients.source.tokens, 3)));
  tour.picture("gradient.png", std::move(gradients), "attention times its gradient",
               fmt::format("gradient verb-number --text \"{}\" --row cls", harder));
}

// A question whose answer is in the story.
void show_answer(const std::string&, Tour& tour) {
  const std::string prompt =
      "The red key went from the box to the shelf. The blue hat went from the table to the cave. "
      "Where is the red key? Answer:";
  GenerationInput input;
  input.prompt = prompt;
  const std::unique_ptr<Generation> generation = open_generation("facts", input);
  Generated answer = generate(*generation, options_of(Preset::paper), {.count = 3});
  const Attribution rows = at_layer(answer);
  tour.say("\nfacts, a decoder: answers questions about a story");
  tour.say(fmt::format("  \"... {}\"{} Its attention leans on {}",
                       prompt.substr(prompt.find("Where")), answer.text,
                       largest(rows.values[0].row(0), rows.source.tokens)));
  answer.shown = 0;
  tour.picture("answer.png", std::move(answer),
               "rollout: how attention mixes the story into the answer",
               fmt::format("generate facts --prompt \"{}\" --count 3", prompt));
  Attribution cause = relevance(*open("facts", {.prompts = {prompt}}));
  tour.say(fmt::format("  It comes from {}", largest(cause.values[0].row(0), cause.source.tokens)));
  tour.picture("relevance.png", std::move(cause),
               "relevance: the words that speak for it, and against it",
               fmt::format("relevance facts --prompt \"{}\"", prompt));
  tour.say(
      "  Why this output? Ask relevance: of 2000 such stories, it finds the right word in 99 %");
  tour.say("  How does attention mix the tokens? Ask rollout (47 %) or flow (1 %)");
}

void show_image(const std::string& folder, Tour& tour) {
  const std::string image = folder + "/examples/0-red-star.png";
  const std::unique_ptr<Source> source = open("shapes", {.images = {image}});
  Options options = options_of(Preset::paper);
  options.row = Row::cls;
  Attribution found = gradient(*source, options, {GradientRule::gradient_rollout, "best", ""});
  tour.say("\nshapes, a vision transformer: which shape is among the clutter?");
  tour.say(fmt::format("  a {}", found.gradient->target.logit.name));
  tour.picture("image.png", std::move(found), "where it looked, drawn over the image",
               fmt::format("gradient shapes --image {} --rule gradient-rollout --row cls", image));
}

void show_file(Tour& tour) {
  const std::string file = tour.place("quick-fox.json");
  OutputFile input(file);
  input.write(quick_fox());
  input.commit();
  const std::unique_ptr<Source> source = open(file);
  const Options options = options_of(Preset::tutorial);
  tour.say("\nAttention from a file, made up: eight tokens, six layers, eight heads");
  tour.list("quick-fox.json", "the attention itself, tokens included");
  const std::string on_file = fmt::format(" {} --preset tutorial", file);
  tour.picture("rollout.png", rollout(*source, options), "rollout over all layers",
               "rollout" + on_file);
  tour.picture("evolution.png", compare_evolution(*source, options), "the rollout after each layer",
               "compare" + on_file + " --by evolution");
  tour.picture("discard.png", compare_discard(*source, options),
               "0, 0.1, 0.3 and 0.5 of the weights dropped", "compare" + on_file + " --by discard");
}

// Whether a shell would find the command by its name.
bool on_path() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/headwater").c_str(), X_OK) == 0) return true;
  return false;
}

// Where the command is, as a person would type it from here.
std::string own_place() {
  std::error_code missing;
  const auto place = std::filesystem::read_symlink("/proc/self/exe", missing);
  const auto near = std::filesystem::relative(place, missing);
  return near.empty() || near.string().starts_with("..") ? place.string() : near.string();
}

// What a person could type next.
void suggest(Tour& tour) {
  tour.say(fmt::format(
      "\nTry next:\n"
      "  headwater rollout verb-number --text \"The author of the books\" --row cls\n"
      "  headwater compare verb-number --by method --text \"The author of the books\"\n"
      "  headwater generate facts --prompt \"Anna took the key to the box. Ben went to the cave. "
      "Where is the key? Answer:\"\n"
      "  headwater relevance verb-number --text \"The author of the books\" --by-layer\n"
      "  headwater evaluate facts                        # which method finds the true word\n"
      "  headwater rollout {} --row cls --by-layer -o cls.svg\n"
      "  headwater rollout YOUR-MODEL/ --text \"...\" -o rollout.png  "
      "# docs/formats.md",
      tour.place("quick-fox.json")));
  if (!on_path())
    tour.say(fmt::format("headwater is {} here; make install puts it on your PATH.", own_place()));
}

class DemoCommand : public Command {
 public:
  DemoCommand()
      : Command("demo", "A short tour of headwater on the models that ship, with pictures",
                "headwater demo") {}

  void declare(OptionList& options) override {
    options.group("Output");
    options.text("--folder", "FOLDER", "Where the pictures go (default: demo)", folder_);
  }

  void run() override {
    Tour tour(folder_);
    const auto show = [&](const char* name, void (*part)(const std::string&, Tour&)) {
      if (const auto model = shipped_model(name)) part(*model, tour);
    };
    show("verb-number", show_sentence);
    show("facts", show_answer);
    show("shapes", show_image);
    show_file(tour);
    tour.write_page();
    suggest(tour);
    print(tour.text());
  }

 private:
  std::string folder_ = "demo";
};

}  // namespace

std::unique_ptr<Command> demo_command() { return std::make_unique<DemoCommand>(); }

}  // namespace headwater::cli
